#include "smi/limits/typed/leaps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/hermite_channel.hpp"
#include "smi/limits/typed/label_bins.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/pieces.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/limits/typed/symmetric_tensors.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Outer points per replicate to begin with.
constexpr std::size_t first_points = 256;
/// Degrees up to which all are computed at once, before higher ones are asked for.
constexpr int first_degree = 2;
/// A label whose rarest values, of this probability, carry this part of its variance or more, is
/// taken for one of infinite variance.
constexpr double rare = 1e-3;
constexpr double rare_part = 0.5;
/// Fields that are this far beyond the usual ones are rare themselves.
constexpr double far_away = 1.5;
/// Where integrals over labels without their transformation end, unless their tails are heavy.
constexpr double usual_reach = 9.0;

double square(double x) {
  return x * x;
}

/// Mean and error, with what all replicates have in common, as for thresholds.
Estimate estimate(const Replicates& values, const std::vector<HermiteAverages>& averages,
                  int degree) {
  SharedErrors shared;
  Replicates biases;
  for (const HermiteAverages& a : averages) {
    shared.masses.push_back(a.mass);
    biases.push_back(a.ratio_bias);
  }
  shared.ratio_bias = numerics::mean(biases);
  shared.rule = averages.front().rule_error[static_cast<std::size_t>(degree) - 1];
  return estimate(values, shared);
}

/// The open directions that a contraction shows; nothing where an eigenvalue is neither there nor
/// absent.
std::optional<Eigen::MatrixXd> range_of(const std::vector<HermiteAverages>& averages, int degree) {
  const auto k = static_cast<std::size_t>(degree) - 1;
  Eigen::MatrixXd mean = averages.front().contraction[k];
  for (std::size_t r = 1; r < averages.size(); ++r) mean += averages[r].contraction[k];
  mean /= static_cast<double>(averages.size());
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(mean);
  const double largest = eigen.values.maxCoeff();
  Eigen::MatrixXd range(mean.rows(), 0);
  for (Eigen::Index i = 0; i < mean.rows(); ++i) {
    const Eigen::VectorXd v = eigen.vectors.col(i);
    Replicates values;
    for (const HermiteAverages& a : averages) values.push_back(v.dot(a.contraction[k] * v));
    const Estimate size = estimate(values, averages, degree);
    if (size.value > std::max(present_errors * size.error, range_part * largest)) {
      range = sum_of(range, v);
    } else if (verdict(size) != Verdict::absent && size.value > range_part * largest) {
      return std::nullopt;
    }
  }
  return range;
}

/// Why all degrees below one are absent, given how many tensors of a degree symmetries allow.
template <class Tensors>
LowerDegrees below(int degree, const Tensors& tensors) {
  for (int lower = 1; lower < degree; ++lower) {
    if (tensors(lower) > 0) return LowerDegrees::small;
  }
  return LowerDegrees::excluded;
}

class Climber {
 public:
  Climber(const TypedLink& link, const LeapOptions& options, const Context& context)
      : label_(&link), link_(link.up_to_injections()), options_(&options), context_(&context) {
    relevant_ = relevant_directions(link_);
    known_ = Eigen::MatrixXd(relevant_.rows(), 0);
    reach_ = reach_of_variance();
  }

  void know(const Eigen::MatrixXd& directions) { known_ = directions; }
  [[nodiscard]] bool done() const { return open().cols() == 0; }

  LeapStep step(bool with_information) {
    const Eigen::MatrixXd given = known_;
    const Eigen::MatrixXd left = open();
    Found found = look();
    LeapStep out{found.directions.cols() > 0 ? found.directions : left, given, found.leap};
    if (with_information && reach_) out.information = information();
    known_ = sum_of(known_, out.directions);
    return out;
  }

 private:
  struct Found {
    Leap leap;
    Eigen::MatrixXd directions;
  };

  [[nodiscard]] Eigen::MatrixXd open() const { return without(relevant_, known_); }

  [[nodiscard]] KnownDirections state() const {
    return {known_, complement(known_), Eigen::MatrixXd::Identity(known_.cols(), known_.cols())};
  }

  [[nodiscard]] TypedChannelOptions channel_options(std::size_t points) const {
    TypedChannelOptions out;
    out.points = points;
    out.seed = options_->seed;
    return out;
  }

  /// The degrees one after the other, with more points where errors leave a doubt.
  Found look() const {
    int from = 1;
    for (int to = std::min(first_degree, options_->max_degree); from <= options_->max_degree;
         from = to + 1, to = std::min(to + first_degree, options_->max_degree)) {
      std::optional<Found> found;
      for (std::size_t points = first_points;; points *= 4) {
        found = look(from, to, points);
        const bool doubtful = found && found->leap.verdict == Verdict::unresolved;
        const bool is_sampled =
            known_.cols() > 0 || !has_label_integral(link_) || needs_bins(link_);
        if (!doubtful || !is_sampled || 4 * points > options_->max_points) break;
      }
      if (found) return *found;
    }
    return {{Verdict::absent}, Eigen::MatrixXd(relevant_.rows(), 0)};
  }

  /// Nothing where degrees from .. to are absent.
  [[nodiscard]] std::optional<Found> look(int from, int to, std::size_t points) const {
    const KnownDirections now = state();
    std::vector<bool> allowed;
    for (int degree = from; degree <= to; ++degree) {
      allowed.push_back(symmetric_tensors(link_, now, degree) > 0);
    }
    if (std::none_of(allowed.begin(), allowed.end(), [](bool one) { return one; })) return {};
    TypedChannelOptions options = channel_options(points);
    if (now.known.cols() == 0 && needs_bins(link_)) {
      options.refinement = static_cast<double>(points) / static_cast<double>(first_points);
    }
    const auto averages = hermite_channel(link_, now, to, options, *context_);
    for (int degree = from; degree <= to; ++degree) {
      if (!allowed[static_cast<std::size_t>(degree - from)]) continue;
      Replicates weights;
      for (const HermiteAverages& a : averages) {
        weights.push_back(a.contraction[static_cast<std::size_t>(degree) - 1].trace());
      }
      const Estimate weight = estimate(weights, averages, degree);
      const Verdict seen = verdict(
          weight, below(degree, [&](int lower) { return symmetric_tensors(link_, now, lower); }));
      if (seen == Verdict::absent) continue;
      Found found{{seen, degree, weight}, Eigen::MatrixXd(relevant_.rows(), 0)};
      if (seen == Verdict::unresolved) return found;
      const auto range = range_of(averages, degree);
      if (range) {
        found.directions = symmetric(now.open * *range);
      } else {
        found.leap.verdict = Verdict::unresolved;
      }
      return found;
    }
    return {};
  }

  /// The same directions without scatter that symmetries of the link exclude: what is learned is
  /// left alone by those that leave the known directions alone. Given a direction that is an axis
  /// but for some 1e-4, the label would change with fields that it does not depend on.
  [[nodiscard]] Eigen::MatrixXd symmetric(const Eigen::MatrixXd& directions) const {
    const Eigen::MatrixXd of_known = known_ * known_.transpose();
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(directions.rows(), directions.rows());
    double count = 0.0;
    for (const Eigen::MatrixXd& map : signed_symmetries(link_, LabelUnder::renamed)) {
      if ((map * of_known - of_known * map).norm() > 1e-9) continue;
      const Eigen::MatrixXd moved = map * directions;
      sum += moved * moved.transpose();
      count += 1.0;
    }
    return range_above(sum / count, 0.5);
  }

  [[nodiscard]] Leap information() const {
    const KnownDirections now = state();
    TypedChannelOptions channel = channel_options(0);
    channel.radius = *reach_;
    const auto weights =
        plain_label_weights(*label_, now, options_->max_degree, channel, *context_);
    const auto tensors = [&](int degree) { return projected_tensors(*label_, now, degree); };
    // Rules for one field are exact to rounding.
    const bool is_sharp = known_.cols() == 0 && label_->fields().size() == 1;
    for (int degree = 1; degree <= options_->max_degree; ++degree) {
      if (tensors(degree) == 0) continue;
      Replicates values;
      for (const auto& one : weights) values.push_back(one[static_cast<std::size_t>(degree) - 1]);
      const Estimate weight = numerics::reduce(values, is_sharp ? one_field_error : exact_error);
      const Verdict seen = verdict(weight, below(degree, tensors));
      if (seen != Verdict::absent) return {seen, degree, weight};
    }
    return {Verdict::absent};
  }

  /// How far out fields matter for the variance of the label, as far as samples show; nothing where
  /// it has none. Several outputs have no one leap of their own.
  [[nodiscard]] std::optional<double> reach_of_variance() const {
    if (label_->outputs() > 1) return std::nullopt;
    constexpr std::size_t count = std::size_t{1} << 16U;
    const std::size_t rows = label_->fields().size();
    std::vector<double> inputs(rows * count);
    numerics::Stream(1, "variance of labels").normal(inputs);
    std::vector<double> labels(count);
    label_->values(count, inputs.data(), labels.data());
    std::vector<double> sorted = labels;
    std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.end());
    const double middle = sorted[count / 2];
    std::vector<std::pair<double, double>> parts;  // of the variance, and how far out
    double all = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      double squared = 0.0;
      for (std::size_t f = 0; f < rows; ++f) squared += square(inputs[f * count + i]);
      parts.emplace_back(square(labels[i] - middle), squared);
      all += parts.back().first;
    }
    if (!std::isfinite(all)) return std::nullopt;
    std::sort(parts.begin(), parts.end());
    double rarest = 0.0;
    double far_out = 0.0;
    const double far = square(far_away + std::sqrt(static_cast<double>(rows)));
    for (std::size_t i = count - static_cast<std::size_t>(rare * count); i < count; ++i) {
      rarest += parts[i].first;
      if (parts[i].second > far) far_out += parts[i].first;
    }
    if (rarest < rare_part * all) return usual_reach;
    // Rare values next to a pole are infinitely many; those of rare fields may well be few enough.
    return far_out < (1.0 - rare_part / 2.0) * rarest ? std::nullopt : reach_of_tails();
  }

  /// Beyond which distance of the fields y^2 times their density is negligible, in all of some
  /// directions; nothing where there is no such distance.
  [[nodiscard]] std::optional<double> reach_of_tails() const {
    constexpr std::size_t directions = 256;
    constexpr double step = 0.25;
    constexpr double furthest = 20.0;
    constexpr double negligible = -20.0;  // the logarithm, relative to the largest
    const std::size_t rows = label_->fields().size();
    std::vector<double> inputs(rows * directions);
    numerics::Stream(2, "variance of labels").normal(inputs);
    for (std::size_t i = 0; i < directions; ++i) {
      double squared = 0.0;
      for (std::size_t f = 0; f < rows; ++f) squared += square(inputs[f * directions + i]);
      for (std::size_t f = 0; f < rows; ++f) inputs[f * directions + i] /= std::sqrt(squared);
    }
    double largest = -std::numeric_limits<double>::infinity();
    double reach = usual_reach;
    std::vector<double> at(inputs.size());
    std::vector<double> labels(directions);
    for (double r = step; r <= furthest; r += step) {
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = r * inputs[i];
      label_->values(directions, at.data(), labels.data());
      double here = -std::numeric_limits<double>::infinity();
      for (const double y : labels) {
        if (!std::isfinite(y)) return std::nullopt;
        here = std::max(here, 2.0 * std::log(std::abs(y)) - 0.5 * r * r +
                                  static_cast<double>(rows - 1) * std::log(r));
      }
      largest = std::max(largest, here);
      if (here > largest + negligible) reach = std::max(reach, r + step);
    }
    return reach < furthest ? std::optional(reach) : std::nullopt;
  }

  const TypedLink* label_;  ///< as it was typed, for what depends on the values of labels
  TypedLink link_;
  const LeapOptions* options_;
  const Context* context_;
  Eigen::MatrixXd relevant_;
  Eigen::MatrixXd known_;
  std::optional<double> reach_ = usual_reach;
};

}  // namespace

std::vector<LeapStep> leaps(const TypedLink& link, const LeapOptions& options,
                            const Context& context, const LeapFound& found) {
  Climber climber(link, options, context);
  std::vector<LeapStep> out;
  while (!climber.done()) {
    out.push_back(climber.step(true));
    if (found) found(out.back());
    // What comes after a step that was not made is not known.
    if (out.back().leap.verdict != Verdict::present) break;
  }
  return out;
}

Leap leap_given(const TypedLink& link, const Eigen::MatrixXd& known, const LeapOptions& options,
                const Context& context) {
  Climber climber(link, options, context);
  climber.know(known);
  return climber.step(false).leap;
}

Eigen::MatrixXd irrelevant_directions(const TypedLink& link) {
  return complement(relevant_directions(link));
}

double sample_power(int largest_leap) {
  return std::max(1.0, 0.5 * largest_leap);
}

double leap_seconds(const TypedLink& link, const LeapOptions& options) {
  // Evaluations of the first step and of one posterior, by the number of normals. Of three and
  // more, several outputs with a density have no bins.
  constexpr double integral[] = {2e5, 4e7, 2.5e8, 1.5e8};
  constexpr double posterior[] = {300.0, 6e3, 2.5e4, 1.2e5};
  const std::size_t n = std::min<std::size_t>(link.fields().size(), 4) - 1;
  // Not every direction has a step of its own.
  const double later = 0.5 * (static_cast<double>(link.directions()) - 1.0);
  const double samples =
      8.0 * 2.0 * static_cast<double>(std::min(first_points, options.max_points));
  const std::size_t fewer = n > 0 ? n - 1 : 0;
  const double first = needs_bins(link) ? 2.0 * binned_seconds(link, 1.0)
                                        : 3.0 * link.seconds() * integral[n] * turning_effort(link);
  return 0.3 + first + 3.0 * link.seconds() * later * samples * posterior[fewer];
}

}  // namespace onset::smi
