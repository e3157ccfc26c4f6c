#include <cmath>
#include <numbers>

#include "aim/model/channels/hardmax/information.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"

namespace onset::aim {
namespace {

/// Half of the sum over the two signs of c [aim 22], at one pair of arguments.
double integrand(double k1, double k2, double c, double off_scale, bool density) {
  const Orthant o = orthant(k1, k2, c);
  double rate1 = o.rate1;
  double rate2 = o.rate2;
  if (density) {  // [aim 31]
    const double log_density = -(k1 * k1 + k2 * k2 - 2.0 * c * k1 * k2) / (2.0 * (1.0 - c * c));
    const double norm = 2.0 * std::numbers::pi * std::sqrt(1.0 - c * c);
    if (o.probability <= 0.0) return 0.0;
    rate1 = rate2 = std::exp(log_density) / (norm * o.probability);
  }
  const double both = c > 0.0 ? rate1 + rate2 : rate1 - rate2;
  return o.probability * (2.0 * rate1 * rate1 + 2.0 * rate2 * rate2 + off_scale * both * both);
}

}  // namespace

double hardmax_pair_information(double lambda, const PublishedHardmax& published) {
  constexpr double step = 0.14;   // converged to rounding: the error falls like exp(-c/step)
  constexpr double widest = 9.5;  // standard deviations
  const double tau2 = published.off_scale;
  const double scale = std::min(1.0, std::sqrt(lambda));
  const int reach =
      static_cast<int>(std::ceil(std::asinh(widest * std::sqrt(lambda) / scale) / step));
  double total = 0.0;
  for (const double sign : {-1.0, 1.0}) {
    const double c = sign * tau2 / (2.0 + tau2);
    const double narrow = 2.0 * lambda * (1.0 - c * c);
    double sum = 0.0;
    for (int i = -reach; i <= reach; ++i) {
      for (int j = -reach; j <= i; ++j) {  // symmetric in k1, k2
        const double k1 = scale * std::sinh(step * i);
        const double k2 = scale * std::sinh(step * j);
        const double exponent = (k1 * k1 + k2 * k2 - 2.0 * c * k1 * k2) / narrow;
        if (exponent > 0.5 * widest * widest) continue;
        const double weight =
            std::exp(-exponent) * std::cosh(step * i) * std::cosh(step * j) * (i == j ? 1.0 : 2.0);
        sum += weight * integrand(k1, k2, c, tau2, published.density);
      }
    }
    const double density = 1.0 / (2.0 * std::numbers::pi * lambda * std::sqrt(1.0 - c * c));
    total += sum * density * std::pow(step * scale, 2);
  }
  return 2.0 / (2.0 + tau2) * total;
}

}  // namespace onset::aim
