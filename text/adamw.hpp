#pragma once

#include <cstdint>
#include <vector>

#include "text/transformer.hpp"

namespace onset::text {

/// AdamW (Loshchilov and Hutter 2019) with the usual moments 0.9, 0.999 and 1e-8 [smi 81].
/// LibTorch's own goes through memory a dozen times per step; with the embedding's million numbers
/// that is most of a run, and this takes one pass.
class AdamW {
 public:
  AdamW(std::vector<torch::Tensor> parameters, double rate, double decay);

  void zero_gradients();
  void step();

 private:
  double rate_;
  double decay_;
  std::int64_t steps_ = 0;
  std::vector<torch::Tensor> parameters_;
  std::vector<std::vector<float>> first_;   ///< running means of gradients
  std::vector<std::vector<float>> second_;  ///< and of their squares
};

}  // namespace onset::text
