#include "smi/limits/typed/typed_fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {
namespace {

/// Points per replicate of the plain iteration, which only has to come near, by the number of
/// fields: as many as are cheap.
constexpr std::size_t plain_points[] = {512, 64, 32, 16};
constexpr int max_plain_steps = 400;
/// It has come to rest when a step changes the log precision by less than this, relatively and
/// absolutely.
constexpr double rest = 5e-3;
/// Steps that shrink by a steady factor are extrapolated, by this part of the geometric series but
/// by no more than a few steps.
constexpr double steady_cosine = 0.98;
constexpr double extrapolated_part = 0.7;
constexpr double max_extrapolated = 3.0;
/// Replicates, slopes and steps of the Newton iteration.
constexpr std::size_t replicates = 8;
constexpr std::size_t slope_points = 64;
constexpr double slope_step = 0.03;
constexpr int newton_steps = 10;
/// The longest step, in log precision.
constexpr double max_newton = 0.5;
/// One minus the spectral radius of slopes is resolved at so many standard errors.
constexpr double resolved_slope = 4.0;
/// The search for a change of sign in one coordinate: where it may begin, its first step relative
/// to that, its longest step and their number. It begins below where state evolution leads there
/// from a far smaller part.
constexpr double least_start = 1e-3;
constexpr double far_smaller_part = 1e-3;
constexpr double first_bracket = 0.02;
constexpr double max_bracket = 0.5;
constexpr int max_brackets = 20;
/// Standard errors that a residual must have to tell on which side of the fixed point it is.
constexpr double clear_errors = 3.0;
/// Fixed points of smaller log precision are asked whether a part of them grows.
constexpr double small_log_precision = 0.3;
constexpr double small_part = 0.25;
/// Below this part of where the search began nothing is looked for.
constexpr double least_part = 1.0 / 16.0;
/// Relative scatter below this is rounding.
constexpr double least_scatter = 1e-9;
/// Newton ends when what is left is below this part of the scatter.
constexpr double converged_part = 0.1;

/// f of a symmetric matrix.
template <class Function>
Eigen::MatrixXd map_eigenvalues(const Eigen::MatrixXd& symmetric, const Function& f) {
  if (symmetric.size() == 0) return symmetric;
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(symmetric);
  return eigen.vectors * eigen.values.unaryExpr(f).asDiagonal() * eigen.vectors.transpose();
}

}  // namespace

std::vector<Eigen::MatrixXd> commuting_basis(const TypedLink& link, const TypedRoles& roles) {
  const Eigen::MatrixXd& u = roles.learned;
  const Eigen::MatrixXd of_learned = u * u.transpose();
  const Eigen::MatrixXd of_exact = roles.exact * roles.exact.transpose();
  std::vector<Eigen::MatrixXd> maps;
  for (const Eigen::MatrixXd& map : signed_symmetries(link, LabelUnder::renamed)) {
    const auto kept = [&map](const Eigen::MatrixXd& projector) {
      return (map * projector - projector * map).norm() < 1e-9;
    };
    if (kept(of_learned) && kept(of_exact)) maps.emplace_back(u.transpose() * map * u);
  }
  std::vector<Eigen::MatrixXd> basis;
  for (Eigen::Index i = 0; i < u.cols(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      Eigen::MatrixXd unit = Eigen::MatrixXd::Zero(u.cols(), u.cols());
      unit(i, j) = unit(j, i) = 1.0;
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(u.cols(), u.cols());
      for (const Eigen::MatrixXd& map : maps) sum += map * unit * map.transpose();
      sum /= static_cast<double>(maps.size());
      for (const Eigen::MatrixXd& b : basis) sum -= b.cwiseProduct(sum).sum() * b;
      if (sum.norm() > 1e-6) basis.emplace_back(sum / sum.norm());
    }
  }
  return basis;
}

TypedStateEvolution::TypedStateEvolution(const TypedLink& link, TypedRoles roles, double alpha,
                                         std::uint64_t seed, const Context& context)
    : link_(&link),
      context_(&context),
      roles_(std::move(roles)),
      alpha_(alpha),
      seed_(seed),
      basis_(commuting_basis(link, roles_)) {}

Eigen::MatrixXd TypedStateEvolution::matrix(const Eigen::VectorXd& x) const {
  const Eigen::Index size = roles_.learned.cols();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  for (std::size_t k = 0; k < basis_.size(); ++k)
    out += x(static_cast<Eigen::Index>(k)) * basis_[k];
  return out;
}

Eigen::VectorXd TypedStateEvolution::in_coordinates(const Eigen::MatrixXd& symmetric) const {
  Eigen::VectorXd x(static_cast<Eigen::Index>(basis_.size()));
  for (std::size_t k = 0; k < basis_.size(); ++k) {
    x(static_cast<Eigen::Index>(k)) = basis_[k].cwiseProduct(symmetric).sum();
  }
  return x;
}

std::size_t TypedStateEvolution::cheap_points() const {
  return plain_points[link_->fields().size() - 1];
}

Eigen::VectorXd TypedStateEvolution::isotropic(double log_precision) const {
  const Eigen::Index size = roles_.learned.cols();
  return in_coordinates(log_precision * Eigen::MatrixXd::Identity(size, size));
}

Eigen::MatrixXd TypedStateEvolution::variance(const Eigen::VectorXd& x) const {
  // Noise may make the log precision of what is hardly learned negative.
  return map_eigenvalues(matrix(x), [](double l) { return std::exp(-std::max(0.0, l)); });
}

Eigen::MatrixXd TypedStateEvolution::overlap(const Eigen::VectorXd& x) const {
  // Scatter may make it negative, which a mean over replicates must not hide.
  const Eigen::MatrixXd q = map_eigenvalues(matrix(x), [](double l) { return -std::expm1(-l); });
  return roles_.learned * q * roles_.learned.transpose() + roles_.exact * roles_.exact.transpose();
}

KnownDirections TypedStateEvolution::known_at(const Eigen::VectorXd& x) const {
  const Eigen::Index exact = roles_.exact.cols();
  const Eigen::Index learned = roles_.learned.cols();
  KnownDirections state;
  state.known.resize(roles_.learned.rows(), exact + learned);
  state.known << roles_.exact, roles_.learned;
  state.open = complement(state.known);
  state.overlap = Eigen::MatrixXd::Identity(exact + learned, exact + learned);
  state.overlap.bottomRightCorner(learned, learned) -= variance(x);
  return state;
}

TypedStateEvolution::Image TypedStateEvolution::image(const Eigen::VectorXd& x, std::size_t points,
                                                      std::size_t count) const {
  const Eigen::Index learned = roles_.learned.cols();
  TypedChannelOptions options;
  options.points = points;
  options.replicates = count;
  options.seed = seed_;
  Image out;
  out.averages = typed_channel(*link_, known_at(x), options, *context_);
  out.mean = Eigen::VectorXd::Zero(x.size());
  for (const TypedAverages& one : out.averages) {
    const Eigen::MatrixXd precision = one.precision.bottomRightCorner(learned, learned);
    const Eigen::MatrixXd projected = matrix(in_coordinates(precision));
    out.replicates.push_back(in_coordinates(map_eigenvalues(
        projected, [&](double p) { return std::log1p(alpha_ * std::max(0.0, p)); })));
    out.mean += out.replicates.back() / static_cast<double>(count);
  }
  return out;
}

TypedFixedPoint iterate(const TypedStateEvolution& map, Eigen::VectorXd x, double most) {
  TypedFixedPoint out;
  Eigen::VectorXd before = Eigen::VectorXd::Zero(x.size());
  for (; out.iterations < max_plain_steps; ++out.iterations) {
    const Eigen::VectorXd step = map.image(x, map.cheap_points(), replicates).mean - x;
    x += step;
    out.residual = step.norm();
    if (x.cwiseAbs().maxCoeff() > most) {
      out.runs_off = true;
      break;
    }
    if (step.norm() < rest * x.norm() || step.norm() < 1e-2 * rest) {
      out.settled = true;
      break;
    }
    const double factor = step.norm() / std::max(before.norm(), 1e-300);
    const bool steady = step.dot(before) > steady_cosine * step.norm() * before.norm();
    before = step;
    if (steady && factor < 1.0) {
      x += std::min(max_extrapolated, extrapolated_part * factor / (1.0 - factor)) * step;
      before.setZero();
    }
  }
  out.x = x;
  return out;
}

namespace {

/// The scatter of the mean of an image's replicates.
double scatter_of(const TypedStateEvolution::Image& image) {
  double sum = 0.0;
  for (const Eigen::VectorXd& one : image.replicates) sum += (one - image.mean).squaredNorm();
  return std::sqrt(sum) / static_cast<double>(replicates);
}

/// What an image at out.x says: the residual, whether it is small enough, and every replicate's own
/// step from there. `descent`: minus the derivative of the residual.
void take_image(const TypedStateEvolution::Image& image, const Eigen::MatrixXd& descent,
                TypedFixedPoint& out) {
  const Eigen::VectorXd residual = image.mean - out.x;
  out.residual = residual.norm();
  out.settled = out.residual < std::max(converged_part * scatter_of(image), 1e-9);
  out.averages = image.averages;
  const numerics::LuFactors inverse(descent);
  out.replicates.clear();
  for (const Eigen::VectorXd& one : image.replicates) {
    out.replicates.emplace_back(out.x + inverse.solve(one - out.x));
  }
}

/// Where residuals that fall from one point to the next are zero: x as the parabola in the residual
/// through three points, or as the straight line through the outer two where they do not fall.
double inverse_root(const double (&x)[3], const double (&residual)[3]) {
  const auto [low, middle, high] = residual;
  if (!(low > middle && middle > high)) return x[0] + (x[2] - x[0]) * low / (low - high);
  return x[0] * middle * high / ((low - middle) * (low - high)) +
         x[1] * low * high / ((middle - low) * (middle - high)) +
         x[2] * low * middle / ((high - low) * (high - middle));
}

/// One coordinate: the residual is a function of a number. It is bracketed where it is clear on
/// both sides, so that its slope is that of the range that the errors leave open: near the end of a
/// branch, where the slope of state evolution is next to 1, and for labels with atoms, whose points
/// change sides one by one, no slope at a point would lead there. Next to a threshold, where a
/// residual is small because x is, that may take more points: the result is not clear then.
class SinglePolish {
 public:
  SinglePolish(const TypedStateEvolution& map, const TypedFixedPoint& nearby, std::size_t points)
      : map_(&map), points_(points) {
    out_.iterations = nearby.iterations;
    out_.x = nearby.x;
    const At first =
        at(is_pulled_to(nearby.x(0)) ? nearby.x(0) : std::max(nearby.x(0), least_start));
    const At low = walked(first, -1.0);
    const At high = walked(first, 1.0);
    const double descent = first.x * (low.residual() - high.residual()) / (high.x - low.x);
    out_.stable = descent > 0.0;
    if (low.residual() > clear_errors * low.scatter &&
        high.residual() < -clear_errors * high.scatter) {
      follow(low, high);
    } else {
      const At middle = at(first.x);
      take_image(middle.image, Eigen::MatrixXd::Constant(1, 1, descent), out_);
      out_.clear = false;
    }
  }

  [[nodiscard]] TypedFixedPoint result() && { return std::move(out_); }

 private:
  struct At {
    double x;
    TypedStateEvolution::Image image;
    double scatter;
    /// Relative to x: it falls with x also where x is small, and the residual itself grows.
    [[nodiscard]] double residual() const { return image.mean(0) / x - 1.0; }
    /// That of all replicates but one.
    [[nodiscard]] double residual_without(std::size_t r) const {
      const auto count = static_cast<double>(replicates);
      return (count * image.mean(0) - image.replicates[r](0)) / ((count - 1.0) * x) - 1.0;
    }
  };

  /// Whether a small x is where state evolution leads at once: the labels show the direction by
  /// themselves, and nothing has to grow.
  bool is_pulled_to(double x) {
    if (!(x > 0.0 && x < least_start)) return false;
    return at(far_smaller_part * x).image.mean(0) > 0.5 * x;
  }

  At at(double x) {
    out_.x(0) = x;
    At now{x, map_->image(out_.x, points_, replicates), 0.0};
    now.scatter = std::max(scatter_of(now.image) / x, least_scatter);
    ++out_.iterations;
    return now;
  }

  /// The first point below (sign -1) or above that is clearly on that side.
  At walked(At from, double sign) {
    double step = first_bracket * from.x;
    const double least = least_part * from.x;
    for (int k = 0; k < max_brackets && sign * from.residual() > -clear_errors * from.scatter;
         ++k) {
      if (sign < 0.0 && from.x <= least) break;
      from = at(sign > 0.0 ? from.x + std::min(step, max_bracket)
                           : std::max(from.x - step, 0.5 * from.x));
      step *= 2.0;
    }
    return from;
  }

  /// Regula falsi in its Illinois form, until residual or step is small against the scatter; then
  /// the root that replicates leave when each is left out in turn.
  void follow(At low, At high) {
    const At first = low;
    const At last = high;
    const double descent = (low.residual() - high.residual()) / (high.x - low.x);
    double low_weight = 1.0;
    double high_weight = 1.0;
    double before = low.x;
    At now = low;
    for (int k = 0; k < newton_steps && !out_.settled; ++k) {
      const double r0 = low_weight * low.residual();
      const double r1 = high_weight * high.residual();
      now = at(low.x + (high.x - low.x) * r0 / (r0 - r1));
      take_image(now.image, Eigen::MatrixXd::Constant(1, 1, now.x * descent), out_);
      const bool at_rest = std::abs(now.x - before) * descent < converged_part * now.scatter;
      out_.settled = out_.settled || at_rest;
      before = now.x;
      const bool is_below = now.residual() > 0.0;
      (is_below ? low : high) = now;
      low_weight = is_below ? 1.0 : 0.5 * low_weight;
      high_weight = is_below ? 0.5 * high_weight : 1.0;
    }
    const double x[3] = {first.x, now.x, last.x};
    const double whole = inverse_root(x, {first.residual(), now.residual(), last.residual()});
    const auto count = static_cast<double>(replicates);
    for (std::size_t r = 0; r < replicates; ++r) {
      const double without = inverse_root(
          x, {first.residual_without(r), now.residual_without(r), last.residual_without(r)});
      out_.replicates[r](0) = whole + (count - 1.0) * (whole - without);
    }
  }

  const TypedStateEvolution* map_;
  std::size_t points_;
  TypedFixedPoint out_;
};

/// Whether state evolution clearly leads from a part of x towards it.
bool grows_towards(const TypedStateEvolution& map, const Eigen::VectorXd& x, std::size_t points) {
  const Eigen::VectorXd part = small_part * x;
  const TypedStateEvolution::Image image = map.image(part, points, replicates);
  numerics::Replicates along;
  for (const Eigen::VectorXd& one : image.replicates) along.push_back(x.dot(one - part));
  const Estimate growth = numerics::reduce(along);
  return growth.value > clear_errors * growth.error;
}

/// Slopes of state evolution at x, with so many points that they say whether it contracts.
Eigen::MatrixXd slopes_at(const TypedStateEvolution& map, const Eigen::VectorXd& x,
                          std::size_t max_points) {
  const Eigen::Index size = x.size();
  Eigen::MatrixXd slopes(size, size);
  for (std::size_t points = slope_points;; points *= 4) {
    double variance = 0.0;
    for (Eigen::Index k = 0; k < size; ++k) {
      Eigen::VectorXd step = Eigen::VectorXd::Zero(size);
      step(k) = slope_step * std::max(1.0, 0.1 * x.norm());
      const auto above = map.image(x + step, points, replicates);
      const auto below = map.image(x - step, points, replicates);
      slopes.col(k) = (above.mean - below.mean) / (2.0 * step(k));
      for (std::size_t r = 0; r < replicates; ++r) {
        const Eigen::VectorXd own =
            (above.replicates[r] - below.replicates[r]) / (2.0 * step(k)) - slopes.col(k);
        variance += own.squaredNorm() / static_cast<double>(replicates * (replicates - 1));
      }
    }
    const double left = std::abs(1.0 - numerics::spectral_radius(slopes));
    if (left > resolved_slope * std::sqrt(variance) || 4 * points > max_points) return slopes;
  }
}

}  // namespace

TypedFixedPoint polish(const TypedStateEvolution& map, const TypedFixedPoint& nearby,
                       std::size_t points) {
  if (map.coordinates() == 1) return SinglePolish(map, nearby, points).result();
  TypedFixedPoint out;
  out.x = nearby.x;
  out.iterations = nearby.iterations;
  const Eigen::Index size = out.x.size();
  const Eigen::MatrixXd slopes = slopes_at(map, out.x, points);
  out.stable = numerics::spectral_radius(slopes) < 1.0;
  // Minus the derivative of the residual, made better by every step (Broyden).
  Eigen::MatrixXd descent = Eigen::MatrixXd::Identity(size, size) - slopes;
  Eigen::VectorXd step = Eigen::VectorXd::Zero(size);
  for (int newton = 0; newton < newton_steps; ++newton) {
    const TypedStateEvolution::Image image = map.image(out.x, points, replicates);
    ++out.iterations;
    const Eigen::VectorXd residual = image.mean - out.x;
    if (step.norm() > 0.0) descent -= residual * step.transpose() / step.squaredNorm();
    take_image(image, descent, out);
    if (out.settled) break;
    const Eigen::VectorXd full = numerics::LuFactors(descent).solve(residual);
    const double shortened = std::min(1.0, max_newton / full.norm());
    step = shortened * full;
    out.x += step;
    // Broyden's rule speaks of the residual that a full step would have left.
    if (shortened < 1.0) step.setZero();
  }
  if (out.x.norm() < small_log_precision) out.clear = grows_towards(map, out.x, points);
  return out;
}

}  // namespace onset::smi
