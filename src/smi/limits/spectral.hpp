#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onset/core/estimate.hpp"
#include "smi/limits/spectral_law.hpp"

namespace onset::smi {

/// The family of matrices: weights T = G (gamma + G)^{-1} of the samples [links 34].
struct SpectralMethod {
  enum class Kind {
    gamma,  ///< the given gamma; 1 is the optimal symmetric method
    bulk,   ///< gamma = sqrt(alpha nu), whose bulk ends at 1
    lamp,   ///< linearised message passing, a matrix that is not symmetric
  };
  Kind kind = Kind::gamma;
  double gamma = 1.0;
};

/// Eigenvalues beyond the bulk that are equal, and what their eigenvectors say.
struct Outlier {
  Estimate eigenvalue;
  /// Squared overlap of a unit eigenvector with the span of the teacher's directions, the mean over
  /// the eigenspace.
  Estimate overlap;
  int multiplicity = 1;
  std::vector<std::size_t> teachers;  ///< blocks whose directions they are about
};

/// One block of directions at one sample ratio, in the limit of large dimension.
struct SpectralLimit {
  double gamma = 1.0;
  /// Empty where it is set by the largest labels.
  std::optional<Estimate> edge;
  std::vector<Outlier> outliers;  ///< from the largest on
};

/// nu of every block: the largest eigenvalue of X -> E sum_ab G_ab X G_ba. From alpha = 1/nu on the
/// block's matrix has an outlier.
[[nodiscard]] std::vector<Estimate> spectral_growth(const SpectralLaw& law);

/// Throws Refused where an equation could not be solved.
[[nodiscard]] SpectralLimit spectral_limit(const SpectralLaw& law, std::size_t block, double alpha,
                                           const SpectralMethod& method, const Context& context);

/// The outlier of the symmetric method (gamma = 1) that is about the block's own directions.
struct OwnOutlier {
  /// Theta at 1, the mean over replicates: what the eigenvectors leave unknown [links 41].
  Eigen::MatrixXd theta;
  int multiplicity = 1;
};

/// Nothing where the block has no outlier, or where other blocks have one at 1 or beyond.
[[nodiscard]] std::optional<OwnOutlier> own_outlier(const SpectralLaw& law, std::size_t block,
                                                    double alpha);

}  // namespace onset::smi
