#include "numerics/random/chi_square.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/simd/clones.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

constexpr std::uint64_t low_bits = 4095;

/// A candidate is 2 scale (1 + y)^3, y = slope x, accepted with probability exp(scale g(y)) where
/// g(y) = 3 sum_{k >= 4} (-1)^{k+1} y^k / k >= -1.5 y^4 for y > -1/2. Twelve bits of the uniform
/// decide unless it lies within 2^-12 of the bound, where flags[i] = 1. Returns how many those are.
ONSET_CLONES std::uint64_t propose(std::size_t count, const double* normals,
                                   const std::uint64_t* bits, double scale, double slope,
                                   double* out, std::uint64_t* flags) {
  std::uint64_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = slope * normals[i];
    const double v = 1.0 + y;
    const double bound = 1.0 - 1.5 * scale * (y * y) * (y * y);
    const auto k = static_cast<double>(static_cast<std::int32_t>(bits[i] & low_bits));
    const double above = (k + 1.0) * 0x1p-12;
    out[i] = 2.0 * scale * (v * v * v);
    flags[i] = ((y > -0.5) & (above <= bound)) ? 0 : 1;
    open += flags[i];
  }
  return open;
}

}  // namespace

ChiSquare::ChiSquare(double degrees)
    : degrees_(degrees), scale_(0.5 * degrees - 1.0 / 3.0), slope_(1.0 / std::sqrt(9.0 * scale_)) {
  constexpr double most = 1e15;
  if (!(degrees >= 0.0) || degrees > most || degrees != std::floor(degrees)) {
    throw InvalidArgument("degrees", "allowed: a whole number from 0 to 1e15");
  }
}

bool ChiSquare::accepts(double x, double uniform) const {
  const double y = slope_ * x;
  if (y <= -1.0) return false;
  double g = 0.0;
  if (std::abs(y) < 0.05) {
    // We sum the series, since log1p(y) - y + y^2/2 - y^3/3 would cancel.
    double power = y * y * y * y;
    for (int k = 4; k < 16; ++k) {
      g += (k % 2 == 0 ? -3.0 : 3.0) * power / k;
      power *= y;
    }
  } else {
    g = 3.0 * (std::log1p(y) - y + 0.5 * y * y - y * y * y / 3.0);
  }
  return std::log(uniform) < scale_ * g;
}

double ChiSquare::redraw(double x, double uniform, Stream& spare) const {
  while (!accepts(x, uniform)) {
    x = spare.normal();
    uniform = spare.uniform();
  }
  const double v = 1.0 + slope_ * x;
  return 2.0 * scale_ * (v * v * v);
}

void ChiSquare::sample(std::span<const double> normals, std::span<const std::uint64_t> bits,
                       Stream& spare, std::span<double> out) const {
  if (degrees_ < 2.0) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = degrees_ * normals[i] * normals[i];
    return;
  }
  constexpr std::size_t chunk = 128;
  std::uint64_t flags[chunk];
  double given[chunk];  // a copy, since out may be normals
  for (std::size_t first = 0; first < out.size(); first += chunk) {
    const std::size_t count = std::min(chunk, out.size() - first);
    std::copy_n(normals.data() + first, count, given);
    std::uint64_t open =
        propose(count, given, bits.data() + first, scale_, slope_, out.data() + first, flags);
    for (std::size_t i = 0; open > 0; ++i) {
      if (flags[i] == 0) continue;
      --open;
      const auto k = static_cast<double>(bits[first + i] & low_bits);
      const double uniform = (k + spare.uniform()) * 0x1p-12;
      out[first + i] = redraw(given[i], uniform, spare);
    }
  }
}

}  // namespace onset::numerics
