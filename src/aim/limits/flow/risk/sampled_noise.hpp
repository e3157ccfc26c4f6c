#pragma once

#include <cstdint>

#include "aim/limits/flow/risk.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// v of three tokens and more [aim 68] by quasi-Monte Carlo over the T (T + 1) normals behind the
/// scores of a symmetric student and its teacher. The coarse rule has a quarter of the points and
/// other ones.
class SampledNoise {
 public:
  SampledNoise(const FlowModel& model, Precision precision, std::uint64_t seed)
      : model_(model), precision_(precision), seed_(seed) {}

  [[nodiscard]] GradientNoise at(const ScoreMoments& moments) const {
    return {estimate(moments).value, 0.0};
  }
  /// v, with the scatter of 16 independent sets of points.
  [[nodiscard]] Estimate estimate(const ScoreMoments& moments) const;
  /// From a small error next to the teacher.
  [[nodiscard]] Risk::NoiseGrowth growth() const;

 private:
  FlowModel model_;
  Precision precision_;
  std::uint64_t seed_;
};

}  // namespace onset::aim
