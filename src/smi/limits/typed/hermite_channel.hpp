#pragma once

#include <Eigen/Core>
#include <vector>

#include "smi/limits/typed/typed_channel.hpp"

namespace onset::smi {

/// Hermite weights of the open directions given labels and the known directions, those of one
/// replicate [links 30]. Lists are over degrees, from 1.
struct HermiteAverages {
  /// C_k over the open directions; its trace is the weight lambda_k^2.
  std::vector<Eigen::MatrixXd> contraction;
  double mass = 0.0;
  /// How far ratios of sums may bias the weights, relative to them.
  double ratio_bias = 0.0;
  /// Bounds on what the rule over labels, common to all replicates, leaves out.
  std::vector<double> rule_error;
};

/// With the known directions known exactly: by integrals over the label where there are none, else
/// by quasi-Monte Carlo.
[[nodiscard]] std::vector<HermiteAverages> hermite_channel(const TypedLink& link,
                                                           const KnownDirections& state,
                                                           int max_degree,
                                                           const TypedChannelOptions& options,
                                                           const Context& context);

/// E|E[y h_k(z_N) | z_U]|^2 over the variance of y, without any transformation of the label: one
/// list of degrees, from 1, for every replicate. Fields further out than the radius of the options
/// are left out.
[[nodiscard]] std::vector<std::vector<double>> plain_label_weights(
    const TypedLink& link, const KnownDirections& state, int max_degree,
    const TypedChannelOptions& options, const Context& context);

}  // namespace onset::smi
