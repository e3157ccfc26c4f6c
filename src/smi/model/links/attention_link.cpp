#include "smi/model/links/attention_link.hpp"

#include <numbers>
#include <vector>

#include "smi/model/links/mixture.hpp"

namespace onset::smi {

double AttentionLink::posterior(std::span<const double> label, std::span<const double> omega,
                                std::span<const double> variance, std::span<double> mean,
                                std::span<double> second) const {
  const double deviation = std::sqrt(variance[0]);
  const double log_norm = -0.5 * tokens * std::log(2.0 * std::numbers::pi * variance[0]);
  std::vector<double> zeta(omega.size());
  std::vector<double> square(second.size());
  Mixture mixture(mean, second);
  for (const double sign : {1.0, -1.0}) {
    double energy = 0.0;
    for (std::size_t t = 0; t < zeta.size(); ++t) {
      zeta[t] = (sign * label[t] - omega[t]) / deviation;
      energy += 0.5 * zeta[t] * zeta[t];
    }
    outer_triangle(zeta, square);
    mixture.add(log_norm - energy, zeta, square);
  }
  return mixture.finish();
}

}  // namespace onset::smi
