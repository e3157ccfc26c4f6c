#include "numerics/zeros.hpp"

#include <gtest/gtest.h>

#include <stop_token>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// A context that listens to `source`.
Context stopped(std::stop_source& source) {
  Context context;
  context.stop = source.get_token();
  return context;
}

TEST(Zeros, AreAsManyAsAskedForWhateverWasThere) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3} << 20}) {
    std::vector<double> out{1.0, 2.0};
    lay_zeros(out, count, {});
    EXPECT_EQ(out, std::vector<double>(count));
  }
}

TEST(Zeros, EndWhereAStopIsRequested) {
  std::stop_source source;
  source.request_stop();
  std::vector<double> out;
  EXPECT_THROW(lay_zeros(out, 1000, stopped(source)), Interrupted);
  EXPECT_TRUE(out.empty());
}

TEST(UntilStopped, EndsSoonAfterAStopIsRequested) {
  std::stop_source source;
  std::size_t done = 0;
  const auto body = [&](std::size_t i) {
    done = i;
    if (i == 10) source.request_stop();
  };
  constexpr std::size_t many = 1 << 20;
  EXPECT_THROW(for_each_until_stopped(many, stopped(source), body), Interrupted);
  EXPECT_LT(done, many / 100);
}

}  // namespace
}  // namespace onset::numerics
