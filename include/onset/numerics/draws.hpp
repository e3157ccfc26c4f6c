#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "onset/numerics/random.hpp"

namespace onset::numerics {

/// Random numbers one at a time at the price of many: normals and uniforms of a Stream's key are
/// drawn in blocks, from as many streams as a long simulation needs.
class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view purpose, std::uint64_t index);

  [[nodiscard]] double normal() {
    if (next_normal_ == normals_.size()) refill_normals();
    return normals_[next_normal_++];
  }
  [[nodiscard]] double uniform() {
    if (next_uniform_ == uniforms_.size()) refill_uniforms();
    return uniforms_[next_uniform_++];
  }
  /// Chi-square with this many degrees of freedom, any number >= 0 (Marsaglia and Tsang 2000).
  [[nodiscard]] double chi_square(double degrees);

 private:
  void refill_normals();
  void refill_uniforms();

  Stream normal_stream_, uniform_stream_;
  std::vector<double> normals_, uniforms_;
  std::size_t next_normal_, next_uniform_;
};

}  // namespace onset::numerics
