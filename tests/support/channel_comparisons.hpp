#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/deep_attention.hpp"

/// What tests of the channel compare, replicate by replicate.
namespace onset::smi {

inline DeepAttention deep_attention(int layers, int tokens, std::vector<double> skip) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  model.skip = std::move(skip);
  return model;
}

/// Student t of 31 degrees of freedom (32 replicates) beyond 8: odds of 5e-9, so that some 100
/// comparisons stay below a false alarm of 1e-6.
inline constexpr double far_out = 8.0;

inline void expect_zero(const numerics::Replicates& difference, double bias,
                        const std::string& what) {
  const Estimate e = numerics::reduce(difference);
  EXPECT_NEAR(e.value, 0.0, far_out * e.error + bias) << what;
}

inline numerics::Replicates minus(const numerics::Replicates& a, const numerics::Replicates& b) {
  numerics::Replicates d(a.size());
  for (std::size_t r = 0; r < a.size(); ++r) d[r] = a[r] - b[r];
  return d;
}

inline numerics::Replicates minus(const numerics::Replicates& a, double b) {
  return minus(a, numerics::Replicates(a.size(), b));
}

}  // namespace onset::smi
