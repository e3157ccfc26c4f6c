#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#undef philox4x32  // a macro of Random123, and our function

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "unit/numerics/simd_levels.hpp"

namespace onset::numerics {
namespace {

using Block = std::array<std::uint32_t, 4>;

std::vector<double> normals(std::size_t count) {
  std::vector<double> x(count);
  Stream(7, "test", 3).normal(x);
  return x;
}

TEST(Philox, ReproducesThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, AgreesWithRandom123OnManyCounters) {
  Stream stream(3, "philox-test");
  for (int trial = 0; trial < 1000; ++trial) {
    std::array<std::uint64_t, 3> bits;
    stream.bits(bits);
    Block counter;
    std::array<std::uint32_t, 2> key;
    for (std::size_t i = 0; i < 2; ++i) {
      counter[2 * i] = static_cast<std::uint32_t>(bits[i]);
      counter[2 * i + 1] = static_cast<std::uint32_t>(bits[i] >> 32);
      key[i] = static_cast<std::uint32_t>(bits[2] >> (32 * i));
    }
    const auto expected =
        r123::Philox4x32()({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
    const Block block = philox4x32(counter, key);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(block[i], expected[i]);
  }
}

TEST(Stream, DrawsAreTheDocumentedBlocks) {
  // FNV-1a of "a" is 0xE40C292C.
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint64_t index = 0xfedcba9876543210;
  testing::at_every_simd_level([&](const std::string& level) {
    SCOPED_TRACE(level);
    std::vector<std::uint64_t> bits(100);
    Stream(seed, "a", index).bits(bits);
    for (std::uint32_t block = 0; block < 50; ++block) {
      const Block words =
          philox4x32({block, 0xE40C292C, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567});
      EXPECT_EQ(bits[2 * block], words[0] | (std::uint64_t{words[1]} << 32));
      EXPECT_EQ(bits[2 * block + 1], words[2] | (std::uint64_t{words[3]} << 32));
    }
  });
}

TEST(Stream, BulkOneAtATimeAndSeekGiveTheSameNumbers) {
  const std::vector<double> bulk = normals(1000);
  Stream single(7, "test", 3);
  for (const double expected : bulk) EXPECT_EQ(single.normal(), expected);
  for (const std::uint64_t draw : {0u, 1u, 2u, 511u, 512u, 999u}) {
    Stream seeking(7, "test", 3);
    seeking.seek(draw);
    EXPECT_EQ(seeking.normal(), bulk[draw]) << draw;
  }
  // Pieces of odd sizes, so that blocks are cut in half.
  Stream pieces(7, "test", 3);
  std::size_t done = 0;
  for (const std::size_t size : {1u, 3u, 7u, 255u, 1u, 300u, 433u}) {
    std::vector<double> piece(size);
    pieces.normal(piece);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(piece[i], bulk[done + i]);
    done += size;
  }
}

TEST(Stream, UniformsAreOddMultiplesOfTwoToTheMinus53) {
  std::vector<double> u(10'000);
  Stream(1, "uniform").uniform(u);
  for (const double value : u) {
    const double scaled = std::ldexp(value, 53);
    EXPECT_EQ(std::fmod(scaled, 2.0), 1.0);
    EXPECT_GT(value, 0.0);
    EXPECT_LT(value, 1.0);
  }
}

TEST(Stream, SeedPurposeAndIndexAllChangeTheNumbers) {
  const double base = Stream(1, "a", 0).uniform();
  EXPECT_NE(base, Stream(2, "a", 0).uniform());
  EXPECT_NE(base, Stream(std::uint64_t{1} << 40, "a", 0).uniform());
  EXPECT_NE(base, Stream(1, "b", 0).uniform());
  EXPECT_NE(base, Stream(1, "a", 1).uniform());
  EXPECT_NE(base, Stream(1, "a", std::uint64_t{1} << 40).uniform());
}

TEST(Stream, NormalsHaveTheMomentsOfANormal) {
  // 2^20 draws; five standard errors, so a false alarm (for a fresh seed) has odds of about 1e-6.
  const std::vector<double> x = normals(1 << 20);
  double moments[5] = {};
  for (const double value : x) {
    double power = 1.0;
    for (double& moment : moments) moment += (power *= value) / static_cast<double>(x.size());
  }
  const double expected[5] = {0.0, 1.0, 0.0, 3.0, 0.0};
  const double variance[5] = {1.0, 2.0, 15.0, 96.0, 945.0};
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(moments[k], expected[k], 5.0 * std::sqrt(variance[k] / 0x1p20)) << k + 1;
  }
}

TEST(Stream, RefusesToDrawPastItsEnd) {
  Stream stream(1, "end");
  stream.seek((std::uint64_t{1} << 33) - 1);
  EXPECT_NO_THROW((void)stream.bits());
  EXPECT_THROW((void)stream.bits(), InvalidArgument);
}

TEST(Stream, NormalsArePinnedAndTheSameOnEverySimdLevel) {
  const double expected[16] = {
      0x1.1e2eb8e161feep+0,  -0x1.25e697e1e0b9fp+0, -0x1.f4cff47d60034p-1, 0x1.7873c421c6782p-2,
      -0x1.b0b6fc66effe4p-3, -0x1.0923cf0293b8bp+0, 0x1.385c9b1f48cc7p+1,  -0x1.9d4d259ee18b9p-1,
      -0x1.46eac27486b0cp+0, -0x1.8687161d79b3cp-2, -0x1.827c737bc589fp-3, 0x1.bb85aec9dc68p+0,
      -0x1.205e0d67f3cfcp-1, -0x1.76d98201cef85p-1, 0x1.404e493e113f3p-1,  0x1.3acb230732ef2p+0};
  testing::at_every_simd_level([&](const std::string& level) {
    const std::vector<double> x = normals(16);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(x[i], expected[i]) << level << " " << i;
  });
}

}  // namespace
}  // namespace onset::numerics
