#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aim/limits/erm/training.hpp"
#include "aim/model/attention_indexed.hpp"
#include "core/fields.hpp"

/// What requests about training with weight decay have in common.
namespace onset::aim {

/// Tolerances that grids, and sampled losses, meet.
inline constexpr double grid_tolerance = 1e-3;
inline constexpr double sampled_tolerance = 2e-2;
inline constexpr double max_training_decay = 1e9;

/// Loss and penalty, for requests with those members.
template <class Request>
void add_training_fields(Fields<Request>& fields) {
  fields.edit("beta").text =
      "Inverse temperature of softmax labels and of the student's softmax; squared errors and "
      "cross-entropy depend on it.";
  fields
      .add_word(
          "loss", &Request::loss,
          std::vector{TrainingLoss::square, TrainingLoss::fields, TrainingLoss::cross_entropy},
          "Loss of a label: squared error (linear, softmax), squared error of the scores that "
          "a softmax label shows (fields), cross-entropy (softmax, hardmax); square unless "
          "given, cross-entropy with hardmax labels.")
      .add_word(
          "penalty", &Request::penalty, {Penalty::trace, Penalty::nuclear, Penalty::ridge},
          "What the decay multiplies: Tr S of S >= 0 (decay of the weights W of S = W W^T), the "
          "sum of |eigenvalues|, or Tr S^2 of a symmetric S.");
}

/// What `decay` asks for.
struct DecayChoice {
  bool optimal = false;
  std::vector<double> values;
};

/// Reads a grid or `optimal`; throws InvalidArgument naming the option.
[[nodiscard]] DecayChoice decay_choice(const std::string& text);

/// Fills the loss that goes with the channel where none was given.
void settle_loss(const AttentionIndexed& model, std::optional<TrainingLoss>& loss);

/// Training with the option's name in its complaints.
[[nodiscard]] Training checked_training(const AttentionIndexed& model, TrainingLoss loss,
                                        Penalty penalty, std::uint64_t seed);

/// About the core-seconds of one minimum at a given decay, measured.
[[nodiscard]] double training_seconds(const Training& training, const AttentionIndexed& model);

}  // namespace onset::aim
