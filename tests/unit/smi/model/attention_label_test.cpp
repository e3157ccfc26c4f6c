#include "smi/model/attention_label.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "numerics/random/stream.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

TEST(AttentionLabel, OfAnyRankIsReadUpToWhatItShows) {
  numerics::Stream stream(3, "attention label test");
  for (const int tokens : {2, 3, 5}) {
    for (const int rank : {1, 2, 3}) {
      DeepAttention model;
      model.layers = 1;
      model.tokens = tokens;
      model.beta = 0.7;
      model.rank = {rank};
      const AttentionLabel form(model);
      const auto m = static_cast<std::size_t>(tokens);
      std::vector<double> u(m * static_cast<std::size_t>(rank)), read(u.size());
      std::vector<double> y(m * m), again(m * m);
      stream.normal(u);
      form.write(u, y);
      ASSERT_EQ(form.read(y, read), "");
      form.write(read, again);
      for (std::size_t k = 0; k < y.size(); ++k) {
        EXPECT_NEAR(again[k], y[k], tolerance::magnified_roundings) << tokens << " " << rank;
      }
    }
  }
}

}  // namespace
}  // namespace onset::smi
