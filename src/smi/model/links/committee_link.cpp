#include "smi/model/links/committee_link.hpp"

#include <array>
#include <numbers>

#include "smi/model/links/mixture.hpp"
#include "smi/model/links/wedge.hpp"

namespace onset::smi {

double CommitteeLink::posterior(std::span<const double> label, std::span<const double> omega,
                                std::span<const double> variance, std::span<double> mean,
                                std::span<double> second, std::span<double> cross) {
  constexpr double pi = std::numbers::pi;
  const double deviation_a = std::sqrt(variance[0]);
  const double deviation_b = std::sqrt(variance[1]);
  // In the plane of zeta the lines a = +-b cross here and make these angles with the axis of a.
  const std::array<double, 2> apex = {-omega[0] / deviation_a, -omega[1] / deviation_b};
  const double edge = std::atan2(deviation_a, deviation_b);
  Mixture mixture(mean, second, cross);
  const auto add = [&](double first, double last) {
    const WedgeMoments wedge = wedge_moments(apex, first, last);
    const std::array<double, 2> squares = {wedge.second[0], wedge.second[2]};
    mixture.add(wedge.log_mass, wedge.mean, squares, {&wedge.second[1], 1});
  };
  if (label[0] > 0.0) {
    add(-edge, edge);
  } else if (label[0] < 0.0) {
    add(pi - edge, pi + edge);
  } else {
    add(edge, pi - edge);
    add(pi + edge, 2.0 * pi - edge);
  }
  return mixture.finish();
}

}  // namespace onset::smi
