#include "smi/model/links/staircase_link.hpp"

#include <array>
#include <numbers>

#include "smi/model/links/mixture.hpp"
#include "smi/model/links/sign_links.hpp"

namespace onset::smi {
namespace {

// Fields z_1 this close to 0 are not resolved by a label of order one in double precision; the
// floor keeps the density of such labels finite.
constexpr double unresolved_field = 1e-9;

}  // namespace

double StaircaseLink::posterior(std::span<const double> label, std::span<const double> omega,
                                std::span<const double> variance, std::span<double> mean,
                                std::span<double> second, std::span<double> cross) {
  // These are the moments of (z_2, z_3) for either sign of their product; they follow those of z_1.
  std::array<std::array<double, 3>, 2> part_mean{};
  std::array<std::array<double, 4>, 2> part_second{};
  std::array<double, 2> log_probability{};
  for (std::size_t positive = 0; positive < 2; ++positive) {
    log_probability[positive] = sign_product_posterior(positive == 1, omega.subspan(1), variance[1],
                                                       std::span(part_mean[positive]).subspan(1),
                                                       std::span(part_second[positive]).subspan(1));
  }
  const double log_norm = -0.5 * std::log(2.0 * std::numbers::pi * variance[0]);
  Mixture mixture(mean, second, cross);
  for (const double sign : {1.0, -1.0}) {  // the sign of z_1 z_2 z_3
    if (label[0] < sign) continue;
    const double root = std::fmax(std::sqrt(label[0] - sign), unresolved_field);
    for (const double z : {root, -root}) {
      const std::size_t positive = sign * z > 0.0 ? 1 : 0;
      const double zeta = (z - omega[0]) / std::sqrt(variance[0]);
      part_mean[positive][0] = zeta;
      part_second[positive][0] = zeta * zeta;
      mixture.add(log_norm - 0.5 * zeta * zeta - std::log(2.0 * root) + log_probability[positive],
                  part_mean[positive], part_second[positive],
                  std::array{zeta * part_mean[positive][1], zeta * part_mean[positive][2], 0.0});
    }
  }
  return mixture.finish();
}

}  // namespace onset::smi
