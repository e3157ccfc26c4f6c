#include "onset/smi/model/attention_model.hpp"

#include <cmath>

namespace onset::smi {
namespace {

class AttentionModel final : public SequenceModel {
 public:
  explicit AttentionModel(const DeepAttention& model) : model_(model), shape_(model.shape()) {}

  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override {
    return static_cast<int>(shape_.size(shape_.blocks() - 1));
  }
  [[nodiscard]] int noise_size() const override { return model_.noise > 0.0 ? label_size() : 0; }
  /// u_L is fixed up to a rotation of its directions [smi 21]; with as many directions as tokens
  /// the scores' common constant is not fixed either [smi 36].
  [[nodiscard]] double constraints() const override {
    if (model_.noise > 0.0) return 0.0;
    const int rank = shape_.rank.back();
    const int tokens = shape_.tokens;
    return tokens > rank ? tokens * rank - rank * (rank - 1) / 2 : tokens * (tokens + 1) / 2 - 1;
  }
  [[nodiscard]] bool even(std::size_t) const override { return true; }
  void label(std::span<const double> fields, std::span<const double> noise,
             std::span<double> label) const override {
    label_field(model_, fields, label);
    // The noise turns with the field, so that mirrored fields have a mirrored label: the same one.
    const double strength = std::copysign(model_.noise, label[0]);
    for (std::size_t k = 0; k < noise.size(); ++k) label[k] += strength * noise[k];
  }
  [[nodiscard]] int prediction_size() const override { return shape_.tokens * shape_.tokens; }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    attention_matrix(model_, fields, out);
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const override {
    return attention_posterior(model_, options);
  }

 private:
  DeepAttention model_;
  FieldShape shape_;
};

}  // namespace

std::unique_ptr<SequenceModel> attention_model(const DeepAttention& model) {
  model.validate();
  return std::make_unique<AttentionModel>(model);
}

}  // namespace onset::smi
