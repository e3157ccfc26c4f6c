#include "smi/model/attention_model.hpp"

#include <algorithm>
#include <cmath>

#include "smi/model/attention_label.hpp"
#include "smi/model/posterior/device_posterior.hpp"
#include "smi/model/uninformed.hpp"

namespace onset::smi {
namespace {

class AttentionModel final : public SequenceModel {
 public:
  AttentionModel(const DeepAttention& model, device::DeviceKind device)
      : model_(model), shape_(model.shape()), form_(model), device_(device) {}

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
    // The noise changes sign with the field, so that mirrored fields have a mirrored label, which
    // is the same label.
    const double strength = std::copysign(model_.noise, label[0]);
    for (std::size_t k = 0; k < noise.size(); ++k) label[k] += strength * noise[k];
  }
  [[nodiscard]] const LabelForm* label_form() const override { return &form_; }
  [[nodiscard]] std::vector<double> token_root() const override {
    return model_.token_covariance.empty() ? std::vector<double>{} : model_.token_root();
  }
  [[nodiscard]] int prediction_size() const override { return shape_.tokens * shape_.tokens; }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    attention_matrix(model_, fields, out);
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const override {
    return device_ == device::DeviceKind::gpu ? device_posterior(model_, options)
                                              : attention_posterior(model_, options);
  }
  [[nodiscard]] double posterior_seconds(double nodes) const override {
    // These are measured core-seconds per inner node and posterior half.
    constexpr double per_two_token_node = 5e-8;
    constexpr double per_sampled_node = 2.5e-8;  // times layers and tokens^2
    // A last layer of rank two with two tokens is integrated over its orbit.
    constexpr double per_pair_node = 5e-6;
    const double layers = model_.layers, tokens = model_.tokens;
    if (model_.layers == 1) {
      // Of rank two and three orbits are integrated, once.
      constexpr double of_rank[] = {1e-7, 7e-7, 4e-6};
      return tokens * of_rank[std::min(shape_.rank.back(), 3) - 1];
    }
    constexpr double per_space_node = 1e-5;
    if (shape_.rank.back() == 3) return 4.0 * nodes * per_space_node;
    if (model_.plain() && model_.tokens == 2) {
      return 2.0 * nodes * per_two_token_node * (layers - 1.0);
    }
    const bool pair = model_.tokens == 2 && shape_.rank.back() == 2;
    const double noise = model_.noise > 0.0 ? 4.0 : 1.0;
    return 4.0 * nodes *
           (pair ? per_pair_node : per_sampled_node * layers * tokens * tokens * noise);
  }
  [[nodiscard]] std::optional<ChannelAtZero> channel_at_zero(
      const RuleAtZero& rule, const Context& context) const override {
    if (!has_uninformed_rule(model_)) return std::nullopt;
    Uninformed channel =
        uninformed_channel(model_, {.nodes = rule.nodes, .seed = rule.seed}, context);
    ChannelAtZero out;
    // The label does not see the sign of a layer, and so says nothing about its mean.
    out.pull.assign(channel.growth.size(), numerics::Replicates(channel.log_evidence.size(), 0.0));
    out.growth = std::move(channel.growth);
    out.log_evidence = std::move(channel.log_evidence);
    out.relative_bias = std::move(channel.grid_error);
    return out;
  }

 private:
  DeepAttention model_;
  FieldShape shape_;
  AttentionLabel form_;
  device::DeviceKind device_;
};

}  // namespace

std::unique_ptr<SequenceModel> attention_model(const DeepAttention& model,
                                               device::DeviceKind device) {
  model.validate();
  return std::make_unique<AttentionModel>(model, device);
}

}  // namespace onset::smi
