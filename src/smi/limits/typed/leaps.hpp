#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "smi/limits/typed/verdict.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

struct LeapOptions {
  int max_degree = 6;
  std::size_t max_points = 4096;  ///< outer points per replicate where something is known
  std::uint64_t seed = 1;
};

/// The least degree of Hermite polynomials of which something is seen, given what is known.
struct Leap {
  /// `absent`: there is none up to the largest degree asked for.
  Verdict verdict = Verdict::unresolved;
  std::optional<int> degree = {};       ///< present: the leap; unresolved: where the doubt is
  std::optional<Estimate> weight = {};  ///< lambda_k^2 of that degree
};

/// One step of the staircase of leaps [links 32].
struct LeapStep {
  Eigen::MatrixXd directions;  ///< what is learned, or what is left where nothing is
  Eigen::MatrixXd given;       ///< what was known before
  Leap leap;
  /// The same of the label itself, without transformations; none where its variance is infinite.
  std::optional<Leap> information = {};
};

using LeapFound = std::function<void(const LeapStep&)>;

/// All steps, until every direction that matters is known or no further one is found.
[[nodiscard]] std::vector<LeapStep> leaps(const TypedLink& link, const LeapOptions& options,
                                          const Context& context, const LeapFound& found = {});

/// The leap of what is left where some directions are known.
[[nodiscard]] Leap leap_given(const TypedLink& link, const Eigen::MatrixXd& known,
                              const LeapOptions& options, const Context& context);

/// Directions on which the label does not depend.
[[nodiscard]] Eigen::MatrixXd irrelevant_directions(const TypedLink& link);

/// The power of the dimension that the number of samples grows with, for a largest leap so far.
[[nodiscard]] double sample_power(int largest_leap);

/// Roughly the core seconds of all steps.
[[nodiscard]] double leap_seconds(const TypedLink& link, const LeapOptions& options);

}  // namespace onset::smi
