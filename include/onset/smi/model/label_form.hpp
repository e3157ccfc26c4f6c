#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace onset::smi {

/// The form in which labels are observed and filed, where that is not the numbers that describe
/// them: attention matrices, say, instead of the fields behind them.
class LabelForm {
 public:
  virtual ~LabelForm() = default;
  [[nodiscard]] virtual std::vector<std::size_t> shape() const = 0;
  virtual void write(std::span<const double> label, std::span<double> observed) const = 0;
  /// Whether the numbers that describe a label are filed too (H.npy), because its observed form
  /// loses digits of them.
  [[nodiscard]] virtual bool keeps_description() const = 0;
  /// The label of an observed form. What is wrong with it, to follow "the label of sample 3"; empty
  /// when nothing is.
  [[nodiscard]] virtual std::string read(std::span<const double> observed,
                                         std::span<double> label) const = 0;
  /// Takes one label for all that symmetries of the model cannot tell apart, so that filed labels
  /// tell no more than observed ones.
  virtual void choose_representative(std::span<double> label) const = 0;
};

}  // namespace onset::smi
