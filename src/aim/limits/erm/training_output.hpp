#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aim/limits/erm/student.hpp"
#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Averages over labels and scores of one sample [aim 81, 82], without the factor 2 alpha of the
/// conjugates.
struct OutputMoments {
  Conjugates hats;           ///< over 2 alpha
  double train = 0.0;        ///< E l(y, h), the loss of a training sample
  double least = 0.0;        ///< E of the minimum of [aim 81]
  double bistable = 0.0;     ///< share of samples with more than one minimum [aim 102]
  double sensitivity = 0.0;  ///< E |dg/dw|_F^2 in scaled scores [aim 101]
};

/// The output side of training: what a loss makes of scores whose law is known. It is computed by
/// several rules, whose differences are its error: rule 0 is a coarse one for derivatives; the
/// others are finer and finer grids, or independent replicates of one size.
class TrainingOutput {
 public:
  virtual ~TrainingOutput() = default;
  [[nodiscard]] virtual std::size_t rules() const = 0;  ///< grids, or 1 + replicates
  [[nodiscard]] virtual bool replicated() const = 0;
  [[nodiscard]] virtual OutputMoments at(const Overlaps& overlaps, std::size_t rule) const = 0;
  /// Error of a new sample whose teacher has Tr S0^2/d plus noise of `label_norm`: squared error of
  /// probabilities, or the share of wrong choices of a hardmax label.
  [[nodiscard]] virtual double test(const Overlaps& overlaps, double label_norm,
                                    std::size_t rule) const = 0;
  /// Loss of a sample at S = zeta S0, which knows nothing of the samples: training cannot end above
  /// any of them [aim 110]. By sums of its own, which do not share the errors of at().
  [[nodiscard]] virtual double multiple_loss(double zeta, std::size_t rule) const = 0;
};

/// Two tokens: grids in the plane or in four dimensions [aim 92, 93].
[[nodiscard]] std::unique_ptr<TrainingOutput> pair_softmax_output(const AttentionIndexed& model,
                                                                  TrainingLoss loss);
[[nodiscard]] std::unique_ptr<TrainingOutput> pair_hardmax_output(const AttentionIndexed& model);
/// Any number of tokens, by scrambled points.
[[nodiscard]] std::unique_ptr<TrainingOutput> sampled_output(const AttentionIndexed& model,
                                                             TrainingLoss loss, std::uint64_t seed);

/// The one of these that fits the model.
[[nodiscard]] std::unique_ptr<TrainingOutput> training_output(const AttentionIndexed& model,
                                                              TrainingLoss loss,
                                                              std::uint64_t seed);

}  // namespace onset::aim
