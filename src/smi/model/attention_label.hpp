#pragma once

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/label_form.hpp"

namespace onset::smi {

/// Why a matrix of tokens x tokens numbers is no attention matrix, or does not show its scores;
/// empty where it does.
[[nodiscard]] std::string attention_fault(std::span<const double> matrix, std::size_t tokens);

/// The attention matrix of the last layer, as which a label u (rank x tokens) is observed. It fixes
/// u up to a rotation of the directions, which at rank one is a sign, though it loses digits where
/// entries are near 0 or 1 [smi 4, 99]; with as many directions as tokens the part that it does not
/// show is read as 0.
class AttentionLabel final : public LabelForm {
 public:
  explicit AttentionLabel(const DeepAttention& model);
  [[nodiscard]] std::vector<std::size_t> shape() const override { return {tokens_, tokens_}; }
  void write(std::span<const double> label, std::span<double> observed) const override;
  [[nodiscard]] bool keeps_description() const override { return last_.rank_of(0) == 1; }
  [[nodiscard]] std::string read(std::span<const double> observed,
                                 std::span<double> label) const override;
  void choose_representative(std::span<double> label) const override;

 private:
  DeepAttention last_;  ///< the last layer alone
  std::size_t tokens_;
};

}  // namespace onset::smi
