#include "smi/model/posterior/rank_three_rotation.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

using Space = Eigen::Matrix3d;
/// Three rows of tokens.
using SpaceFields = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, max_tokens>;

/// exp(-x) I_0(x), and I_1 / I_0 and I_2 / I_0 there.
struct ScaledBessel {
  double value, first, second;
};

ScaledBessel scaled_bessel(double x) {
  constexpr double small = 1e-4, large = 500.0;
  if (x < small) return {1.0 - x + 0.75 * x * x, 0.5 * x, 0.125 * x * x};
  if (x > large) {  // three terms of the asymptotic series, of which the next is below 1e-9
    const double y = 1.0 / (8.0 * x);
    const double i0 = 1.0 + y + 4.5 * y * y + 37.5 * y * y * y;
    const double i1 = 1.0 - 3.0 * y - 7.5 * y * y - 52.5 * y * y * y;
    const double first = i1 / i0;
    return {i0 / std::sqrt(2.0 * std::numbers::pi * x), first, 1.0 - 2.0 * first / x};
  }
  const double i0 = boost::math::cyl_bessel_i(0, x);
  const double first = boost::math::cyl_bessel_i(1, x) / i0;
  // I_2 = I_0 - 2 I_1 / x cancels at small x, where the series is I_2 / I_0 = x^2 / 8 - x^4 / 48.
  const double second = x < 0.02 ? x * x / 8.0 * (1.0 - x * x / 6.0) : 1.0 - 2.0 * first / x;
  return {std::exp(-x) * i0, first, second};
}

/// <q_i^2 q_j^2> of the unit quaternion behind the rotation, times a weight.
using Quartic = std::array<std::array<double, 4>, 4>;

/// Adds what the pairs (q0, q1) and (q2, q3) of squared lengths `share` and 1 - share give.
void add_pairs(double weight, double share, const ScaledBessel& head, const ScaledBessel& tail,
               Quartic& sums) {
  const ScaledBessel* const angle[2] = {&head, &tail};
  const double length[2] = {share, 1.0 - share};
  std::array<double, 4> mean{};
  for (std::size_t k = 0; k < 2; ++k) {
    const double r = length[k];
    const auto& [value, first, second] = *angle[k];
    mean[2 * k] = 0.5 * r * (1.0 + first);
    mean[2 * k + 1] = 0.5 * r * (1.0 - first);
    sums[2 * k][2 * k] += weight * r * r * (3.0 + 4.0 * first + second) / 8.0;
    sums[2 * k + 1][2 * k + 1] += weight * r * r * (3.0 - 4.0 * first + second) / 8.0;
    sums[2 * k][2 * k + 1] += weight * r * r * (1.0 - second) / 8.0;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 2; j < 4; ++j) sums[i][j] += weight * mean[i] * mean[j];
  }
}

/// Signs of q_k^2 in Q_ii.
constexpr std::array<std::array<double, 4>, 3> diagonal_signs = {
    {{1.0, 1.0, -1.0, -1.0}, {1.0, -1.0, 1.0, -1.0}, {1.0, -1.0, -1.0, 1.0}}};

RotationMoments moments_of_quartic(const Quartic& q) {
  RotationMoments out;
  std::array<double, 4> mean{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) mean[i] += q[i][j];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 4; ++k) out.diagonal[i] += diagonal_signs[i][k] * mean[k];
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 16; ++k) {
        out.diagonals[i][j] +=
            diagonal_signs[i][k / 4] * diagonal_signs[j][k % 4] * q[k / 4][k % 4];
      }
      // Q_ij and Q_ji are 2 (q_i q_j -+ q_0 q_k), k being the third index.
      const double axes = 4.0 * q[i + 1][j + 1];
      const double turn = i == j ? 0.0 : 4.0 * q[0][6 - (i + 1) - (j + 1)];
      out.square[i][j] = i == j ? out.diagonals[i][i] : axes + turn;
      out.mirrored[i][j] = i == j ? out.diagonals[i][i] : axes - turn;
    }
  }
  return out;
}

}  // namespace

RotationMoments rotation_moments(double s1, double s2, double s3) {
  // With u = |q0|^2 + |q1|^2 - |q2|^2 - |q3|^2 = 1 - t the density falls like exp(-rate t), and
  // everything else changes no faster [smi 96]; beyond `reach` nothing is left.
  constexpr double reach = 38.0;
  using Gauss = boost::math::quadrature::gauss<double, 20>;
  const double rate = s1 + s3;
  const double top = std::min(2.0, reach / std::max(rate, 1e-300));
  double total = 0.0;
  Quartic sums{};
  const auto add = [&](double x, double weight) {
    const double t = 0.5 * top * (1.0 + x);
    const ScaledBessel head = scaled_bessel((1.0 - 0.5 * t) * (s2 + s3));
    const ScaledBessel tail = scaled_bessel(0.5 * t * (s2 - s3));
    const double density = weight * std::exp(-rate * t) * head.value * tail.value;
    total += density;
    add_pairs(density, 1.0 - 0.5 * t, head, tail, sums);
  };
  const auto& nodes = Gauss::abscissa();
  const auto& weights = Gauss::weights();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    add(nodes[k], weights[k]);
    add(-nodes[k], weights[k]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      sums[j][i] /= total;
      sums[i][j] = sums[j][i];
    }
  }
  RotationMoments out = moments_of_quartic(sums);
  // The measure of t is dt / 2 on [0, 2]; exponents were taken relative to s1 + s2 + s3.
  out.log_constant = s1 + s2 + s3 + std::log(0.25 * top * total);
  return out;
}

namespace {

/// One node: whitened fields a that are turned towards w, and w.
struct TurnedSpace {
  const SpaceFields& a;
  const SpaceFields& w;
};

/// Stores the moments of zeta = O a - w for the half of O(3) with this sign. Returns the logarithm
/// of the mean of exp(tr O^T w a^T) over it.
double store_half(const TurnedSpace& node, double half, std::size_t count, std::size_t k,
                  LastBranch& branch) {
  const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner> svd(
      half * node.w * node.a.transpose(), Eigen::ComputeFullU | Eigen::ComputeFullV);
  Space left = svd.matrixU();
  Space right = svd.matrixV();
  Eigen::Vector3d s = svd.singularValues();
  // Both factors are made rotations; the sign goes to the last singular value.
  for (Space* factor : {&left, &right}) {
    if (factor->determinant() > 0.0) continue;
    factor->col(2) *= -1.0;
    s[2] *= -1.0;
  }
  const RotationMoments q = rotation_moments(s[0], s[1], s[2]);
  const SpaceFields b = half * right.transpose() * node.a;
  const auto m = static_cast<std::size_t>(b.cols());
  const SpaceFields mean =
      left * Eigen::Vector3d(q.diagonal[0], q.diagonal[1], q.diagonal[2]).asDiagonal() * b;
  for (std::size_t i = 0; i < 3 * m; ++i) {
    const auto p = static_cast<Eigen::Index>(i / m), t = static_cast<Eigen::Index>(i % m);
    branch.mean[i * count + k] = mean(p, t) - node.w(p, t);
  }
  for (std::size_t t = 0; t < m; ++t) {
    for (std::size_t r = 0; r < m; ++r) {
      const auto bt = b.col(static_cast<Eigen::Index>(t)), br = b.col(static_cast<Eigen::Index>(r));
      Space y = Space::Zero();  // <(Q b)_t (Q b)_r^T>
      for (Eigen::Index i = 0; i < 3; ++i) {
        const auto ii = static_cast<std::size_t>(i);
        for (Eigen::Index j = 0; j < 3; ++j) {
          const auto jj = static_cast<std::size_t>(j);
          if (i != j) {
            y(i, j) = q.diagonals[ii][jj] * bt[i] * br[j] + q.mirrored[ii][jj] * bt[j] * br[i];
          }
          y(i, i) += q.square[ii][jj] * bt[j] * br[j];
        }
      }
      const Space z = left * y * left.transpose();
      const auto wt = node.w.col(static_cast<Eigen::Index>(t));
      const auto wr = node.w.col(static_cast<Eigen::Index>(r));
      const auto mt = mean.col(static_cast<Eigen::Index>(t));
      const auto mr = mean.col(static_cast<Eigen::Index>(r));
      const Space second = z - mt * wr.transpose() - wt * mr.transpose() + wt * wr.transpose();
      for (std::size_t p = 0; p < 3; ++p) {
        for (std::size_t o = 0; o <= p; ++o) {
          const std::size_t i = p * m + t, j = o * m + r;
          if (j > i) continue;
          branch.second[(i * (i + 1) / 2 + j) * count + k] =
              second(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(o));
        }
      }
    }
  }
  return q.log_constant;
}

SpaceFields fields_of_node(std::span<const double> rows, std::size_t tokens, std::size_t count,
                           std::size_t k, double scale) {
  SpaceFields out(3, static_cast<Eigen::Index>(tokens));
  for (std::size_t f = 0; f < 3 * tokens; ++f) {
    out(static_cast<Eigen::Index>(f / tokens), static_cast<Eigen::Index>(f % tokens)) =
        rows[f * count + k] * scale;
  }
  return out;
}

}  // namespace

std::vector<double> RankThreeRotation::solved(AttentionNodes& nodes, std::size_t count,
                                              const LastQuestion& question) const {
  std::vector<double> x(3 * tokens_ * count);
  for (std::size_t p = 0; p < 3; ++p) {
    nodes.solve(question.label.subspan(p * tokens_, tokens_), x.data() + p * tokens_ * count);
  }
  return x;
}

void RankThreeRotation::evaluate(AttentionNodes& nodes, std::size_t count,
                                 const LastQuestion& question,
                                 std::vector<LastBranch>& branches) const {
  resize_branches(branches, 2, 3 * tokens_, count);
  const std::vector<double> x = solved(nodes, count, question);
  const double scale = 1.0 / std::sqrt(question.variance);
  const double log_scale = 3.0 * static_cast<double>(tokens_) * std::log(scale);
  const SpaceFields w = fields_of_node(question.omega, tokens_, 1, 0, scale);
  for (std::size_t k = 0; k < count; ++k) {
    const SpaceFields a = fields_of_node(x, tokens_, count, k, scale);
    const double rest =
        log_scale - 3.0 * nodes.log_det()[k] - 0.5 * (a.squaredNorm() + w.squaredNorm());
    for (const double half : {1.0, -1.0}) {
      LastBranch& branch = branches[half > 0.0 ? 0 : 1];
      branch.log_likelihood[k] = rest + store_half({a, w}, half, count, k, branch);
    }
  }
}

Eigen::MatrixXd RankThreeRotation::residuals(AttentionNodes& nodes, std::size_t count,
                                             const LastQuestion& question, double sign) const {
  const std::vector<double> x = solved(nodes, count, question);
  const double scale = 1.0 / std::sqrt(question.variance);
  const auto rows = static_cast<Eigen::Index>(3 * tokens_);
  Eigen::MatrixXd out(rows, static_cast<Eigen::Index>(count));
  for (std::size_t f = 0; f < 3 * tokens_; ++f) {
    for (std::size_t k = 0; k < count; ++k) {
      out(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(k)) =
          (sign * x[f * count + k] - question.omega[f]) * scale;
    }
  }
  return out;
}

}  // namespace onset::smi
