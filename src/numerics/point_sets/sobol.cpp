#include "numerics/point_sets/sobol.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/random/sobol.hpp>
#include <string>

#include "numerics/point_sets/point_range.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/philox.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

// The number of digits of a coordinate, most significant first in a 64-bit word; a point in (0, 1)
// keeps no more.
constexpr int digits = 52;
constexpr std::size_t max_block_bits = 8;
constexpr std::size_t max_block = std::size_t{1} << max_block_bits;

// One word per digit of the point's number.
using Directions = std::array<std::uint64_t, digits>;

// Boost has the Joe-Kuo tables but gives only points, in Gray-code order and without the first one
// (zero). Its point number 2^(r+1) - 2 belongs to the Gray code 2^r: it is direction r itself.
std::vector<Directions> read_directions() {
  boost::random::sobol engine(max_sobol_dimensions);
  std::vector<Directions> directions(max_sobol_dimensions);
  for (std::size_t r = 0; r < digits; ++r) {
    engine.seed((std::uint64_t{2} << r) - 2);
    for (Directions& direction : directions) direction[r] = engine();
  }
  return directions;
}

const std::vector<Directions>& sobol_directions() {
  static const std::vector<Directions> directions = read_directions();
  return directions;
}

// A lower-triangular random matrix over {0, 1} with a unit diagonal, column by column.
Directions random_columns(std::span<const std::uint64_t> bits) {
  Directions columns;
  for (std::size_t j = 0; j < digits; ++j) {
    const std::uint64_t diagonal = std::uint64_t{1} << (63 - j);
    columns[j] = diagonal | (bits[j] & (diagonal - 1));
  }
  return columns;
}

std::uint64_t product(const Directions& columns, std::uint64_t vector) {
  std::uint64_t result = 0;
  for (std::uint64_t rest = vector; rest != 0;) {
    const auto j = static_cast<std::size_t>(std::countl_zero(rest));
    if (j >= digits) break;
    result ^= columns[j];
    rest &= ~(std::uint64_t{1} << (63 - j));
  }
  return result;
}

class ScrambledSobol final : public PointSet {
 public:
  // Each dimension draws the same number of words, so that a coordinate does not depend on how many
  // there are.
  ScrambledSobol(int dimensions, std::uint64_t seed, std::uint64_t replicate, int index_bits)
      : directions_(static_cast<std::size_t>(dimensions)),
        shifts_(directions_.size()),
        size_(std::size_t{1} << index_bits) {
    Stream stream(seed, "sobol", replicate);
    std::array<std::uint64_t, digits + 2> bits;
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      stream.bits(bits);
      const Directions columns = random_columns(bits);
      shifts_[d] = bits[digits];
      for (std::size_t r = 0; r < static_cast<std::size_t>(index_bits); ++r) {
        directions_[d][r] = product(columns, sobol_directions()[d][r]);
      }
    }
  }

  [[nodiscard]] int dimensions() const override { return static_cast<int>(directions_.size()); }

  void points(std::size_t first, std::size_t count, std::span<double> out) const override {
    detail::check_point_range(first, count, size_, directions_.size(), out);
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      coordinate(d, first, out.subspan(d * count, count));
    }
  }

 private:
  // The range is cut into aligned blocks of a power of two, within which doubling replaces a sum
  // per point.
  void coordinate(std::size_t d, std::size_t first, std::span<double> out) const {
    std::uint64_t block[max_block];
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t index = first + done;
      std::size_t bits =
          std::min(max_block_bits, static_cast<std::size_t>(std::countr_zero(index)));
      while ((std::size_t{1} << bits) > out.size() - done) --bits;
      block[0] = point(d, index);
      for (std::size_t b = 0; b < bits; ++b) {
        const std::size_t size = std::size_t{1} << b;
        for (std::size_t k = 0; k < size; ++k) block[size + k] = block[k] ^ directions_[d][b];
      }
      const std::size_t size = std::size_t{1} << bits;
      simd::to_unit_interval(std::span(block, size), out.subspan(done, size));
      done += size;
    }
  }

  [[nodiscard]] std::uint64_t point(std::size_t d, std::size_t index) const {
    std::uint64_t value = shifts_[d];
    for (std::size_t rest = index; rest != 0; rest &= rest - 1) {
      value ^= directions_[d][static_cast<std::size_t>(std::countr_zero(rest))];
    }
    return value;
  }

  std::vector<Directions> directions_;
  std::vector<std::uint64_t> shifts_;
  std::size_t size_;
};

}  // namespace

std::unique_ptr<PointSet> scrambled_sobol_prefix(int dimensions, std::uint64_t seed,
                                                 std::uint64_t replicate, int index_bits) {
  if (dimensions < 1 || dimensions > max_sobol_dimensions) {
    throw InvalidArgument("dimensions", "is " + std::to_string(dimensions) + "; allowed: 1 to " +
                                            std::to_string(max_sobol_dimensions));
  }
  return std::make_unique<ScrambledSobol>(dimensions, seed, replicate,
                                          std::clamp(index_bits, 0, digits));
}

std::unique_ptr<PointSet> scrambled_sobol(int dimensions, std::uint64_t seed,
                                          std::uint64_t replicate) {
  return scrambled_sobol_prefix(dimensions, seed, replicate, digits);
}

}  // namespace onset::numerics
