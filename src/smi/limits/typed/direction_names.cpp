#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "smi/limits/typed/typed_staircase.hpp"

namespace onset::smi {
namespace {

/// Coefficients closer than this are the same.
constexpr double same = 2e-3;

std::string name_of(Eigen::Index direction) {
  return fmt::format("z{}", direction + 1);
}

/// A unit vector, its largest entry positive.
std::string vector_name(Eigen::VectorXd v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  if (v(largest) < 0.0) v = -v;
  std::vector<Eigen::Index> used;
  for (Eigen::Index p = 0; p < v.size(); ++p) {
    if (std::abs(v(p)) > same) used.push_back(p);
  }
  if (used.size() == 1) return name_of(used.front());
  const double even = 1.0 / std::sqrt(static_cast<double>(used.size()));
  const bool is_even = std::all_of(used.begin(), used.end(), [&](Eigen::Index p) {
    return std::abs(std::abs(v(p)) - even) < same;
  });
  std::string out = is_even ? "(" : "";
  for (const Eigen::Index p : used) {
    if (p != used.front() || v(p) < 0.0) out += v(p) < 0.0 ? "-" : "+";
    if (!is_even) {
      out += fmt::format("{:.3f}*", std::abs(v(p)));
    }
    out += name_of(p);
  }
  return is_even ? fmt::format("{})/sqrt{}", out, used.size()) : out;
}

}  // namespace

std::string direction_names(const Eigen::MatrixXd& basis) {
  // Gauss elimination with pivots brings out axes that lie in the span.
  Eigen::MatrixXd rows = basis.transpose();
  std::vector<bool> done(static_cast<std::size_t>(rows.rows()), false);
  std::vector<Eigen::Index> pivot_of(static_cast<std::size_t>(rows.rows()), 0);
  for (Eigen::Index column = 0; column < rows.cols(); ++column) {
    Eigen::Index best = -1;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (done[static_cast<std::size_t>(r)] || std::abs(rows(r, column)) < same) continue;
      if (best < 0 || std::abs(rows(r, column)) > std::abs(rows(best, column))) best = r;
    }
    if (best < 0) continue;
    done[static_cast<std::size_t>(best)] = true;
    pivot_of[static_cast<std::size_t>(best)] = column;
    rows.row(best) /= rows(best, column);
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (r != best) rows.row(r) -= rows(r, column) * rows.row(best);
    }
  }
  std::vector<Eigen::Index> order(static_cast<std::size_t>(rows.rows()));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Eigen::Index>(k);
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return pivot_of[static_cast<std::size_t>(a)] < pivot_of[static_cast<std::size_t>(b)];
  });
  std::string out;
  for (const Eigen::Index r : order) {
    if (!out.empty()) out += ", ";
    out += vector_name(rows.row(r).transpose().normalized());
  }
  return out;
}

}  // namespace onset::smi
