#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "aim/model/data.hpp"
#include "core/fields.hpp"
#include "onset/core/verb.hpp"

/// Finite sizes: dimension, width and samples of simulated problems.
namespace onset::aim {

/// Dimensions that learners and data take; memory is checked besides.
inline const FieldRule dim_rule{.min = 2, .max = 20000};
inline constexpr const char* dim_text = "Dimension d of a token; n = alpha d^2 samples.";

/// The model at dimension d, with the width ratio that it has there: r/d for a whole r.
[[nodiscard]] inline AttentionIndexed at_size(AttentionIndexed model, std::size_t dim) {
  model.rho = static_cast<double>(width_of(model.rho, dim)) / static_cast<double>(dim);
  return model;
}

/// n/d^2 for a whole n.
[[nodiscard]] inline double ratio_of(std::size_t samples, std::size_t dim) {
  const auto d = static_cast<double>(dim);
  return static_cast<double>(samples) / (d * d);
}

/// Says which width was used, and where rounding to whole widths and samples changed a ratio.
inline void add_sizes(double asked_rho, const AttentionIndexed& used, std::size_t dim,
                      const std::vector<double>& alphas, Result& result) {
  constexpr double rounding = 1e-12;
  const auto differs = [](double a, double b) { return std::abs(a - b) > rounding * b; };
  const auto width = static_cast<std::int64_t>(width_of(used.rho, dim));
  result.summary.emplace_back("width", width);
  result.summary.emplace_back("rho_used", used.rho);
  if (differs(asked_rho, used.rho)) {
    result.notes.push_back("rho = " + to_text(Value(asked_rho)) +
                           " means width r = " + std::to_string(width) +
                           " at this dimension: " + to_text(Value(used.rho)) + " was used.");
  }
  for (const double alpha : alphas) {
    const std::size_t samples = samples_of(alpha, dim);
    if (!differs(alpha, ratio_of(samples, dim))) continue;
    result.notes.push_back(
        "alpha = " + to_text(Value(alpha)) + " means n = " + std::to_string(samples) +
        " samples at this dimension: " + to_text(Value(ratio_of(samples, dim))) + " was used.");
  }
}

/// Memory of the command and its libraries, measured.
inline constexpr double program_bytes = 16e6;

/// Memory while a data set is drawn: tokens, their products, scores twice (noise), labels twice
/// (probabilities and logarithms), W and S.
[[nodiscard]] inline double data_bytes(double samples, double tokens, double dim, double width) {
  return program_bytes +
         8.0 * (2.0 * samples * tokens * dim + samples * tokens * (3.0 * tokens + 1.0) +
                dim * width + 2.0 * dim * dim);
}

/// Core-seconds that drawing W and multiplying it with itself takes, measured.
[[nodiscard]] inline double teacher_seconds(double dim, double width) {
  return dim * width * (1e-8 + 5e-11 * dim);
}

/// The largest number of samples of a grid of alphas.
[[nodiscard]] inline double max_samples(const std::vector<double>& alphas, double dim) {
  double most = 1.0;
  for (const double alpha : alphas) most = std::max(most, alpha * dim * dim);
  return most;
}

}  // namespace onset::aim
