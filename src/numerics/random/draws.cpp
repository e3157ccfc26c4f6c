#include "numerics/random/draws.hpp"

#include <span>
#include <string>

namespace onset::numerics {
namespace {

constexpr std::size_t block = 1024;

}  // namespace

Draws::Draws(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : normal_stream_(seed, std::string(purpose) + ", normals", index),
      bit_stream_(seed, std::string(purpose) + ", bits", index),
      spare_stream_(seed, std::string(purpose) + ", spare", index),
      normals_(block),
      bits_(block),
      next_normal_(block),
      next_bits_(block) {}

void Draws::refill_normals() {
  normal_stream_.normal(normals_);
  next_normal_ = 0;
}

double Draws::chi_square(const ChiSquare& law) {
  if (next_bits_ == bits_.size()) {
    bit_stream_.bits(bits_);
    next_bits_ = 0;
  }
  const double x = normal();
  double out = 0.0;
  law.sample(std::span(&x, 1), std::span(bits_).subspan(next_bits_++, 1), spare_stream_,
             std::span(&out, 1));
  return out;
}

}  // namespace onset::numerics
