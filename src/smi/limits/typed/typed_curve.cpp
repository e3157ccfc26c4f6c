#include "smi/limits/typed/typed_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/jackknife.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/label_law.hpp"
#include "smi/limits/typed/pieces.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/limits/typed/typed_fixed_point.hpp"
#include "smi/limits/typed/typed_staircase.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// The log precisions from which state evolution starts: next to nothing, and next to the truth.
constexpr double small_start = 0.02;
constexpr double true_start = 7.0;
/// A direction whose log precision exceeds this, and which counting says is recovered, is.
constexpr double recovered_log_precision = 11.0;
/// Thresholds that are this close, in standard errors, do not say whether a stage has begun.
constexpr double threshold_errors = 3.0;
constexpr std::size_t first_curve_points = 256;
constexpr double first_part = 0.4;
/// What becomes of an error with four times the points: between 1/4 and 1/2.
constexpr double fall_of_errors = 0.35;
/// Points per replicate of the prediction errors, which cost no posteriors.
constexpr std::size_t error_points = 8192;
/// Their replicates where the overlaps have none of their own.
constexpr std::size_t error_replicates = 8;
/// A mean square whose error is a larger part of it may as well be infinite.
constexpr double resolved_part = 0.25;

/// A root of a positive semidefinite matrix.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& matrix) {
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(matrix);
  return eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Follows one link through its sample ratios.
class CurveBuilder {
 public:
  CurveBuilder(const TypedLink& link, const TypedCurveOptions& options, const Context& context,
               double max_alpha)
      : link_(&link), options_(&options), context_(&context) {
    relevant_ = relevant_directions(link);
    recovery_ = exact_recovery(link, relevant_, options.seed, context);
    if (options.choice == BranchChoice::informed) return;
    TypedStaircaseOptions stairs;
    stairs.alpha_stop = max_alpha;
    stairs.exact_recovery = false;
    stairs.tolerance = std::min(1e-2, options.tolerance);
    stairs.seed = options.seed;
    stairs_ = typed_staircase(link, stairs, context);
  }

  [[nodiscard]] const std::string& doubt() const { return stairs_.doubt; }
  [[nodiscard]] bool met_tolerance() const { return met_tolerance_; }

  [[nodiscard]] TypedCurvePoint at(double alpha) {
    if (options_->choice == BranchChoice::uninformed) return uninformed(alpha);
    if (options_->choice == BranchChoice::informed) return informed(alpha);
    const TypedCurvePoint low = uninformed(alpha);
    TypedCurvePoint high = informed(alpha);
    // Exact recovery of a direction has an infinite free entropy.
    if (!high.free_entropy || !low.free_entropy) return high;
    TypedCurvePoint best = high.free_entropy->value > low.free_entropy->value ? high : low;
    const double apart = std::abs(high.free_entropy->value - low.free_entropy->value);
    const bool same = std::abs(high.overlap[0].value - low.overlap[0].value) <
                      threshold_errors * (high.overlap[0].error + low.overlap[0].error);
    if (!same &&
        apart < threshold_errors * std::hypot(high.free_entropy->error, low.free_entropy->error)) {
      add_doubt("the errors do not say which fixed point has the larger free entropy", best);
    }
    return best;
  }

 private:
  static void add_doubt(const std::string& doubt, TypedCurvePoint& point) {
    if (doubt.empty() || point.doubt.find(doubt) != std::string::npos) return;
    point.doubt += (point.doubt.empty() ? "" : "; ") + doubt;
  }

  /// What counting says is recovered exactly.
  [[nodiscard]] Eigen::MatrixXd recoverable(double alpha) const {
    Eigen::MatrixXd out(relevant_.rows(), 0);
    for (const ExactRecovery& one : recovery_) {
      if (one.alpha.value < alpha) out = sum_of(out, one.directions);
    }
    return out;
  }

  [[nodiscard]] TypedCurvePoint uninformed(double alpha) {
    TypedRoles roles{Eigen::MatrixXd(relevant_.rows(), 0), Eigen::MatrixXd(relevant_.rows(), 0)};
    std::string doubt;
    bool has_begun = true;  // the last stage, on which the next one builds
    for (const TypedStage& stage : stairs_.stages) {
      if (stage.kind == TypedKind::unresolved && has_begun) {
        doubt = "whether " + direction_names(stage.directions) + " is learned is not resolved";
      }
      if (stage.kind != TypedKind::weak && stage.kind != TypedKind::trivial) continue;
      const double distance = alpha - stage.alpha->value;
      has_begun = distance > 0.0;
      if (std::abs(distance) < threshold_errors * stage.alpha->error) {
        doubt = "alpha is too close to the threshold of " + direction_names(stage.directions);
      }
      if (distance > 0.0) roles.learned = sum_of(roles.learned, stage.directions);
    }
    TypedCurvePoint point = solve(alpha, roles, small_start);
    add_doubt(doubt, point);
    return point;
  }

  [[nodiscard]] TypedCurvePoint informed(double alpha) {
    const Eigen::MatrixXd exact = recoverable(alpha);
    return solve(alpha, {without(relevant_, exact), exact}, true_start);
  }

  /// The fixed point that state evolution reaches from a start.
  [[nodiscard]] TypedCurvePoint solve(double alpha, TypedRoles roles, double start) {
    const Eigen::MatrixXd exact = recoverable(alpha);
    TypedCurvePoint point;
    point.alpha = alpha;
    for (;;) {
      const TypedStateEvolution map(*link_, roles, alpha, options_->seed, *context_);
      if (map.coordinates() == 0) return finish_without(map, point);
      TypedFixedPoint nearby = iterate(map, map.isotropic(start), most_log_precision(roles, exact));
      if (!nearby.runs_off) return finish(map, nearby, point);
      // Some directions go to exact recovery; the others follow given them.
      const Eigen::MatrixXd overlap = map.overlap(nearby.x);
      const auto is_exact = [&](const Eigen::MatrixXd& some) {
        const Eigen::MatrixXd own = some.transpose() * overlap * some;
        return own.trace() > exact_overlap * static_cast<double>(some.cols());
      };
      roles.exact =
          sum_of(roles.exact, exact_part(recovery_, intersection(exact, roles.learned), is_exact));
      roles.learned = without(roles.learned, roles.exact);
      point.iterations += nearby.iterations;
    }
  }

  /// Beyond this log precision an iteration is one towards exact recovery; without such a thing it
  /// goes on.
  [[nodiscard]] static double most_log_precision(const TypedRoles& roles,
                                                 const Eigen::MatrixXd& exact) {
    return intersection(exact, roles.learned).cols() > 0 ? recovered_log_precision
                                                         : std::numeric_limits<double>::infinity();
  }

  /// Nothing is learned, or all that is learned is known exactly.
  [[nodiscard]] TypedCurvePoint finish_without(const TypedStateEvolution& map,
                                               TypedCurvePoint point) {
    const Eigen::MatrixXd q = map.overlap(Eigen::VectorXd());
    for (Eigen::Index p = 0; p < q.rows(); ++p) {
      for (Eigen::Index r = p; r < q.cols(); ++r) point.overlap.push_back({q(p, r), 0.0});
    }
    add_errors(std::vector(error_replicates, q), point);
    if (map.roles().exact.cols() > 0) return point;
    TypedChannelOptions options;
    options.points = first_curve_points;
    options.seed = options_->seed;
    const auto averages =
        typed_channel(*link_, KnownDirections::none(link_->directions()), options, *context_);
    add_doubt(doubt_in(averages), point);
    if (label_law()) {
      point.free_entropy = {point.alpha * label_law()->value, point.alpha * label_law()->error};
      return point;
    }
    Replicates values;
    for (const TypedAverages& a : averages) values.push_back(point.alpha * a.log_evidence);
    point.free_entropy = numerics::reduce(values);
    return point;
  }

  [[nodiscard]] std::size_t most_points() const {
    return most_points_of(*link_, options_->max_points);
  }

  [[nodiscard]] TypedCurvePoint finish(const TypedStateEvolution& map,
                                       const TypedFixedPoint& nearby, TypedCurvePoint point) {
    TypedFixedPoint fixed;
    std::size_t points = first_curve_points;
    // Who stops as soon as an error is small stops where it is so by chance. The errors of fewer
    // points say what is to be expected, too, and the first one must be clearly below.
    std::optional<double> expected;
    double widening = 1.0;
    for (;; points *= 4) {
      fixed = polish(map, nearby, points);
      write_overlaps(map, fixed, point);
      const double error = point.overlap[0].error;
      const double likely =
          expected ? std::sqrt(0.5 * (error * error + *expected * *expected)) : error;
      widening = error > 0.0 ? std::max(1.0, likely / error) : 1.0;
      const double wanted = options_->tolerance * (expected ? 1.0 : first_part);
      if (fixed.settled && fixed.clear && std::max(error, likely) <= wanted) break;
      expected = fall_of_errors * likely;
      if (4 * points > most_points()) {
        if (fixed.settled && fixed.clear) met_tolerance_ = false;
        break;
      }
    }
    point.iterations += fixed.iterations;
    point.residual = fixed.residual;
    if (!nearby.settled) add_doubt("state evolution did not come to rest", point);
    if (!fixed.clear) {
      add_doubt(
          "the errors do not tell the fixed point from its neighbours, as next to a threshold",
          point);
    } else if (!fixed.settled) {
      add_doubt("Newton's steps to the fixed point did not converge", point);
    }
    if (!fixed.stable) add_doubt("the fixed point is not stable", point);
    add_doubt(doubt_in(fixed.averages), point);
    std::vector<Eigen::MatrixXd> overlaps;
    for (const Eigen::VectorXd& x : fixed.replicates) overlaps.push_back(map.overlap(x));
    add_errors(overlaps, point);
    if (map.roles().exact.cols() == 0) add_free_entropy(map, fixed, points, point);
    for (Estimate& one : point.overlap) one.error *= widening;
    for (auto* one : {&point.error_plugin, &point.error_bayes, &point.free_entropy}) {
      if (*one) (*one)->error *= widening;
    }
    return point;
  }

  /// Of every replicate's own fixed point; entries that all replicates agree on are exact. The
  /// overlap is a curved function of the log precision, whose scatter next to exact recovery is
  /// large: the jackknife leaves out what the curvature adds to a mean of overlaps.
  static void write_overlaps(const TypedStateEvolution& map, const TypedFixedPoint& fixed,
                             TypedCurvePoint& point) {
    point.overlap.clear();
    const double bias = ratio_bias(fixed.averages);
    const auto count = static_cast<double>(fixed.replicates.size());
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(fixed.x.size());
    for (const Eigen::VectorXd& x : fixed.replicates) mean += x / count;
    const Eigen::MatrixXd at_mean = map.overlap(mean);
    std::vector<Eigen::MatrixXd> all;
    for (const Eigen::VectorXd& x : fixed.replicates) {
      const Eigen::VectorXd others = mean - (x - mean) / (count - 1.0);
      all.push_back(numerics::pseudo_value(at_mean, map.overlap(others), count));
    }
    for (Eigen::Index p = 0; p < all.front().rows(); ++p) {
      for (Eigen::Index q = p; q < all.front().cols(); ++q) {
        Replicates values;
        for (const Eigen::MatrixXd& one : all) values.push_back(one(p, q));
        const double value = numerics::mean(values);
        point.overlap.push_back(numerics::reduce(values, bias * std::abs(value * (1.0 - value))));
      }
    }
  }

  /// Phi = alpha Psi + (tr Q + log det V) / 2 is stationary at a fixed point, so that the error of
  /// V does not count [links 9]. Of Psi the part that does not depend on V is an integral over
  /// labels [links 19]: the log density of z1^2 scatters far more than what is known changes it.
  void add_free_entropy(const TypedStateEvolution& map, const TypedFixedPoint& fixed,
                        std::size_t points, TypedCurvePoint& point) {
    const Eigen::MatrixXd v = map.variance(fixed.x);
    const double size = static_cast<double>(v.rows());
    const double log_det = numerics::symmetric_eigen(v).values.array().log().sum();
    Replicates psi;
    if (label_law()) {
      TypedChannelOptions options;
      options.points = points;
      options.replicates = fixed.averages.size();
      options.seed = options_->seed;
      psi = label_information(*link_, map.known_at(fixed.x), options, *context_);
      for (double& one : psi) one += label_law()->value;
    } else {
      for (const TypedAverages& a : fixed.averages) psi.push_back(a.log_evidence);
    }
    Replicates values;
    for (const double one : psi) {
      values.push_back(point.alpha * one + 0.5 * (size - v.trace() + log_det));
    }
    point.free_entropy =
        numerics::reduce(values, label_law() ? point.alpha * label_law()->error : 0.0);
  }

  /// E log p(y) where nothing is known, computed when it is first asked for; nothing for links
  /// without such an integral.
  [[nodiscard]] const std::optional<Estimate>& label_law() {
    if (!asked_label_law_) label_law_ = label_log_density(*link_, options_->seed, *context_);
    asked_label_law_ = true;
    return label_law_;
  }

  /// Squared errors of the label without its noise, each replicate at its own overlaps [smi 25].
  void add_errors(const std::vector<Eigen::MatrixXd>& overlaps, TypedCurvePoint& point) const {
    const auto& fields = link_->fields();
    const std::size_t directions = link_->directions();
    const std::size_t tokens = link_->tokens();
    const std::size_t rows = directions * tokens;
    std::vector<Eigen::MatrixXd> known;
    std::vector<Eigen::MatrixXd> open;
    for (const Eigen::MatrixXd& q : overlaps) {
      known.push_back(root_of(q));
      open.push_back(root_of(Eigen::MatrixXd::Identity(q.rows(), q.cols()) - q));
    }
    numerics::ExpectationOptions rule;
    rule.dimensions = static_cast<int>(3 * rows);
    rule.outputs = 4;  // both errors and their squares
    rule.points = error_points;
    rule.replicates = static_cast<int>(overlaps.size());
    rule.seed = options_->seed;
    const auto integrand = [&](const numerics::NormalBatch& batch, std::span<double> out) {
      std::vector<double> inputs(fields.size() * batch.count, 0.0);
      std::vector<double> value[3];
      for (std::size_t k = 0; k < 3; ++k) {
        value[k].resize(link_->outputs() * batch.count);
        for (std::size_t f = 0; f < fields.size(); ++f) {
          if (!fields[f].direction) continue;
          const auto row = static_cast<Eigen::Index>(*fields[f].direction);
          for (std::size_t i = 0; i < batch.count; ++i) {
            double z = 0.0;
            for (std::size_t d = 0; d < directions; ++d) {
              const auto column = static_cast<Eigen::Index>(d);
              const std::size_t at = d * tokens + fields[f].token;
              z += known[batch.replicate](row, column) * batch.normals[at * batch.count + i];
              if (k == 0) continue;
              z += open[batch.replicate](row, column) *
                   batch.normals[(k * rows + at) * batch.count + i];
            }
            inputs[f * batch.count + i] = z;
          }
        }
        link_->values(batch.count, inputs.data(), value[k].data());
      }
      std::fill(out.begin(), out.end(), 0.0);
      for (std::size_t j = 0; j < value[0].size(); ++j) {
        const std::size_t i = j % batch.count;
        const double a = value[1][j] - value[0][j];
        const double b = value[2][j] - value[0][j];
        const double c = value[1][j] - value[2][j];
        out[i] += 0.5 * (a * a + b * b);
        out[batch.count + i] += 0.5 * c * c;
      }
      for (std::size_t i = 0; i < 2 * batch.count; ++i) out[2 * batch.count + i] = out[i] * out[i];
    };
    const auto means = numerics::gaussian_expectation(rule, integrand, *context_);
    const auto resolved = [&](const Replicates& values,
                              const Replicates& squares) -> std::optional<Estimate> {
      const bool finite =
          std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
      if (!finite) return std::nullopt;
      // Jumps of a label make a mean one of counts, which all replicates may have in common: a
      // point more or less in one of them would not be seen.
      const double mean = numerics::mean(values);
      const auto all_points = static_cast<double>(error_points * values.size());
      const bool counts = link_->switches() > 0 && mean > 0.0;
      const Estimate e =
          numerics::reduce(values, counts ? numerics::mean(squares) / mean / all_points : 0.0);
      return e.error <= resolved_part * e.value ? std::optional(e) : std::nullopt;
    };
    point.error_plugin = resolved(means[0], means[2]);
    point.error_bayes = resolved(means[1], means[3]);
  }

  const TypedLink* link_;
  const TypedCurveOptions* options_;
  const Context* context_;
  Eigen::MatrixXd relevant_;
  std::vector<ExactRecovery> recovery_;
  TypedStaircase stairs_;
  std::optional<Estimate> label_law_;
  bool asked_label_law_ = false;
  bool met_tolerance_ = true;
};

}  // namespace

TypedCurve typed_curve(const TypedLink& link, const std::vector<double>& alphas,
                       const TypedCurveOptions& options, const Context& context,
                       const TypedPointFound& found) {
  CurveBuilder builder(link, options, context, *std::max_element(alphas.begin(), alphas.end()));
  for (std::size_t k = 0; k < alphas.size(); ++k) {
    context.report(static_cast<double>(k) / static_cast<double>(alphas.size()), "fixed points");
    found(builder.at(alphas[k]));
  }
  return {builder.met_tolerance(), builder.doubt()};
}

double typed_curve_seconds(const TypedLink& link, std::size_t alphas,
                           const TypedCurveOptions& options) {
  TypedStaircaseOptions stairs;
  stairs.tolerance = options.tolerance;
  stairs.exact_recovery = false;
  const std::size_t n = link.fields().size();
  const double coordinates = 0.5 * static_cast<double>(link.directions() * (link.directions() + 1));
  // Plain steps, slopes and Newton steps of one fixed point, and its free entropy.
  const double posteriors =
      30.0 * 128.0 + 2.0 * coordinates * 512.0 + 4.0 * 8.0 * first_curve_points;
  const double branches = options.choice == BranchChoice::optimal ? 2.0 : 1.0;
  const double staircase =
      options.choice == BranchChoice::informed ? 0.0 : typed_staircase_seconds(link, stairs);
  return staircase + branches * static_cast<double>(alphas) *
                         (0.05 + posteriors * typed_posterior_seconds(link, n));
}

}  // namespace onset::smi
