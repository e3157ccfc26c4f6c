#pragma once

#include <vector>

#include "aim/verbs/model_options.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {

/// Largest dimension and data set that a learner takes; memory is checked besides.
inline constexpr double max_dim = 20000;

/// Dimension of a simulated problem; `fallback` as people would first try it.
[[nodiscard]] inline Parameter dim_parameter(std::int64_t fallback) {
  return make_parameter("dim", ParameterKind::integer, fallback, 2, max_dim,
                        "Dimension d of a token; n = alpha d^2 samples.");
}

/// The model of a simulation, which needs a width: rho > 0.
[[nodiscard]] inline AttentionIndexed read_simulated_model(const Parameters& p) {
  const AttentionIndexed model = read_model(p);
  if (model.rho == 0.0) {
    throw InvalidArgument("--rho",
                          "0 is a limit without finite size; allowed: above 0 for simulations");
  }
  return model;
}

/// The largest number of samples of a grid of alphas.
[[nodiscard]] inline double most_samples(const std::vector<double>& alphas, double dim) {
  double most = 1.0;
  for (const double alpha : alphas) most = alpha * dim * dim > most ? alpha * dim * dim : most;
  return most;
}

}  // namespace onset::aim
