#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/limits/branch_choice.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// A fixed point of state evolution of a typed link, with the full overlap matrix [links 3].
struct TypedCurvePoint {
  double alpha = 0.0;
  std::vector<Estimate> overlap;  ///< upper triangle of Q over the directions, row by row
  /// Squared errors of the label at e = 0; nothing where they are infinite or not resolved.
  std::optional<Estimate> error_plugin = {};
  std::optional<Estimate> error_bayes = {};
  std::optional<Estimate> free_entropy = {};  ///< [links 9]; nothing where it is infinite
  int iterations = 0;                         ///< steps of state evolution and of Newton
  double residual = 0.0;                      ///< of the fixed point, in log V
  std::string doubt = {};                     ///< why it did not converge; empty where it did
};

struct TypedCurveOptions {
  BranchChoice choice = BranchChoice::uninformed;
  double tolerance = 1e-2;        ///< wanted standard error of Q11
  std::size_t max_points = 2048;  ///< outer points per replicate
  std::uint64_t seed = 1;
};

struct TypedCurve {
  bool met_tolerance = true;
  std::string doubt = {};  ///< of the staircase
};

using TypedPointFound = std::function<void(const TypedCurvePoint&)>;

/// The fixed points at some sample ratios, handed over one by one.
[[nodiscard]] TypedCurve typed_curve(const TypedLink& link, const std::vector<double>& alphas,
                                     const TypedCurveOptions& options, const Context& context,
                                     const TypedPointFound& found);

/// Roughly the core seconds of a curve.
[[nodiscard]] double typed_curve_seconds(const TypedLink& link, std::size_t alphas,
                                         const TypedCurveOptions& options);

}  // namespace onset::smi
