#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace onset::text {

/// Numbers that are trained, and the gradient of the loss with respect to them.
struct Trained {
  std::span<float> values;
  std::span<const float> gradient;
};

/// AdamW (Loshchilov and Hutter 2019) with the usual moments 0.9, 0.999 and 1e-8 [smi 81].
/// LibTorch's own goes through memory a dozen times per step, which with the embedding's million
/// numbers is half of a run; this takes one pass.
class AdamW {
 public:
  AdamW(double rate, double decay) : rate_(rate), decay_(decay) {}

  /// Every step must get the same numbers in the same order.
  void step(std::span<const Trained> all);

 private:
  /// Running means of the gradient and of its square.
  struct Moments {
    std::vector<float> first;
    std::vector<float> second;
  };

  double rate_;
  double decay_;
  std::int64_t steps_ = 0;
  std::vector<Moments> moments_;
};

}  // namespace onset::text
