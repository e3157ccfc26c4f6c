#pragma once

#include <cstdint>
#include <memory>

#include "onset/aim/limits/hardmax.hpp"
#include "onset/aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// What one label tells: E_hat = E |E[z | y, omega]|^2, where the scores are omega + sqrt(V (1 +
/// delta_ab)) z with q in omega and V unknown [aim 5]. Then q_hat = 2 alpha E_hat / V.
class Channel {
 public:
  /// Hardmax makes or reads its table here.
  Channel(const AttentionIndexed& model, std::uint64_t seed, const Context& context);

  /// E_hat at overlap q and error V > 0; between 0 and T (T + 1) / 2.
  [[nodiscard]] Estimate information(double q, double v) const;

 private:
  AttentionIndexed model_;
  std::shared_ptr<const HardmaxInformation> hardmax_;
};

}  // namespace onset::aim
