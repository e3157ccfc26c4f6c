#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset::smi {

/// These word numbers stand for no word of the vocabulary.
inline constexpr std::int64_t padding_word = 0;
inline constexpr std::int64_t unknown_word = 1;

/// A question as a transformer sees it: the numbers of its words, and that of its class.
struct TextExample {
  std::int64_t label = 0;
  std::vector<std::int64_t> words;
};

/// Questions to learn from and to be tested on.
struct TextCorpus {
  std::int64_t classes = 0;
  std::int64_t words = 0;  ///< how many word numbers there are: the vocabulary, padding, unknown
  std::vector<TextExample> train;
  std::vector<TextExample> test;
};

/// The transformer and its training [smi 80]; the defaults are those of figure 3 (right) of
/// arXiv:2502.00901.
struct TextOptions {
  std::int64_t embedding = 128;     ///< dimension of a word
  std::int64_t layers = 2;          ///< attention layers
  std::int64_t width = 64;          ///< rows of each layer's weights
  double skip = 1.0;                ///< strength of the skip connection
  double weight_scale = 0.1;        ///< initial standard deviation of attention weights
  double embedding_scale = 1.0;     ///< initial standard deviation of the embedding
  double rate = 5e-5;               ///< learning rate of AdamW
  double decay = 0.01;              ///< its weight decay
  std::int64_t batch = 16;          ///< questions of a step
  std::int64_t epochs = 40;         ///< passes over the training questions
  std::int64_t record_every = 100;  ///< steps between rows
  std::int64_t runs = 4;            ///< each with initial weights and an order of its own
  std::uint64_t seed = 1;
};

/// The number of steps of a run.
[[nodiscard]] std::int64_t total_steps(const TextOptions& options, std::size_t training_questions);

/// A moment of a run.
struct TextRow {
  std::int64_t step = 0;
  Estimate loss;                   ///< the training loss since the row before, in nats
  std::int64_t correct = 0;        ///< how many test questions were answered correctly
  std::vector<double> similarity;  ///< of each layer to its final weights; empty until they exist
};

/// One run, as far as it got.
struct TextRun {
  enum class End { none, finished, diverged };
  std::vector<TextRow> rows;
  End end = End::none;
};

}  // namespace onset::smi
