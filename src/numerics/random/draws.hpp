#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "numerics/random/chi_square.hpp"
#include "numerics/random/stream.hpp"

namespace onset::numerics {

/// Gives random numbers one at a time at the cost per number of many: they are drawn from streams
/// in blocks.
class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view purpose, std::uint64_t index);

  [[nodiscard]] double normal() {
    if (next_normal_ == normals_.size()) refill_normals();
    return normals_[next_normal_++];
  }
  [[nodiscard]] double chi_square(const ChiSquare& law);

 private:
  void refill_normals();

  Stream normal_stream_, bit_stream_, spare_stream_;
  std::vector<double> normals_;
  std::vector<std::uint64_t> bits_;
  std::size_t next_normal_, next_bits_;
};

}  // namespace onset::numerics
