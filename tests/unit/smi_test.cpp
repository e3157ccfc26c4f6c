#include "onset/smi.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

using Given = std::map<std::string, Value>;

/// Requests of every verb, engine and kind of rows that need no files.
std::vector<std::pair<std::string, Given>> requests() {
  const std::string ratio = "0.5";
  return {{"thresholds", {}},
          {"thresholds", {{"link", std::string("square")}}},
          {"curve", {{"alpha", ratio}, {"hold-layer", std::int64_t{1}}}},
          {"evolution", {{"alpha", ratio}}},
          {"potential", {{"alpha", ratio}, {"path", std::string("one")}}},
          {"generate", {{"alpha", 0.5}}},
          {"amp", {{"alpha", ratio}}},
          {"amp", {{"alpha", ratio}, {"link", std::string("square")}}},
          {"amp", {{"alpha", ratio}, {"tokens", std::int64_t{3}}, {"rank", std::string("2")}}},
          {"sgd", {}},
          {"sgd", {{"engine", std::string("chain")}, {"level", 0.5}, {"tol", 0.1}}},
          {"sgd", {{"rank", std::string("2")}, {"token-correlation", std::string("0.3")}}},
          {"thresholds", {{"layers", std::int64_t{1}}, {"weights", std::string("untied")}}},
          {"sgd", {{"link", std::string("z1^2")}, {"noise", 0.5}}},
          {"sgd", {{"engine", std::string("flow")}}}};
}

TEST(SmiRequests, WhatSettlingFillsSettlesToItself) {
  for (const auto& [name, given] : requests()) {
    const Verb& verb = find_verb("smi", name);
    const Call once = verb.settle(given);
    const Call twice = verb.settle(once.parameters.values());
    EXPECT_EQ(once.parameters.values(), twice.parameters.values()) << name;
    EXPECT_EQ(once.cost.core_seconds, twice.cost.core_seconds) << name;
  }
}

TEST(SmiRequests, AStructGivesTheRowsOfTheCommand) {
  const Verb& verb = find_verb("smi", "sgd");
  const Call call = verb.settle({{"engine", std::string("chain")},
                                 {"dim", std::int64_t{30}},
                                 {"time", 2.0},
                                 {"records", std::int64_t{2}}});
  const Result command = onset::run(verb, call, {});
  const Result direct = Sgd{.engine = SgdEngine::chain, .dim = 30, .time = 2.0, .records = 2}.run();
  ASSERT_EQ(command.table.rows().size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(command.table.number(row, "cos2"), direct.table.number(row, "cos2"));
  }
}

TEST(SmiRequests, ASingleRunOfSgdHasNoErrorAndItsLimitHasOne) {
  const Sgd chain{.engine = SgdEngine::chain, .dim = 30, .time = 1.0, .records = 1};
  EXPECT_TRUE(std::isnan(chain.run().table.error(1, "cos1")));
  const Sgd flow{.engine = SgdEngine::flow, .dim = 1000, .time = 1.0, .records = 1};
  const double error = flow.run().table.error(1, "cos1");
  EXPECT_TRUE(error > 0.0 && error < 0.1) << error;
}

TEST(SmiRequests, NoiseIsAddedToLabelsOfNamedLinksTypedLinksAndNothingElse) {
  Sgd request{.link = "square",
              .engine = SgdEngine::chain,
              .dim = 60,
              .rate = 0.02,
              .time = 5.0,
              .records = 2};
  const auto summary = [](const Result& result, const std::string& name) {
    for (const auto& [key, value] : result.summary) {
      if (key == name) return std::get<Estimate>(value).value;
    }
    return std::nan("");
  };
  const Result exact = request.run();
  EXPECT_TRUE(std::isnan(summary(exact, "noisy_loss")));
  request.noise = 2.0;
  const Result noisy = request.run();
  // The labels' noise has variance 4; a mean of 256 squares of it scatters by 0.35.
  EXPECT_GT(summary(noisy, "noisy_loss"), summary(noisy, "loss") + 1.5);
  EXPECT_NE(exact.table.number(2, "cos1"), noisy.table.number(2, "cos1"));
  request.link = "z1^2";
  EXPECT_EQ(request.run().table.number(2, "cos1"), noisy.table.number(2, "cos1"));
  const std::string said = testing::complaint([] { (void)Sgd{.noise = 0.5}.settle(); });
  EXPECT_TRUE(said.starts_with("noise: ")) << said;
  EXPECT_NE(said.find("`link`"), std::string::npos) << said;
}

TEST(SmiRequests, NoiseCostsTime) {
  for (const SgdEngine engine :
       {SgdEngine::batch, SgdEngine::online, SgdEngine::chain, SgdEngine::flow}) {
    Sgd request{.link = "z1^2", .engine = engine};
    const double exact = request.settle().cost.core_seconds;
    request.noise = 0.5;
    const double noisy = request.settle().cost.core_seconds;
    EXPECT_GT(noisy, exact) << to_string(engine);
    // The flow uses noise with both of its signs.
    if (engine == SgdEngine::flow) {
      EXPECT_GT(noisy, 2.0 * exact);
    }
  }
}

TEST(SmiRequests, TheToleranceOfSingleRunsIsRefused) {
  EXPECT_NE(testing::complaint([] { (void)Sgd{.tol = 0.1}.settle(); }).find("tol: "),
            std::string::npos);
}

TEST(SmiRequests, MessagesNameFieldsAsCppDoes) {
  const std::string said =
      testing::complaint([] { (void)Curve{.alpha = {0.5}, .hold_overlap = 0.5}.settle(); });
  EXPECT_TRUE(said.starts_with("hold_overlap: ")) << said;
  EXPECT_NE(said.find("`hold_layer`"), std::string::npos) << said;
  EXPECT_EQ(said.find("--"), std::string::npos) << said;
}

TEST(SmiRequests, LayersThatStayBelowTheLevelAreNamed) {
  const Result result =
      Sgd{.layers = 3, .engine = SgdEngine::chain, .dim = 20, .time = 1.0, .records = 2}.run();
  EXPECT_EQ(result.status, ResultStatus::ok);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("Layers 1,2,3 stayed below the cosine 0.5 up to the time 1"),
            std::string::npos)
      << result.notes[0];
}

TEST(SmiRequests, ARunThatLearnsNothingSaysSo) {
  for (const SgdEngine engine : {SgdEngine::chain, SgdEngine::flow}) {
    const Result result = Sgd{.engine = engine, .dim = 10000, .time = 0.1, .records = 1}.run();
    EXPECT_EQ(result.status, ResultStatus::ok);
    ASSERT_EQ(result.notes.size(), 1u);
    EXPECT_NE(result.notes[0].find("Nothing was learned up to the time 0.1"), std::string::npos)
        << result.notes[0];
  }
}

TEST(SmiRequests, StateEvolutionInTimeStartsAtOneOverTheDimension) {
  const Result result = Evolution{.layers = 1, .alpha = {0.3}, .iterations = 2, .dim = 200}.run();
  EXPECT_EQ(result.status, ResultStatus::ok) << result.reason;
  ASSERT_EQ(result.table.rows().size(), 3u);
  EXPECT_NEAR(result.table.number(0, "Q11"), 1.0 / 200.0, tolerance::few_roundings);
  EXPECT_GT(result.table.number(2, "Q11"), result.table.number(1, "Q11"));
  const Evolution other{.alpha = {0.3}, .start_overlap = {0.1, 0.1, 0.1}};
  EXPECT_NE(testing::complaint([&] { (void)other.settle(); }).find("start_overlap: "),
            std::string::npos);
}

TEST(SmiRequests, APlantedStartIsStepZeroOfMessagePassing) {
  Amp request{.layers = 1, .dim = 60, .alpha = {0.5}, .runs = 1, .iterations = 2};
  request.start_overlap = 0.2;
  EXPECT_NE(testing::complaint([&] { (void)request.settle(); }).find("start_overlap: "),
            std::string::npos);
  request.init = AmpInit::planted;
  request.trajectories = true;
  const Result result = request.run();
  EXPECT_EQ(result.table.number(0, "iteration"), 0.0);
  EXPECT_EQ(result.table.number(0, "V1"), 0.8);
}

TEST(SmiRequests, DirectionsAndTokensThatALinkSkipsAreSaid) {
  const auto notes = [](const char* link) {
    return Thresholds::verb().run({.link = link, .stages = 1}, {}).notes;
  };
  EXPECT_TRUE(notes("z1").empty());
  const std::vector<std::string> skipped = notes("z3_2");
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_EQ(skipped[0],
            "The link does not name z1, z2: directions are numbered from 1 on, and its labels say "
            "nothing of these.");
  EXPECT_EQ(skipped[1].find("The link does not name token 1: tokens are numbered"), 0u);
}

TEST(SmiRequests, MeansOverRunsHaveStudentsFactorAndOneRunHasNoError) {
  const Amp one{.layers = 1, .dim = 40, .alpha = {1.0}, .runs = 1};
  EXPECT_TRUE(std::isnan(one.run().table.error(0, "Q11")));
  EXPECT_EQ(one.run().status, ResultStatus::ok);
  Amp asked = one;
  asked.tol = 0.5;
  EXPECT_EQ(asked.run().status, ResultStatus::unconverged);
}

TEST(SmiRequests, TheFirstStagesAreThoseOfTheWholeStaircase) {
  const Thresholds whole{.link = "staircase", .tol = 0.05};
  const Result all = whole.run();
  Thresholds some = whole;
  some.stages = 1;
  const Result first = some.run();
  EXPECT_EQ(first.status, ResultStatus::ok) << first.reason;
  ASSERT_EQ(first.table.rows().size(), 1u);
  ASSERT_GT(all.table.rows().size(), 1u);
  EXPECT_EQ(first.table.number(0, "alpha"), all.table.number(0, "alpha"));
  EXPECT_EQ(first.table.error(0, "alpha"), all.table.error(0, "alpha"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(first.table.at(0, "jump")));
  for (const auto& [name, value] : first.summary) EXPECT_NE(name, "hard_phase");
  EXPECT_LT(some.settle().cost.core_seconds, whole.settle().cost.core_seconds);
}

}  // namespace
}  // namespace onset::smi
