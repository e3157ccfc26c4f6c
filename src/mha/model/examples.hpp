#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/mha/model/inputs.hpp"

namespace onset::mha {

/// Labelled examples: inputs X and outputs Y, row-major, example by example. Entries +-1 of X are
/// kept in one byte each.
struct Examples {
  std::size_t count = 0;
  int tokens = 0;
  int dim = 0;
  std::vector<std::int8_t> x;       ///< count x tokens x dim; empty where inputs are real
  std::vector<double> y;            ///< count x tokens x dim
  std::vector<double> real_x = {};  ///< the same as x for real inputs; empty where they are not

  [[nodiscard]] bool real() const { return !real_x.empty(); }
  [[nodiscard]] Inputs inputs() const { return real() ? Inputs::gaussian : Inputs::boolean; }
  /// Writes the tokens of an example, tokens x dim numbers.
  void copy_input(std::size_t example, double* out) const;

  [[nodiscard]] std::size_t width() const {  ///< entries of one example
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(dim);
  }
};

/// The outputs of a layer on one of the examples, tokens x dim numbers, and on all of them.
void forward_one(const Layer& layer, const Examples& examples, std::size_t example, double* out);
[[nodiscard]] std::vector<double> forward(const Layer& layer, const Examples& examples,
                                          const Context& context);

/// The first example of every orbit under X -> -X and permutations of the tokens, in the order in
/// which they come: F(-X) = -F(X) and F(PX) = P F(X), so the others say nothing new [mha 3]. It
/// costs a sort and needs dim <= max_dim.
[[nodiscard]] std::vector<std::uint32_t> distinct_examples(const Examples& examples);

/// How many orbits of Boolean inputs there are; no sample has more distinct examples. The number is
/// exact up to 2^53.
[[nodiscard]] double distinct_inputs(int tokens, int dim);

/// What examples of one orbit say about the labels: those of a layer without noise agree.
struct Repeats {
  std::size_t count = 0;      ///< examples that repeat an earlier one up to the symmetries
  std::size_t different = 0;  ///< of them, those whose label differs from the first's by more than
                              ///< `rounding` of the labels' size
  double difference = 0.0;    ///< root mean square difference over the labels' size
  std::uint32_t first = 0;    ///< the first that differs
};
[[nodiscard]] Repeats compare_repeats(const Examples& examples, double rounding);

}  // namespace onset::mha
