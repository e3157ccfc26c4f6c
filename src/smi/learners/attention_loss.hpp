#pragma once

#include <span>
#include <vector>

#include "smi/learners/sample_loss.hpp"

namespace onset::smi {

/// The loss of deep attention, summed over the attention matrix, with gradients by reverse
/// differentiation through the layers [smi 49], of any rank, with tokens of any covariance.
class AttentionLoss final : public SampleLoss {
 public:
  /// Throws InvalidArgument for models with noise.
  explicit AttentionLoss(const DeepAttention& model);

  /// `target` is y, tokens^2 numbers; `fields` and `gradient` are laid out as the
  /// model's shape() says.
  double operator()(std::span<const double> target, std::span<const double> fields,
                    std::span<double> gradient) override;

  /// The attention matrix of these fields.
  void predict(std::span<const double> fields, std::span<double> y) override;

 private:
  void forward(std::span<const double> fields);
  /// Goes from the gradient of A_l (in `bar_`) to that of z_l, and adds to the gradient of B_{l-1}.
  void back_through_scores(std::size_t layer, std::span<const double> fields,
                           std::span<double> gradient);

  std::size_t layers_, tokens_;
  double beta_;
  std::vector<std::size_t> first_;  // the first field of every layer, and of one after the last
  std::vector<double> skip_;
  std::vector<double> mixing_;     // B_0 .. B_{L-1}
  std::vector<double> attention_;  // A_1 .. A_L
  std::vector<double> u_;          // u_1 .. u_L
  std::vector<double> bar_;        // the gradient of one A_l
  std::vector<double> mixing_bar_, next_bar_, u_bar_;
};

}  // namespace onset::smi
