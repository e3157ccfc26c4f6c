#include "text/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "numerics/random/stream.hpp"

namespace onset::text {
namespace {

/// Makes a trained tensor of `scale` times what the stream draws.
template <class Draw>
torch::Tensor drawn(std::int64_t rows, std::int64_t columns, double scale, const Draw& draw) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  draw(values);
  for (double& x : values) x *= scale;
  torch::Tensor tensor = torch::tensor(values).to(torch::kFloat32).reshape({rows, columns});
  return tensor.set_requires_grad(true);
}

torch::Tensor zeros(std::int64_t size) {
  return torch::zeros(size).set_requires_grad(true);
}

}  // namespace

Batch make_batch(const std::vector<smi::TextExample>& examples,
                 const std::vector<std::size_t>& chosen) {
  std::size_t longest = 1;
  for (const std::size_t i : chosen) longest = std::max(longest, examples[i].words.size());
  const auto count = static_cast<std::int64_t>(chosen.size());
  Batch batch;
  batch.words =
      torch::full({count, static_cast<std::int64_t>(longest)}, smi::padding_word, torch::kInt64);
  batch.labels = torch::empty(count, torch::kInt64);
  auto* words = batch.words.data_ptr<std::int64_t>();
  auto* labels = batch.labels.data_ptr<std::int64_t>();
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    const smi::TextExample& example = examples[chosen[row]];
    std::copy(example.words.begin(), example.words.end(), words + row * longest);
    labels[row] = example.label;
  }
  batch.present = batch.words != smi::padding_word;
  return batch;
}

Transformer::Transformer(const smi::TextOptions& options, const smi::TextCorpus& corpus,
                         std::int64_t run)
    : skip_(options.skip) {
  const auto index = static_cast<std::uint64_t>(run);
  const auto normal = [&](const std::string& purpose) {
    return [&options, index, purpose](std::vector<double>& values) {
      numerics::Stream(options.seed, purpose, index).normal(values);
    };
  };
  embedding_ =
      drawn(corpus.words, options.embedding, options.embedding_scale, normal("text embedding"));
  for (std::int64_t l = 0; l < options.layers; ++l) {
    weights_.push_back(drawn(options.width, options.embedding, options.weight_scale,
                             normal("text weights " + std::to_string(l))));
    biases_.push_back(zeros(options.width));
  }
  // The readout starts uniform up to one over the root of the inputs, as linear layers usually do.
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.embedding));
  readout_ = drawn(corpus.classes, options.embedding, bound, [&](std::vector<double>& values) {
    numerics::Stream(options.seed, "text readout", index).uniform(values);
    for (double& x : values) x = 2.0 * x - 1.0;
  });
  readout_bias_ = zeros(corpus.classes);
}

torch::Tensor Transformer::operator()(const Batch& batch) const {
  constexpr double never = -std::numeric_limits<double>::infinity();
  const torch::Tensor absent_keys = batch.present.logical_not().unsqueeze(1);
  torch::Tensor x = torch::embedding(embedding_, batch.words);
  for (std::size_t l = 0; l < weights_.size(); ++l) {
    const torch::Tensor keys = torch::linear(x, weights_[l], biases_[l]);
    const double width = static_cast<double>(keys.size(-1));
    const torch::Tensor scores = keys.matmul(keys.transpose(1, 2)) / std::sqrt(width);
    const torch::Tensor attention = scores.masked_fill(absent_keys, never).softmax(-1);
    x = attention.matmul(x) + skip_ * x;
  }
  const torch::Tensor weight = batch.present.to(torch::kFloat32).unsqueeze(-1);
  const torch::Tensor mean = (x * weight).sum(1) / weight.sum(1);
  return torch::linear(mean, readout_, readout_bias_);
}

std::vector<torch::Tensor> Transformer::parameters() const {
  std::vector<torch::Tensor> all{embedding_, readout_, readout_bias_};
  all.insert(all.end(), weights_.begin(), weights_.end());
  all.insert(all.end(), biases_.begin(), biases_.end());
  return all;
}

}  // namespace onset::text
