#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "smi/learners/text_job.hpp"

namespace onset::text {

/// Questions of one batch, padded to the longest: words and which of them are there (both
/// questions x tokens), and the classes.
struct Batch {
  torch::Tensor words;
  torch::Tensor present;
  torch::Tensor labels;
};

[[nodiscard]] Batch make_batch(const std::vector<smi::TextExample>& examples,
                               const std::vector<std::size_t>& chosen);

/// Attention layers with tied weights between an embedding and a linear readout [smi 80].
class Transformer {
 public:
  /// Draws the weights from the streams of this run.
  Transformer(const smi::TextOptions& options, const smi::TextCorpus& corpus, std::int64_t run);

  /// Scores of the classes, questions x classes.
  [[nodiscard]] torch::Tensor operator()(const Batch& batch) const;

  [[nodiscard]] std::vector<torch::Tensor> parameters() const;
  /// The attention weights w_l, width x embedding.
  [[nodiscard]] const std::vector<torch::Tensor>& weights() const { return weights_; }

 private:
  double skip_;
  torch::Tensor embedding_;
  std::vector<torch::Tensor> weights_;
  std::vector<torch::Tensor> biases_;
  torch::Tensor readout_;
  torch::Tensor readout_bias_;
};

}  // namespace onset::text
