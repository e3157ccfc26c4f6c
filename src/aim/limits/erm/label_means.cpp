#include "aim/limits/erm/label_means.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "onset/numerics/hermite.hpp"

namespace onset::aim {
namespace {

/// Step in units of the normal or of the softmax, whichever is narrower: poles at a distance of pi
/// leave an error of exp(-4 pi^2).
constexpr double means_step = 0.5;
/// Where the normal, and sech^2, are below rounding.
constexpr double normal_reach = 8.5;
constexpr double slope_reach = 40.0;
/// Terms of the series in the correlation, of which only odd ones are not 0: 3^-37 is rounding.
constexpr std::size_t means_terms = 37;
constexpr double token_correlation = 1.0 / 3.0;

}  // namespace

LabelMeans label_means(double deviation) {
  const double step = means_step / std::max(1.0, deviation);
  const bool whole = deviation * normal_reach <= slope_reach;
  const double reach = whole ? normal_reach : slope_reach / deviation;
  LabelMeans means;
  std::array<double, means_terms> polynomials{};
  std::array<double, means_terms> coefficients{};  // E dt/dz h_k(z), tau = deviation z
  const int last = static_cast<int>(reach / step);
  for (int i = -last; i <= last; ++i) {
    const double z = i * step;
    const double weight = step * std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
    const double root = 1.0 / std::cosh(0.5 * deviation * z);
    const double label = std::tanh(0.5 * deviation * z);
    means.slope += weight * root * root;
    means.square += weight * label * label;
    numerics::hermite_polynomials(z, polynomials);
    for (std::size_t k = 0; k < means_terms; k += 2) {
      coefficients[k] += weight * 0.5 * deviation * root * root * polynomials[k];
    }
  }
  // Nodes that end where sech^2 does leave out nearly all of the squares.
  if (!whole) means.square = 1.0 - means.slope;
  double power = token_correlation;
  for (std::size_t k = 0; k < means_terms; k += 2) {
    means.product += power * coefficients[k] * coefficients[k] / static_cast<double>(k + 1);
    power *= token_correlation * token_correlation;
  }
  return means;
}

}  // namespace onset::aim
