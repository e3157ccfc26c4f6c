#include "onset/numerics/draws.hpp"

#include <cmath>
#include <string>

namespace onset::numerics {
namespace {

constexpr std::size_t block = 1024;

}  // namespace

Draws::Draws(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : normal_stream_(seed, std::string(purpose) + ", normals", index),
      uniform_stream_(seed, std::string(purpose) + ", uniforms", index),
      normals_(block),
      uniforms_(block),
      next_normal_(block),
      next_uniform_(block) {}

void Draws::refill_normals() {
  normal_stream_.normal(normals_);
  next_normal_ = 0;
}

void Draws::refill_uniforms() {
  uniform_stream_.uniform(uniforms_);
  next_uniform_ = 0;
}

double Draws::chi_square(double degrees) {
  if (degrees <= 0.0) return 0.0;
  const double shape = 0.5 * degrees;
  // Shapes below 1 borrow one unit and give it back as a power of a uniform.
  const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double log_u = std::log(uniform());
    if (log_u >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    const double gamma = d * v * (shape < 1.0 ? std::pow(uniform(), 1.0 / shape) : 1.0);
    return 2.0 * gamma;
  }
}

}  // namespace onset::numerics
