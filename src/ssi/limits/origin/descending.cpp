#include <algorithm>
#include <cmath>
#include <numbers>

#include "onset/ssi/limits/exponent.hpp"

namespace onset::ssi {
namespace {

constexpr int compass = 720;
/// The number of errors that a form must exceed to count, and the size below which it is rounding.
constexpr double errors_of_a_form = 6.0;
constexpr double rounding_of_a_form = 1e-10;

struct Direction {
  double e;
  double m;
};

/// The compass contains the axes and diagonals exactly; the directions in which the Hessian
/// vanishes are added, since a form of higher order decides there.
std::vector<Direction> directions(const OriginExpansion& origin) {
  if (origin.taylor.size() == 1) return {{0.0, 1.0}, {0.0, -1.0}};
  std::vector<Direction> all{{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (int k = 0; k < compass; ++k) {
    if (k % (compass / 4) == 0) continue;
    const double angle = 2.0 * std::numbers::pi * k / compass;
    all.push_back({std::cos(angle), std::sin(angle)});
  }
  const double ee = 2.0 * origin.taylor[2][0].value;
  const double em = origin.taylor[1][1].value;
  const double mm = 2.0 * origin.taylor[0][2].value;
  const double angle = 0.5 * std::atan2(2.0 * em, ee - mm);
  for (const double turn : {0.0, 0.5, 1.0, 1.5}) {
    const double t = angle + turn * std::numbers::pi;
    if (em != 0.0) all.push_back({std::cos(t), std::sin(t)});
  }
  return all;
}

/// The form of order k and the error of its value.
Estimate form(const OriginExpansion& origin, std::size_t k, const Direction& d) {
  Estimate total;
  for (std::size_t j = 0; j < origin.taylor.size() && j <= k; ++j) {
    const double power =
        std::pow(d.e, static_cast<double>(j)) * std::pow(d.m, static_cast<double>(k - j));
    total.value += origin.taylor[j][k - j].value * power;
    total.error += origin.taylor[j][k - j].error * std::abs(power);
  }
  return total;
}

}  // namespace

std::size_t descending_order(const OriginExpansion& origin, bool& certain) {
  std::vector<Direction> open = directions(origin);
  certain = true;
  for (std::size_t k = 1; k <= origin.degree && !open.empty(); ++k) {
    std::vector<Direction> flat;
    for (const Direction& d : open) {
      const Estimate value = form(origin, k, d);
      if (value.value < -(errors_of_a_form * value.error + rounding_of_a_form)) return k;
      if (value.value <= errors_of_a_form * value.error + rounding_of_a_form) {
        flat.push_back(d);
        certain = certain && value.error <= 1e-6;
      }
    }
    open = std::move(flat);
  }
  return 0;
}

}  // namespace onset::ssi
