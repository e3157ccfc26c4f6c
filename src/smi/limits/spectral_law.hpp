#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// What a label says of second moments where nothing is known: G = E[z z^T | y] - I of every block
/// of directions, over direction * tokens + token [links 33]. Between blocks a symmetry makes it 0.
struct LabelExcess {
  double weight = 0.0;
  std::vector<Eigen::MatrixXd> excess;
};

/// The law of G under a rule over labels.
struct SpectralLaw {
  int tokens = 1;
  std::vector<int> rank;           ///< directions of every block
  std::vector<std::string> names;  ///< of the blocks
  /// Copies of a block that are alike, each with a matrix of its own: the rank of an attention
  /// layer.
  std::vector<int> copies;
  /// One list of labels for every replicate of the rule. They are independent, unless there is a
  /// pooled list: then each has the moments of all units but one.
  std::vector<std::vector<LabelExcess>> replicates;
  /// The list with the moments of all units, if there is one: the jackknife tells error and bias.
  std::vector<std::vector<LabelExcess>> pooled;
  /// Independent replicates again with noisier G, from which the bias of functions of G is told;
  /// empty if G is exact.
  std::vector<std::vector<LabelExcess>> noisier;
  /// E|E[z_b | y]|^2: above 0 a linear estimator sees the block too.
  std::vector<Estimate> pull;
  /// A bound on the relative error that all replicates share.
  double rule_error = 0.0;

  /// Whether a linear estimator sees the block, beyond the errors of its pull.
  [[nodiscard]] bool is_pulled(std::size_t block) const;
  /// The lists whose mean is the best there is.
  [[nodiscard]] const std::vector<std::vector<LabelExcess>>& best() const {
    return pooled.empty() ? replicates : pooled;
  }
};

/// Divides by the mass and makes the mean of S = I + G the identity, which it is exactly: outliers
/// at 1 depend on it. S keeps its sign, which no difference from the mean would: a small negative
/// eigenvalue of S makes a pole where Theta is small. Returns how far the mass was from 1.
double normalise(std::vector<LabelExcess>& labels);

/// By integrals over the label, on level lines; of several outputs that are not all discrete, by
/// labels that are drawn.
[[nodiscard]] SpectralLaw spectral_law(const TypedLink& link, std::uint64_t seed,
                                       const Context& context);

/// Roughly how many seconds of one core that takes.
[[nodiscard]] double spectral_law_seconds(const TypedLink& link);

/// The blocks of a typed link: directions that no change of signs tells apart.
[[nodiscard]] std::vector<std::vector<std::size_t>> sign_blocks(const TypedLink& link);

/// Of plain attention of one layer, by an integral over |z|^2.
[[nodiscard]] SpectralLaw one_layer_law(int tokens);

/// Of attention in general: `points` labels per replicate are drawn, and G comes from the model's
/// posterior with this many nodes.
[[nodiscard]] SpectralLaw spectral_law(const SequenceModel& model, std::size_t points, int nodes,
                                       std::uint64_t seed, const Context& context);

/// G of every block for every sample of some data [links 33].
struct SampleExcess {
  std::vector<std::vector<Eigen::MatrixXd>> block;  ///< block[b][sample]
};

/// Of a typed link, from its labels y, one row per output; G is 0 for tokens that the link does not
/// read. Throws Refused for a label that it does not have.
[[nodiscard]] SampleExcess sample_excess(const TypedLink& link, const std::vector<double>& labels,
                                         std::size_t tokens, std::uint64_t seed,
                                         const Context& context);

/// Of another model, from the labels as its datasets have them: one row per number.
[[nodiscard]] SampleExcess sample_excess(const SequenceModel& model,
                                         const std::vector<double>& labels, int nodes,
                                         std::uint64_t seed, const Context& context);

}  // namespace onset::smi
