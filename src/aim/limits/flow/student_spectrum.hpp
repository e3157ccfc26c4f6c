#pragma once

#include <vector>

#include "aim/limits/flow/flow_model.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// The density of a student's eigenvalues at one time, seen through a Lorentzian.
struct StudentSpectrum {
  double time = 0.0;
  double atom = 0.0;  ///< share of eigenvalues that are exactly 0 and not part of the density
  std::vector<double> x;
  std::vector<Estimate> density;
};

struct SpectrumOptions {
  double smoothing = 0.02;  ///< half-width of the Lorentzian
  int points = 201;         ///< from below the smallest to above the largest eigenvalue
};

/// [aim 74] at increasing times, for a model with a closed path. On the real axis itself the modes
/// become exponentially narrow with time, and no rule resolves them. Errors: difference of two
/// rules. Throws Refused where there is no formula.
[[nodiscard]] std::vector<StudentSpectrum> student_spectra(const FlowModel& model,
                                                           const std::vector<double>& times,
                                                           const SpectrumOptions& options,
                                                           const Context& context);

}  // namespace onset::aim
