#include "smi/model/links/sign_links.hpp"

#include <array>
#include <bit>

#include "smi/model/links/mixture.hpp"
#include "smi/model/links/normal_tail.hpp"

namespace onset::smi {

double sign_product_posterior(bool positive, std::span<const double> omega, double variance,
                              std::span<double> mean, std::span<double> second) {
  constexpr std::size_t most = 3;
  const std::size_t fields = omega.size();
  const double scale = 1.0 / std::sqrt(variance);
  std::array<std::array<HalfLine, 2>, most> side{};  // per field: negative, positive
  for (std::size_t i = 0; i < fields; ++i) {
    side[i][1] = half_line(omega[i] * scale);
    side[i][0] = half_line(-omega[i] * scale);
    side[i][0].mean = -side[i][0].mean;
  }
  Mixture mixture(mean, second);
  std::array<double, most> pattern_mean{};
  std::array<double, most*(most + 1) / 2> pattern_second{};
  for (unsigned pattern = 0; pattern < (1U << fields); ++pattern) {  // bit i: field i negative
    if ((std::popcount(pattern) % 2 == 0) != positive) continue;
    double log_weight = 0.0;
    for (std::size_t i = 0; i < fields; ++i) {
      const HalfLine& own = side[i][(pattern >> i & 1U) == 0 ? 1 : 0];
      log_weight += own.log_mass;
      pattern_mean[i] = own.mean;
    }
    outer_triangle({pattern_mean.data(), fields}, pattern_second);
    for (std::size_t i = 0; i < fields; ++i) {
      pattern_second[i * (i + 3) / 2] = side[i][(pattern >> i & 1U) == 0 ? 1 : 0].second;
    }
    mixture.add(log_weight, pattern_mean, pattern_second);
  }
  return mixture.finish();
}

}  // namespace onset::smi
