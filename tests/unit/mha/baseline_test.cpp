#include <gtest/gtest.h>

#include <algorithm>

#include "mha/baseline/baseline.hpp"
#include "mha/learners/six_phases.hpp"
#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;

TEST(MhaBaseline, OptionsThatMakeNoSenseAreNamed) {
  EXPECT_EQ(onset::testing::wrong_option<BaselineOptions>([](auto& o) { o.starts = 0; }), "starts");
}

TEST(MhaBaseline, LevenbergMarquardtSolvesAGenericLayerAndAdamComesNear) {
  BaselineOptions options;
  options.starts = 2;
  options.adam_steps = 400;
  const auto runs = run_baseline(draw(law_of(2, 5, 2, 2.0), 2000, 15).examples, options, {});
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_LT(std::min(runs[0].residual, runs[1].residual), 1e-9);
  EXPECT_LT(std::min(runs[2].residual, runs[3].residual), 0.3);
}

TEST(MhaBaseline, RefusesWhatTheLearnerRefuses) {
  const BaselineOptions options;
  for (const InstanceLaw& law : {law_of(2, 5, 1, 2.0), law_of(2, 5, 2, 2.0)}) {
    const Examples examples = draw(law, 40, 15).examples;
    const Learned learned = learn(examples, {}, {});
    EXPECT_EQ(learned.verdict, Verdict::refused);
    try {
      (void)run_baseline(examples, options, {});
      ADD_FAILURE() << "not refused";
    } catch (const Refused& refusal) {
      EXPECT_EQ(refusal.what(), learned.reason);
    }
  }
}

}  // namespace
}  // namespace onset::mha
