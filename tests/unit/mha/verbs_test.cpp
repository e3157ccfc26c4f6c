#include "mha/verbs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "onset/mha.hpp"
#include "support/complaint.hpp"

namespace onset::mha {
namespace {

const Verb& verb_named(const std::vector<Verb>& list, const std::string& name) {
  for (const Verb& verb : list) {
    if (verb.name == name) return verb;
  }
  throw std::logic_error("no verb " + name);
}

TEST(MhaVerbs, ARequestGivesTheCommandsRows) {
  const auto list = verbs();
  const Verb& trial = verb_named(list, "trial");
  const Result command = run(trial,
                             trial.settle({{"heads", std::int64_t{1}},
                                           {"dim", std::int64_t{5}},
                                           {"samples", std::int64_t{1500}},
                                           {"seed", std::int64_t{3}}}),
                             {});
  const Result direct = Trial{.heads = 1, .dim = 5, .samples = 1500, .seed = 3}.run();
  ASSERT_EQ(command.table.rows().size(), direct.table.rows().size());
  for (std::size_t row = 0; row < direct.table.rows().size(); ++row) {
    for (const char* column : {"phase", "projection_error", "hull_error", "score", "residual"}) {
      const double number = direct.table.number(row, column);
      if (std::isnan(number)) continue;
      EXPECT_EQ(command.table.number(row, column), number) << column;
    }
  }
}

TEST(MhaVerbs, EffectiveParametersSettleToThemselves) {
  const auto list = verbs();
  for (const auto& [name, given] :
       {std::pair<std::string, std::map<std::string, Value>>{"generate", {}},
        {"trial", {{"degenerate", std::string("cancelling")}}},
        {"trial", {{"degenerate", std::string("proportional")}, {"degree", 0.5}}}}) {
    const Verb& verb = verb_named(list, name);
    const Call once = verb.settle(given);
    EXPECT_EQ(verb.settle(once.parameters.values()).parameters.values(), once.parameters.values());
  }
}

TEST(MhaVerbs, GenerateGivesTheArraysThatItDescribes) {
  const Result result = Generate{.heads = 3, .dim = 6, .tokens = 2, .samples = 50}.run();
  ASSERT_EQ(result.artifacts.size(), 4U);
  const Array& x = std::get<Array>(result.artifacts[0].content);
  EXPECT_EQ(x.shape, (std::vector<std::size_t>{50, 2, 6}));
  EXPECT_EQ(std::get<std::string>(result.table.at(0, "type")), "int8");
  EXPECT_EQ(std::get<std::string>(result.table.at(2, "file")), "truth/theta.npy");
  EXPECT_EQ(std::get<std::string>(result.table.at(2, "shape")), "3 x 6 x 6");
}

TEST(MhaVerbs, GaussianExamplesAreReals) {
  const Result result = Generate{.dim = 4, .samples = 50, .inputs = Inputs::gaussian}.run();
  EXPECT_EQ(std::get<std::string>(result.table.at(0, "type")), "float64");
}

TEST(MhaVerbs, CompareLetsEveryMethodTry) {
  const Result result =
      Compare{.dim = 5, .scale = 2.0, .samples = 2000, .starts = 3, .adam_steps = 20}.run();
  ASSERT_EQ(result.table.rows().size(), 3U);
  EXPECT_EQ(std::get<std::string>(result.table.at(1, "method")), "lm");
  EXPECT_GE(result.table.number(1, "solved"), 1.0);
  const double spent = result.table.number(1, "evaluations");
  EXPECT_DOUBLE_EQ(result.table.number(1, "evaluations_needed"),
                   spent / result.table.number(1, "solved"));
  EXPECT_EQ(result.table.number(2, "solved"), 0.0);  // twenty steps are too few for anything
  EXPECT_TRUE(std::isnan(result.table.number(2, "evaluations_needed")));
  EXPECT_EQ(std::get<std::string>(result.table.at(2, "verdict")), "failed");
  EXPECT_GT(result.table.number(0, "evaluations"), 0.0);
}

TEST(MhaVerbs, CompareSaysThatAParityIsRefused) {
  const Result result = Compare{.heads = 4,
                                .samples = 3000,
                                .degenerate = Degeneracy::parity,
                                .starts = 1,
                                .lm_steps = 3,
                                .adam_steps = 0}
                            .run();
  ASSERT_EQ(result.table.rows().size(), 2U);
  EXPECT_EQ(std::get<std::string>(result.table.at(0, "verdict")), "refused");
}

TEST(MhaVerbs, WhatDoesNotGoTogetherIsNamedBeforeAnythingRuns) {
  using onset::testing::complaint;
  EXPECT_NE(complaint([] { (void)Trial{.degree = 0.5}.settle(); }).find("degree: has no effect"),
            std::string::npos);
  EXPECT_NE(complaint([] {
              (void)Trial{.heads = 3, .degenerate = Degeneracy::parity}.settle();
            }).find("heads: a parity needs"),
            std::string::npos);
  EXPECT_NE(complaint([] { (void)Learn{}.settle(); }).find("examples: required"),
            std::string::npos);
  EXPECT_THROW((void)Learn{.examples = "no/such/folder"}.settle(), IoError);
}

TEST(MhaVerbs, AStoppedTrialKeepsThePhasesThatItFinished) {
  std::stop_source source;
  Context context;
  context.stop = source.get_token();
  context.progress = [&source](double, std::string_view what) {
    if (what == "sculpting") source.request_stop();
  };
  const Result result = Trial{.dim = 6, .samples = 2000}.run(context);
  EXPECT_EQ(result.status, ResultStatus::interrupted);
  EXPECT_EQ(result.table.rows().size(), 2U);
}

}  // namespace
}  // namespace onset::mha
