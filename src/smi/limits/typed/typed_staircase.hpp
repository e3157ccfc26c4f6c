#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// What a row of the staircase of a typed link says.
enum class TypedKind { trivial, weak, hard, perfect, algorithmic, irrelevant, unresolved };

struct TypedStage {
  Eigen::MatrixXd directions;  ///< an orthonormal basis of them, in columns
  TypedKind kind = TypedKind::weak;
  std::optional<Estimate> alpha = {};
  /// Of trivial directions that nothing else needs: the slope of their overlap at alpha = 0.
  std::optional<Estimate> gain = {};
  /// The mean overlap of the directions just above alpha: 0 where it grows from 0 on. Nothing where
  /// errors do not say.
  std::optional<Estimate> jump = {};
  /// The degree of the label's information that shows them [links 32]; none where none was found.
  std::optional<int> leap = {};
};

struct TypedStaircase {
  std::vector<TypedStage> stages;
  bool met_tolerance = true;
  /// State evolution from small overlaps recovers everything that can be below this sample ratio,
  /// at three standard errors; 0 where it was not looked for.
  double recovered_below = 0.0;
  /// Why some number is not to be trusted; empty where all checks passed.
  std::string doubt = {};
};

struct TypedStaircaseOptions {
  double tolerance = 1e-3;  ///< wanted standard error of a threshold, relative to max(1, alpha)
  std::size_t max_points = 4096;
  std::size_t max_stages = 0;  ///< 0: all
  bool exact_recovery = true;  ///< whether jumps and rows of exact recovery are wanted
  /// Thresholds above this sample ratio are not looked for.
  double alpha_stop = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
};

using TypedStageFound = std::function<void(const TypedStage&)>;

/// Which directions of a typed link are learned when, given what was learned before [links 3].
[[nodiscard]] TypedStaircase typed_staircase(const TypedLink& link,
                                             const TypedStaircaseOptions& options,
                                             const Context& context,
                                             const TypedStageFound& found = {});

[[nodiscard]] std::string_view to_string(TypedKind kind);

/// Roughly the bytes of all that follows a typed link: mostly what is kept where nothing is known.
[[nodiscard]] double typed_bytes(const TypedLink& link);
/// Roughly the core seconds of a staircase.
[[nodiscard]] double typed_staircase_seconds(const TypedLink& link,
                                             const TypedStaircaseOptions& options);

/// The span of some directions in words: z1, (z1+z2)/sqrt2, or coefficients.
[[nodiscard]] std::string direction_names(const Eigen::MatrixXd& basis);

}  // namespace onset::smi
