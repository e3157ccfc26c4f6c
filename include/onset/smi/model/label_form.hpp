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
  /// Reads the label from its observed form. Returns what is wrong with it, worded to follow "the
  /// label of sample 3", or nothing if all is well.
  [[nodiscard]] virtual std::string read(std::span<const double> observed,
                                         std::span<double> label) const = 0;
  /// Replaces a label by one representative of all those that the model's symmetries cannot tell
  /// apart, so that filed labels reveal no more than observed ones.
  virtual void choose_representative(std::span<double> label) const = 0;
};

}  // namespace onset::smi
