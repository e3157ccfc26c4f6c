#include "numerics/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "onset/core/error.hpp"
#include "support/contexts.hpp"
#include "support/sanitized.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

using testing::with_threads;

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 8, 64}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u}) {
      std::vector<int> runs(count);
      parallel_for(with_threads(threads), count, [&](std::size_t i) { ++runs[i]; });
      EXPECT_EQ(runs, std::vector<int>(count, 1)) << threads;
    }
  }
}

TEST(ParallelFor, CanBeNested) {
  std::vector<std::vector<std::size_t>> values(8, std::vector<std::size_t>(8));
  parallel_for(with_threads(3), 8, [&](std::size_t i) {
    parallel_for(with_threads(2), 8, [&](std::size_t j) { values[i][j] = 8 * i + j; });
  });
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i / 8][i % 8], i);
}

TEST(ParallelFor, RethrowsAnExceptionAfterAllThreadsHaveEnded) {
  for (const int threads : {1, 2, 8}) {
    std::atomic<int> running = 0;
    try {
      parallel_for(with_threads(threads), 1000, [&](std::size_t i) {
        ++running;
        if (i == 10) {
          --running;
          throw std::runtime_error("index 10");
        }
        --running;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "index 10");
      EXPECT_EQ(running, 0);
    }
  }
}

TEST(ParallelFor, ThrowsInterruptedWhenAskedToStop) {
  for (const int threads : {1, 4}) {
    std::stop_source source;
    Context context = with_threads(threads);
    context.stop = source.get_token();
    std::atomic<int> runs = 0;
    const auto body = [&](std::size_t) {
      if (++runs == 20) source.request_stop();
    };
    EXPECT_THROW(parallel_for(context, 100'000, body), Interrupted);
    EXPECT_LT(runs, 1000);
  }
}

TEST(ParallelFor, GoesOnWithTheThreadsThatThereAre) {
  if (testing::sanitized) GTEST_SKIP() << "a sanitizer needs the address space itself";
  // No room for the stack of another thread.
  const auto in_a_small_process = [] {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);
    std::atomic<int> runs = 0;
    parallel_for(with_threads(64), 100, [&](std::size_t) { ++runs; });
    std::_Exit(runs == 100 ? 0 : 1);
  };
  EXPECT_EXIT(in_a_small_process(), ::testing::ExitedWithCode(0), "");
}

TEST(OrderedSum, AddsEverything) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 1.0);
  EXPECT_EQ(ordered_sum(values.data(), values.size()), 500'500.0);
  EXPECT_EQ(ordered_sum(values.data(), 0), 0.0);
  EXPECT_EQ(ordered_sum(values.data(), 1), 1.0);
}

TEST(OrderedSum, LosesLessThanAPlainSum) {
  const std::vector<double> values(1 << 20, 0.1);
  EXPECT_NEAR(ordered_sum(values.data(), values.size()), 0.1 * 0x1p20,
              tolerance::magnified_roundings);
}

}  // namespace
}  // namespace onset::numerics
