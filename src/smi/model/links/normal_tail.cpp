#include "smi/model/links/normal_tail.hpp"

#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

const double sqrt_two = std::numbers::sqrt2;
const double sqrt_pi = std::sqrt(std::numbers::pi);

// Beyond this many standard deviations the continued fraction of Mills' ratio has converged to
// rounding within `depth` terms; below it the plain formulas lose at most a digit.
constexpr double far = 5.0;
constexpr int depth = 40;

// F in R(c) = 1 / (c + F): 1/(c + 2/(c + 3/(c + ...))), for c >= far.
double mills_remainder(double c) {
  double tail = c;
  for (int n = depth; n >= 2; --n) tail = c + n / tail;
  return 1.0 / tail;
}

}  // namespace

double mills_ratio(double c) {
  if (c >= far) return 1.0 / (c + mills_remainder(c));
  const double x = c / sqrt_two;
  return sqrt_pi / sqrt_two * std::exp(x * x) * std::erfc(x);
}

double log_normal_cdf(double k) {
  if (k > 0.0) return std::log1p(-0.5 * std::erfc(k / sqrt_two));
  return -0.5 * k * k + std::log(mills_ratio(-k) / (sqrt_two * sqrt_pi));
}

double first_half_moment(double c) {
  if (c < far) return 1.0 - c * mills_ratio(c);
  const double remainder = mills_remainder(c);
  return remainder / (c + remainder);
}

HalfLine half_line(double k) {
  HalfLine out{};
  out.log_mass = log_normal_cdf(k);
  if (k < 0.0) {
    out.mean = 1.0 / mills_ratio(-k);
  } else {
    out.mean = std::exp(-0.5 * k * k - out.log_mass) / (sqrt_two * sqrt_pi);
  }
  out.second = 1.0 - k * out.mean;
  return out;
}

}  // namespace onset::smi
