#include "smi/limits/typed/symmetric_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "smi/model/typed/link_probe.hpp"

namespace onset::smi {
namespace {

/// A map of fields to fields: each becomes another one, perhaps with the other sign.
using FieldMap = Eigen::MatrixXd;

class Group {
 public:
  Group(const TypedLink& link, const KnownDirections& state)
      : link_(&link), probe_(link), form_(link, state.exactly()) {
    const auto fields = static_cast<Eigen::Index>(link.fields().size());
    const Eigen::Index known = state.known.cols();
    known_fields_ = Eigen::MatrixXd::Zero(known * static_cast<Eigen::Index>(link.tokens()), fields);
    for (Eigen::Index f = 0; f < fields; ++f) {
      const TypedField& field = link.fields()[static_cast<std::size_t>(f)];
      if (!field.direction) continue;
      known_fields_.block(static_cast<Eigen::Index>(field.token) * known, f, known, 1) =
          state.known.row(static_cast<Eigen::Index>(*field.direction)).transpose();
    }
    inverse_ = numerics::pseudo_inverse(form_.matrix());
  }

  /// The average over the group of the trace on symmetric tensors of a degree, times the sign of
  /// the label where it may turn into c - y.
  [[nodiscard]] double invariants(int degree, bool may_turn) const {
    const std::size_t n = link_->fields().size();
    std::vector<std::size_t> to(n);
    std::iota(to.begin(), to.end(), std::size_t{0});
    double sum = 0.0;
    double count = 0.0;
    do {
      for (unsigned signs = 0; signs < 1U << n; ++signs) {
        FieldMap map = FieldMap::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
        for (std::size_t f = 0; f < n; ++f) {
          map(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(to[f])) =
              (signs >> f) & 1U ? -1.0 : 1.0;
        }
        if (!keeps_kinds(to) || (known_fields_ * map - known_fields_).norm() > 1e-9) continue;
        const Eigen::MatrixXd own = inverse_ * map * form_.matrix();
        const bool closes = (form_.matrix() * own - map * form_.matrix()).norm() < 1e-9;
        const double sign = closes ? sign_of_label(map, may_turn) : 0.0;
        if (sign == 0.0) continue;
        const auto normals = static_cast<Eigen::Index>(form_.field_normals());
        sum += sign * symmetric_trace(own.topLeftCorner(normals, normals), degree);
        count += 1.0;
      }
    } while (std::next_permutation(to.begin(), to.end()));
    return sum / count;
  }

 private:
  /// Fields become fields, and noise becomes noise.
  [[nodiscard]] bool keeps_kinds(const std::vector<std::size_t>& to) const {
    for (std::size_t f = 0; f < to.size(); ++f) {
      if (link_->fields()[f].direction.has_value() !=
          link_->fields()[to[f]].direction.has_value()) {
        return false;
      }
    }
    return true;
  }

  /// 1 where a map leaves all labels alone, -1 where it turns them into c - y, else 0.
  [[nodiscard]] double sign_of_label(const FieldMap& map, bool may_turn) const {
    const std::vector<double> after = probe_.after(map);
    bool stays = true;
    bool turns = may_turn;
    for (std::size_t k = 0; k < link_->outputs(); ++k) {
      stays = stays && probe_.agrees(k, after, k);
      turns = turns && !stays && probe_.agrees_up_to_shift(k, after, k, -1.0);
    }
    if (stays) return 1.0;
    return turns ? -1.0 : 0.0;
  }

  /// The trace of a matrix on symmetric tensors, from the traces of its powers (Newton).
  static double symmetric_trace(const Eigen::MatrixXd& matrix, int degree) {
    std::vector<double> trace{1.0};
    std::vector<double> powers;
    Eigen::MatrixXd power = matrix;
    for (int k = 1; k <= degree; ++k) {
      powers.push_back(power.trace());
      power = (power * matrix).eval();
      double sum = 0.0;
      for (int i = 1; i <= k; ++i) {
        sum += powers[static_cast<std::size_t>(i - 1)] * trace[static_cast<std::size_t>(k - i)];
      }
      trace.push_back(sum / k);
    }
    return trace.back();
  }

  const TypedLink* link_;
  LinkProbe probe_;
  SampleForm form_;
  Eigen::MatrixXd known_fields_;  ///< the known fields, token after token, as sums of fields
  Eigen::MatrixXd inverse_;       ///< normals from fields
};

}  // namespace

int symmetric_tensors(const TypedLink& link, const KnownDirections& state, int degree) {
  return static_cast<int>(std::lround(Group(link, state).invariants(degree, false)));
}

int projected_tensors(const TypedLink& link, const KnownDirections& state, int degree) {
  return static_cast<int>(std::lround(Group(link, state).invariants(degree, true)));
}

}  // namespace onset::smi
