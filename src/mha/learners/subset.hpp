#pragma once

#include <cstdint>
#include <vector>

#include "mha/linear_algebra/dense.hpp"
#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"

namespace onset::mha {

/// Some of the examples, at which a phase may look. The examples themselves are not copied.
struct Subset {
  const Examples* examples = nullptr;
  std::vector<std::uint32_t> index;  ///< which examples, in increasing order

  [[nodiscard]] std::size_t size() const { return index.size(); }
  [[nodiscard]] std::size_t tokens() const { return static_cast<std::size_t>(examples->tokens); }
  [[nodiscard]] std::size_t dim() const { return static_cast<std::size_t>(examples->dim); }
  /// The number of queries: every example gives one row per token.
  [[nodiscard]] std::size_t rows() const { return size() * tokens(); }
  /// Writes the tokens of an example, tokens x dim numbers.
  void copy_input(std::size_t n, double* out) const { examples->copy_input(index[n], out); }
  [[nodiscard]] const double* y(std::size_t n) const {
    return examples->y.data() + index[n] * examples->width();
  }
};

/// The number of examples per unit of parallel work; it is fixed, so that sums do not depend on
/// threads.
inline constexpr std::size_t subset_chunk = 1024;

[[nodiscard]] inline std::size_t chunks_of(const Subset& sample) {
  return (sample.size() + subset_chunk - 1) / subset_chunk;
}

/// The tokens of examples [begin, end), one per row.
[[nodiscard]] Matrix tokens_of(const Subset& sample, std::size_t begin, std::size_t end);
/// Their labels, likewise.
[[nodiscard]] Matrix labels_of(const Subset& sample, std::size_t begin, std::size_t end);

/// The first `count` of a sample's examples, or all.
[[nodiscard]] Subset head_of(const Subset& sample, std::size_t count);

/// The binary exponent of the largest label, or 0 where that label is near 1 and labels are taken
/// as they are. Labels are scaled since linear programs have absolute tolerances, and squares may
/// leave the range of doubles.
[[nodiscard]] int label_exponent(const Examples& examples);
/// Multiplies by a power of two, which is exact.
void scale(std::vector<double>& values, int exponent);
[[nodiscard]] Examples scaled_labels(const Examples& examples, int exponent);

/// Root mean square of the labels' coordinates.
[[nodiscard]] double label_size(const Subset& sample);

}  // namespace onset::mha
