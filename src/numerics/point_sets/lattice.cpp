#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "numerics/point_sets/point_range.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/philox.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

// One generating vector serves all sizes; a smaller size uses the lower bits. All entries are odd.
constexpr std::array<std::uint32_t, max_lattice_dimensions> generators = {
#include "numerics/point_sets/lattice_generators.inc"
};

// 1 - |2x - 1| of a fraction of 2^64, to its upper 63 bits. Adding 1/2 to x flips the upper bit,
// and with that every bit of the result: reflections are exact.
constexpr std::uint64_t tent(std::uint64_t x) {
  return ((x >> 63) != 0 ? ~x : x) << 1;
}

class ShiftedLattice final : public PointSet {
 public:
  ShiftedLattice(int dimensions, std::size_t size, std::uint64_t seed, std::uint64_t replicate)
      : shifts_(static_cast<std::size_t>(dimensions)),
        size_(size),
        unit_shift_(64 - std::countr_zero(size)) {
    Stream(seed, "lattice", replicate).bits(shifts_);
  }

  [[nodiscard]] int dimensions() const override { return static_cast<int>(shifts_.size()); }

  void points(std::size_t first, std::size_t count, std::span<double> out) const override {
    detail::check_point_range(first, count, size_, shifts_.size(), out);
    for (std::size_t d = 0; d < shifts_.size(); ++d) {
      coordinate(d, first, out.subspan(d * count, count));
    }
  }

 private:
  // All numbers are fractions of 2^64, so that sums wrap as they should and nothing is rounded.
  void coordinate(std::size_t d, std::size_t first, std::span<double> out) const {
    constexpr std::size_t chunk = 256;
    std::uint64_t block[chunk];
    for (std::size_t done = 0; done < out.size(); done += chunk) {
      const std::size_t count = std::min(chunk, out.size() - done);
      const std::uint64_t step = unit(generators[d]);
      std::uint64_t x = unit((first + done) * generators[d]) + shifts_[d];
      for (std::size_t i = 0; i < count; ++i, x += step) block[i] = tent(x);
      simd::to_unit_interval(std::span(block, count), out.subspan(done, count));
    }
  }

  // numerator / size, modulo 1. (A lattice of one point has only the shift.)
  [[nodiscard]] std::uint64_t unit(std::uint64_t numerator) const {
    return unit_shift_ == 64 ? 0 : numerator << unit_shift_;
  }

  std::vector<std::uint64_t> shifts_;
  std::size_t size_;
  int unit_shift_;
};

}  // namespace

std::unique_ptr<PointSet> shifted_lattice(int dimensions, std::size_t size, std::uint64_t seed,
                                          std::uint64_t replicate) {
  if (dimensions < 1 || dimensions > max_lattice_dimensions) {
    throw InvalidArgument("dimensions", "is " + std::to_string(dimensions) + "; allowed: 1 to " +
                                            std::to_string(max_lattice_dimensions));
  }
  if (!std::has_single_bit(size) || size > max_lattice_size) {
    throw InvalidArgument("size", "is " + std::to_string(size) +
                                      "; allowed: a power of two up to " +
                                      std::to_string(max_lattice_size));
  }
  return std::make_unique<ShiftedLattice>(dimensions, size, seed, replicate);
}

}  // namespace onset::numerics
