#include "smi/model/posterior/uneven_last.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "onset/core/error.hpp"
#include "smi/model/posterior/circle_rule.hpp"

namespace onset::smi {
namespace {

/// The inverse root of a prior over two directions, which makes it N(0, I).
class PlaneWhitening {
 public:
  explicit PlaneWhitening(std::span<const double> root)
      : first_(1.0 / root[0]), mixed_(-root[2] / (root[0] * root[3])), second_(1.0 / root[3]) {
    // Singular values of the root: their squares have this sum, and this product.
    const double sum = root[0] * root[0] + root[2] * root[2] + root[3] * root[3];
    const double product = root[0] * root[3];
    const double gap = std::sqrt(std::max(sum * sum - 4.0 * product * product, 0.0));
    unevenness_ = (sum + gap) / (2.0 * product);
  }

  /// The fields with these rows of tokens.
  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::VectorXd& row0,
                                           const Eigen::VectorXd& row1) const {
    Eigen::VectorXd out(row0.size() + row1.size());
    out << first_ * row0, mixed_ * row0 + second_ * row1;
    return out;
  }
  /// log of the determinant for so many tokens.
  [[nodiscard]] double log_determinant(double tokens) const {
    return tokens * std::log(first_ * second_);
  }
  /// The ratio of the largest deviation to the smallest one.
  [[nodiscard]] double unevenness() const { return unevenness_; }

 private:
  double first_, mixed_, second_, unevenness_;
};

/// One row per token of node k.
Eigen::VectorXd tokens_of(std::span<const double> rows, std::size_t first, std::size_t tokens,
                          std::size_t count, std::size_t k) {
  Eigen::VectorXd out(static_cast<Eigen::Index>(tokens));
  for (std::size_t t = 0; t < tokens; ++t) {
    out[static_cast<Eigen::Index>(t)] = rows[(first + t) * count + k];
  }
  return out;
}

/// Whitened omega of node k.
Eigen::VectorXd centre_of(const PlaneWhitening& whiten, const LastQuestion& question,
                          std::size_t count, std::size_t k) {
  const std::size_t tokens = question.omega.size() / 2;
  Eigen::VectorXd row[2];
  for (std::size_t p = 0; p < 2; ++p) {
    row[p] = tokens_of(question.omega, p * tokens, tokens, 1, 0);
    if (!question.shift.empty()) row[p] += tokens_of(question.shift, p * tokens, tokens, count, k);
  }
  return whiten(row[0], row[1]);
}

void store_node(const Eigen::VectorXd& mean, const Eigen::MatrixXd& second, std::size_t count,
                std::size_t k, LastBranch& branch) {
  std::size_t pair = 0;
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    branch.mean[static_cast<std::size_t>(i) * count + k] = mean[i];
    for (Eigen::Index j = 0; j <= i; ++j, ++pair) branch.second[pair * count + k] = second(i, j);
  }
}

/// Removes what the columns of `free` span.
Eigen::MatrixXd without(const Eigen::MatrixXd& free, const Eigen::MatrixXd& of) {
  const Eigen::MatrixXd basis = numerics::HouseholderFactors(free).basis();
  return of - basis * (basis.transpose() * of);
}

/// Whitened fields c f1 + s f2 - w on one half of O(2) [smi 93].
struct TurnedFields {
  Eigen::VectorXd f1, f2, w;

  TurnedFields(const PlaneWhitening& whiten, const Eigen::VectorXd& row0,
               const Eigen::VectorXd& row1, double turn)
      : f1(whiten(row0, turn * row1)), f2(whiten(-turn * row1, row0)) {}
};

/// exp(-|c f1 + s f2 - w|^2 / 2): the exponent is a trigonometric polynomial of degree two.
struct TurnDensity {
  double p = 0.0, q = 0.0, square1 = 0.0, product = 0.0, square2 = 0.0, rest = 0.0;

  TurnDensity() = default;
  explicit TurnDensity(const TurnedFields& turned)
      : p(turned.w.dot(turned.f1)),
        q(turned.w.dot(turned.f2)),
        square1(turned.f1.squaredNorm()),
        product(turned.f1.dot(turned.f2)),
        square2(turned.f2.squaredNorm()),
        rest(turned.w.squaredNorm()) {}

  [[nodiscard]] double log_at(double c, double s) const {
    return p * c + q * s - 0.5 * (square1 * c * c + 2.0 * product * c * s + square2 * s * s + rest);
  }
  [[nodiscard]] double slope_at(double c, double s) const {
    return q * c - p * s - product * (c * c - s * s) - (square2 - square1) * c * s;
  }
  [[nodiscard]] double curvature() const {
    return std::hypot(p, q) + std::hypot(square1 - square2, 2.0 * product);
  }
};

/// The exponent of two tokens at an angle, the shift r integrated [smi 94]: with
/// y = c f1 + s f2 - w and n = c g2 - s g1 it is (-|y|^2 + (y.n)^2 / |n|^2 - log |n|^2) / 2.
class PairDensity {
 public:
  PairDensity() = default;
  PairDensity(const TurnedFields& turned, const TurnedFields& across, double unevenness)
      : along_(turned),
        across_{across.f1.squaredNorm(), across.f1.dot(across.f2), across.f2.squaredNorm()} {
    mixed_ = {turned.f1.dot(across.f2), turned.f2.dot(across.f2) - turned.f1.dot(across.f1),
              -turned.f2.dot(across.f1), turned.w.dot(across.f1), turned.w.dot(across.f2)};
    curvature_ = probe(unevenness);
  }

  [[nodiscard]] double log_at(double c, double s) const {
    const double n = square(c, s);
    const double d = product(c, s);
    return along_.log_at(c, s) + 0.5 * (d * d / n - std::log(n));
  }
  [[nodiscard]] double slope_at(double c, double s) const {
    const double n = square(c, s);
    const double d = product(c, s);
    const double dn = 2.0 * ((across_[0] - across_[2]) * c * s - across_[1] * (c * c - s * s));
    const double dd = 2.0 * (mixed_[2] - mixed_[0]) * c * s + mixed_[1] * (c * c - s * s) +
                      mixed_[3] * c + mixed_[4] * s;
    return along_.slope_at(c, s) + d * dd / n - 0.5 * (d * d / n + 1.0) * dn / n;
  }
  [[nodiscard]] double curvature() const { return curvature_; }
  /// |n|^2.
  [[nodiscard]] double square(double c, double s) const {
    return s * s * across_[0] - 2.0 * s * c * across_[1] + c * c * across_[2];
  }
  /// y.n
  [[nodiscard]] double product(double c, double s) const {
    return c * c * mixed_[0] + c * s * mixed_[1] + s * s * mixed_[2] + s * mixed_[3] -
           c * mixed_[4];
  }

 private:
  /// The largest second derivative: nothing changes over less than a fraction of 1 / unevenness,
  /// so that differences of slopes over such steps miss little of it, which the margin covers.
  [[nodiscard]] double probe(double unevenness) const {
    constexpr double points_per_feature = 16.0, margin = 1.5;
    const auto points = static_cast<int>(std::ceil(points_per_feature * (1.0 + unevenness)));
    const double step = 2.0 * std::numbers::pi / points;
    double before = slope_at(1.0, 0.0);
    // The trapezoid rule has to resolve these features too.
    double largest = 4.0 * unevenness * unevenness;
    for (int k = 1; k <= points; ++k) {
      const double here = slope_at(std::cos(k * step), std::sin(k * step));
      largest = std::max(largest, margin * std::abs(here - before) / step);
      before = here;
    }
    return largest;
  }

  TurnDensity along_;
  std::array<double, 3> across_{};  // squares and product of g1, g2
  std::array<double, 5> mixed_{};   // coefficients of y.n
  double curvature_ = 0.0;
};

/// One node of two tokens, whitened.
struct PairNode {
  TurnedFields turned, across;
  PairDensity density;

  PairNode(const PlaneWhitening& whiten, PairRows rows, const LastQuestion& question,
           std::size_t count, std::size_t k)
      : turned(whiten, tokens_of(rows.a, 0, 2, count, k), Eigen::VectorXd::Zero(2), 1.0),
        across(whiten, tokens_of(rows.b, 0, 2, count, k), Eigen::VectorXd::Zero(2), 1.0) {
    turned.w = centre_of(whiten, question, count, k);
    density = PairDensity(turned, across, whiten.unevenness());
  }

  [[nodiscard]] Eigen::Vector4d across_at(double c, double s) const {
    return c * across.f2 - s * across.f1;
  }
  /// zeta at an angle and a shift.
  [[nodiscard]] Eigen::Vector4d at(double c, double s, double r) const {
    return c * turned.f1 + s * turned.f2 - turned.w + r * across_at(c, s);
  }
  /// The likeliest shift at an angle.
  [[nodiscard]] double shift(double c, double s) const {
    return -density.product(c, s) / density.square(c, s);
  }
};

void refuse_unevenness(const PlaneWhitening& whiten) {
  constexpr double most = 300.0;
  if (whiten.unevenness() <= most) return;
  throw Refused(
      "one direction of the last layer is known so much better than the other that the "
      "angle between them would take too many points");
}

}  // namespace

void uneven_rotations(std::span<const double> x, std::size_t count, const LastQuestion& question,
                      std::vector<LastBranch>& branches) {
  const std::size_t tokens = question.omega.size() / 2;
  const PlaneWhitening whiten(question.root);
  const double constant =
      whiten.log_determinant(static_cast<double>(tokens)) - std::log(2.0 * std::numbers::pi);
  AngleIntegrator<TurnDensity> integrator;
  AngleRule rule;
  for (std::size_t k = 0; k < count; ++k) {
    const Eigen::VectorXd row0 = tokens_of(x, 0, tokens, count, k);
    const Eigen::VectorXd row1 = tokens_of(x, tokens, tokens, count, k);
    for (const double turn : {1.0, -1.0}) {
      TurnedFields turned(whiten, row0, row1, turn);
      turned.w = centre_of(whiten, question, count, k);
      integrator.integrate(TurnDensity(turned), rule);
      double total = 0.0;
      Eigen::Vector2d first = Eigen::Vector2d::Zero();
      Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
      for (std::size_t a = 0; a < rule.weight.size(); ++a) {
        const Eigen::Vector2d cs(rule.cosine[a], rule.sine[a]);
        total += rule.weight[a];
        first += rule.weight[a] * cs;
        second += rule.weight[a] * cs * cs.transpose();
      }
      first /= total;
      second /= total;
      Eigen::MatrixXd map(turned.f1.size(), 2);
      map << turned.f1, turned.f2;
      const Eigen::VectorXd z = map * first;
      LastBranch& branch = branches[turn > 0.0 ? 0 : 1];
      branch.log_likelihood[k] = constant + rule.log_scale + std::log(total);
      store_node(z - turned.w,
                 map * second * map.transpose() - z * turned.w.transpose() -
                     turned.w * z.transpose() + turned.w * turned.w.transpose(),
                 count, k, branch);
    }
  }
}

Eigen::MatrixXd uneven_rotation_residuals(std::span<const double> x, std::size_t count,
                                          const LastQuestion& question) {
  const std::size_t tokens = question.omega.size() / 2;
  const PlaneWhitening whiten(question.root);
  const auto fields_at = [&](std::size_t k, double turn) {
    TurnedFields turned(whiten, tokens_of(x, 0, tokens, count, k),
                        tokens_of(x, tokens, tokens, count, k), turn);
    turned.w = centre_of(whiten, question, count, k);
    return turned;
  };
  AngleIntegrator<TurnDensity> integrator;
  double best = -HUGE_VAL, turn = 1.0, c = 1.0, s = 0.0;
  for (const double half : {1.0, -1.0}) {
    AngleRule rule;
    const TurnDensity density(fields_at(0, half));
    integrator.integrate(density, rule);
    const std::size_t at = rule.likeliest();
    const double value = density.log_at(rule.cosine[at], rule.sine[at]);
    if (value <= best) continue;
    best = value;
    turn = half;
    c = rule.cosine[at];
    s = rule.sine[at];
  }
  Eigen::MatrixXd out(static_cast<Eigen::Index>(2 * tokens), static_cast<Eigen::Index>(count));
  Eigen::MatrixXd free(out.rows(), 1);
  for (std::size_t k = 0; k < count; ++k) {
    const TurnedFields turned = fields_at(k, turn);
    out.col(static_cast<Eigen::Index>(k)) = c * turned.f1 + s * turned.f2 - turned.w;
    if (k == 0) free.col(0) = c * turned.f2 - s * turned.f1;
  }
  return without(free, out);
}

void uneven_pair(PairRows rows, std::size_t count, const LastQuestion& question,
                 LastBranch& branch) {
  const PlaneWhitening whiten(question.root);
  refuse_unevenness(whiten);
  const double constant = whiten.log_determinant(2.0) + 0.5 * std::log(2.0 * std::numbers::pi);
  AngleIntegrator<PairDensity> integrator;
  AngleRule rule;
  for (std::size_t k = 0; k < count; ++k) {
    const PairNode node(whiten, rows, question, count, k);
    integrator.integrate(node.density, rule);
    double total = 0.0;
    Eigen::Vector4d mean = Eigen::Vector4d::Zero();
    Eigen::Matrix4d second = Eigen::Matrix4d::Zero();
    for (std::size_t a = 0; a < rule.weight.size(); ++a) {
      const double c = rule.cosine[a], s = rule.sine[a], weight = rule.weight[a];
      const Eigen::Vector4d zeta = node.at(c, s, node.shift(c, s));
      const Eigen::Vector4d n = node.across_at(c, s);
      total += weight;
      mean += weight * zeta;
      second += weight * (zeta * zeta.transpose() + n * n.transpose() / node.density.square(c, s));
    }
    branch.log_likelihood[k] = constant + rule.log_scale + std::log(total);
    store_node(mean / total, second / total, count, k, branch);
  }
}

Eigen::MatrixXd uneven_pair_residuals(PairRows rows, std::size_t count,
                                      const LastQuestion& question) {
  const PlaneWhitening whiten(question.root);
  refuse_unevenness(whiten);
  const PairNode centre(whiten, rows, question, count, 0);
  AngleRule rule;
  AngleIntegrator<PairDensity>().integrate(centre.density, rule);
  const std::size_t best = rule.likeliest();
  const double c = rule.cosine[best], s = rule.sine[best], r = centre.shift(c, s);
  Eigen::MatrixXd out(4, static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < count; ++k) {
    out.col(static_cast<Eigen::Index>(k)) = PairNode(whiten, rows, question, count, k).at(c, s, r);
  }
  Eigen::MatrixXd free(4, 2);
  free.col(0) = c * centre.turned.f2 - s * centre.turned.f1 -
                r * (c * centre.across.f1 + s * centre.across.f2);
  free.col(1) = centre.across_at(c, s);
  return without(free, out);
}

}  // namespace onset::smi
