#include "smi/model/posterior/rank_two_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "smi/model/posterior/circle_rule.hpp"
#include "smi/model/posterior/uneven_last.hpp"

namespace onset::smi {
namespace {

constexpr std::size_t pair_tokens = 2;
constexpr std::size_t fields = 4;

using Pair = std::array<double, pair_tokens>;

double dot(const Pair& a, const Pair& b) {
  return a[0] * b[0] + a[1] * b[1];
}

/// What the scores fix in u_L: the tokens' components along their difference, and its length.
struct Along {
  Pair x;
  double distance;
};

Along along_difference(std::span<const double> u) {
  const Pair d = {u[0] - u[1], u[2] - u[3]};
  const double distance = std::hypot(d[0], d[1]);
  Along out{{}, distance};
  for (std::size_t t = 0; t < pair_tokens; ++t)
    out.x[t] = (u[t] * d[0] + u[2 + t] * d[1]) / distance;
  return out;
}

/// The density of the angle after the shift has been integrated: exp(p cos + q sin + m^2 / 2), m =
/// beta_1 cos - beta_0 sin. Its exponent is a trigonometric polynomial of degree two.
struct AngleDensity {
  double p, q;
  double beta0, beta1;

  [[nodiscard]] double shift(double c, double s) const { return beta1 * c - beta0 * s; }
  [[nodiscard]] double log_at(double c, double s) const {
    const double m = shift(c, s);
    return p * c + q * s + 0.5 * m * m;
  }
  [[nodiscard]] double slope_at(double c, double s) const {
    return -p * s + q * c + shift(c, s) * (-beta1 * s - beta0 * c);
  }
  /// An upper bound on the second derivative of the exponent.
  [[nodiscard]] double curvature() const {
    return std::hypot(p, q) + beta0 * beta0 + beta1 * beta1;
  }
};

/// The last layer at one node, in units of sqrt(V_L): z = R(angle) [a; r b].
struct Frame {
  Pair a;                 ///< G^{-1} x
  Pair unit;              ///< G^{-1} (1, 1), normalised
  double length;          ///< the length of G^{-1} (1, 1)
  std::array<Pair, 2> w;  ///< omega
  AngleDensity density;

  Frame(const Pair& along, const Pair& ones, const std::array<Pair, 2>& omega)
      : a(along), unit(ones), length(std::hypot(ones[0], ones[1])), w(omega) {
    for (double& x : unit) x /= length;
    density = {dot(w[0], a), dot(w[1], a), dot(w[0], unit), dot(w[1], unit)};
  }
};

/// Sums over angles of the four numbers on which z depends linearly, cos, sin m, sin, cos m, and of
/// their products.
struct AngleMoments {
  double total = 0.0;
  std::array<double, fields> mean{};
  std::array<double, 10> second{};  // lower triangle
  double cc = 0.0, cs = 0.0;        // moments of cosine and sine alone

  AngleMoments(const AngleDensity& density, const AngleRule& rule) {
    for (std::size_t k = 0; k < rule.weight.size(); ++k) {
      const double c = rule.cosine[k];
      const double s = rule.sine[k];
      const double m = density.shift(c, s);
      const std::array<double, fields> f = {c, s * m, s, c * m};
      total += rule.weight[k];
      std::size_t pair = 0;
      for (std::size_t i = 0; i < fields; ++i) {
        const double wf = rule.weight[k] * f[i];
        mean[i] += wf;
        for (std::size_t j = 0; j <= i; ++j, ++pair) second[pair] += wf * f[j];
      }
      cc += rule.weight[k] * c * c;
      cs += rule.weight[k] * c * s;
    }
    for (double& x : mean) x /= total;
    for (double& x : second) x /= total;
    cc /= total;
    cs /= total;
  }

  [[nodiscard]] double product(std::size_t i, std::size_t j) const {
    return second[std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j)];
  }
};

/// z_{p t} = sum_i map(p, t, i) f_i: row 0 is cos a - sin m unit, row 1 is sin a + cos m unit.
std::array<double, fields> field_map(const Frame& frame, std::size_t field) {
  const std::size_t t = field % pair_tokens;
  if (field < pair_tokens) return {frame.a[t], -frame.unit[t], 0.0, 0.0};
  return {0.0, 0.0, frame.a[t], frame.unit[t]};
}

void store(const Frame& frame, const AngleMoments& f, LastBranch& branch, std::size_t count,
           std::size_t k) {
  std::array<double, fields> mean{};
  std::array<std::array<double, fields>, fields> map{};
  for (std::size_t i = 0; i < fields; ++i) {
    map[i] = field_map(frame, i);
    for (std::size_t j = 0; j < fields; ++j) mean[i] += map[i][j] * f.mean[j];
  }
  const auto omega = [&](std::size_t i) { return frame.w[i / pair_tokens][i % pair_tokens]; };
  std::size_t pair = 0;
  for (std::size_t i = 0; i < fields; ++i) {
    branch.mean[i * count + k] = mean[i] - omega(i);
    for (std::size_t j = 0; j <= i; ++j, ++pair) {
      double zz = 0.0;
      for (std::size_t x = 0; x < fields; ++x) {
        for (std::size_t y = 0; y < fields; ++y) zz += map[i][x] * f.product(x, y) * map[j][y];
      }
      // This is the shift's own width, along (-sin, cos) in the plane of directions.
      const std::size_t directions = i / pair_tokens + j / pair_tokens;
      const double turn = directions == 0 ? 1.0 - f.cc : directions == 1 ? -f.cs : f.cc;
      zz += turn * frame.unit[i % pair_tokens] * frame.unit[j % pair_tokens];
      branch.second[pair * count + k] =
          zz - mean[i] * omega(j) - omega(i) * mean[j] + omega(i) * omega(j);
    }
  }
}

std::array<Pair, 2> scaled_omega(const LastQuestion& question, double scale) {
  return {Pair{question.omega[0] * scale, question.omega[1] * scale},
          Pair{question.omega[2] * scale, question.omega[3] * scale}};
}

}  // namespace

void RankTwoPair::evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                           std::vector<LastBranch>& branches) const {
  resize_branches(branches, 1, fields, count);
  LastBranch& branch = branches.front();
  const Along label = along_difference(question.label);
  std::vector<double> a(pair_tokens * count);
  std::vector<double> b(pair_tokens * count);
  nodes.solve(label.x, a.data());
  nodes.solve(Pair{1.0, 1.0}, b.data());
  if (!question.root.empty()) {
    uneven_pair({a, b}, count, question, branch);
    const double jacobian = std::log(label.distance);
    for (std::size_t k = 0; k < count; ++k) {
      branch.log_likelihood[k] += jacobian - 2.0 * nodes.log_det()[k];
    }
    return;
  }
  const double scale = 1.0 / std::sqrt(question.variance);
  const std::array<Pair, 2> w = scaled_omega(question, scale);
  const double constant = static_cast<double>(fields) * std::log(scale) + std::log(label.distance) +
                          0.5 * std::log(2.0 * std::numbers::pi) -
                          0.5 * (dot(w[0], w[0]) + dot(w[1], w[1]));
  AngleIntegrator<AngleDensity> integrator;
  AngleRule rule;
  for (std::size_t k = 0; k < count; ++k) {
    const Frame frame({a[k] * scale, a[count + k] * scale}, {b[k] * scale, b[count + k] * scale},
                      w);
    integrator.integrate(frame.density, rule);
    const AngleMoments moments(frame.density, rule);
    branch.log_likelihood[k] = constant - 2.0 * nodes.log_det()[k] - std::log(frame.length) -
                               0.5 * dot(frame.a, frame.a) + rule.log_scale +
                               std::log(moments.total);
    store(frame, moments, branch, count, k);
  }
}

/// The residuals at the likeliest angle and shift of the centre. The directions in which these two
/// move the fields are removed, since they are free.
Eigen::MatrixXd RankTwoPair::residuals(AttentionNodes& nodes, std::size_t count,
                                       const LastQuestion& question, double /*sign*/) const {
  const Along label = along_difference(question.label);
  std::vector<double> a(pair_tokens * count);
  std::vector<double> b(pair_tokens * count);
  nodes.solve(label.x, a.data());
  nodes.solve(Pair{1.0, 1.0}, b.data());
  if (!question.root.empty()) return uneven_pair_residuals({a, b}, count, question);
  const double scale = 1.0 / std::sqrt(question.variance);
  const std::array<Pair, 2> w = scaled_omega(question, scale);
  const Frame centre({a[0] * scale, a[count] * scale}, {b[0] * scale, b[count] * scale}, w);
  AngleRule rule;
  AngleIntegrator<AngleDensity>().integrate(centre.density, rule);
  const std::size_t best = rule.likeliest();
  const double c = rule.cosine[best];
  const double s = rule.sine[best];
  const double r = centre.density.shift(c, s) / centre.length;
  Eigen::MatrixXd out(4, static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    for (std::size_t t = 0; t < pair_tokens; ++t) {
      const double along = a[t * count + k] * scale;
      const double across = r * b[t * count + k] * scale;
      const auto row = static_cast<Eigen::Index>(t);
      out(row, column) = c * along - s * across - w[0][t];
      out(row + 2, column) = s * along + c * across - w[1][t];
    }
  }
  const Eigen::Vector4d z = out.col(0) + Eigen::Vector4d(w[0][0], w[0][1], w[1][0], w[1][1]);
  Eigen::Matrix<double, 4, 2> free;
  free.col(0) << -z[2], -z[3], z[0], z[1];  // moved by the angle
  free.col(1) << -s * centre.unit[0], -s * centre.unit[1], c * centre.unit[0], c * centre.unit[1];
  const Eigen::Matrix<double, 4, 2> basis = numerics::HouseholderFactors(free).basis();
  return out - basis * (basis.transpose() * out);
}

}  // namespace onset::smi
