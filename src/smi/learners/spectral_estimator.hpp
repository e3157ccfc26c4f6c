#pragma once

#include <Eigen/Core>
#include <vector>

#include "onset/core/context.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {

/// Eigenvectors of a spectral matrix on data.
struct SpectralEstimate {
  std::vector<double> eigenvalue;  ///< the largest ones
  /// One per wanted eigenvalue, of unit norm: one row of `dimension` numbers per direction.
  std::vector<std::vector<double>> vectors;
  int products = 0;  ///< with the inputs and their transpose
  bool converged = false;
};

struct SpectralEstimatorOptions {
  int wanted = 1;        ///< eigenvectors
  double gamma = 1.0;    ///< of T = G (gamma + G)^{-1}
  bool is_lamp = false;  ///< linearised message passing instead, whatever gamma is
  std::uint64_t seed = 1;
};

/// The weights of T are cut here from below: those of gamma = 1 are not bounded where E[z z^T | y]
/// is singular.
inline constexpr double least_weight = -20.0;

/// T of one sample [links 34].
[[nodiscard]] Eigen::MatrixXd spectral_weight(const Eigen::MatrixXd& excess, double gamma);

/// Lanczos (Arnoldi for linearised message passing) with products with the inputs only: samples x
/// tokens x dimension x directions operations each. `excess`: G of every sample.
[[nodiscard]] SpectralEstimate spectral_estimate(const Dataset& data,
                                                 const std::vector<Eigen::MatrixXd>& excess,
                                                 const SpectralEstimatorOptions& options,
                                                 const Context& context);

/// T f of every sample, f being its fields under the weights (one row of `dimension` numbers per
/// direction): what the cavity takes away [links 41]. By sample, direction and token.
[[nodiscard]] std::vector<double> weighted_fields(const Dataset& data,
                                                  const std::vector<Eigen::MatrixXd>& excess,
                                                  const std::vector<double>& weights,
                                                  const Context& context);

/// The mean over the eigenvectors of their squared overlap with the given teacher's directions.
[[nodiscard]] double teacher_overlap(const SpectralEstimate& estimate, const Dataset& data,
                                     const std::vector<std::size_t>& directions);

}  // namespace onset::smi
