#include <gtest/gtest.h>

#include <algorithm>

#include "onset/ssi.hpp"
#include "ssi/verbs.hpp"
#include "support/complaint.hpp"

namespace onset::ssi {
namespace {

const Verb& verb_of(const std::string& name) {
  static const std::vector<Verb> list = verbs();
  for (const Verb& verb : list) {
    if (verb.name == name) return verb;
  }
  throw std::logic_error("no verb " + name);
}

/// What settling a request made of its own effective parameters gives.
Parameters again(const std::string& name, const Call& call) {
  return verb_of(name).settle(call.parameters.values()).parameters;
}

TEST(SsiRequests, EffectiveParametersSettleToThemselves) {
  const Call sie = Sie{.target = "z1^2", .positional = true}.settle();
  EXPECT_EQ(again("sie", sie).values(), sie.parameters.values());
  for (const SampleLoss loss : {SampleLoss::half_squared, SampleLoss::frobenius}) {
    const Call call = Loss{.a = 1.0, .omega = 0.6, .loss = loss}.settle();
    EXPECT_EQ(again("loss", call).values(), call.parameters.values());
  }
  for (const FlowMethod method : {FlowMethod::ode, FlowMethod::sde}) {
    const Call call = Flow{.a = 1.0, .omega = 0.6, .method = method}.settle();
    EXPECT_EQ(again("flow", call).values(), call.parameters.values());
  }
  const Call sgd = Sgd{.a = 1.0, .omega = {0.5, 0.6}}.settle();
  EXPECT_EQ(again("sgd", sgd).values(), sgd.parameters.values());
  const Call gain = Gain{}.settle();
  EXPECT_EQ(again("gain", gain).values(), gain.parameters.values());
  const Call scaling = Scaling{.target = "H2sum", .student = "tied"}.settle();
  EXPECT_EQ(again("scaling", scaling).values(), scaling.parameters.values());
  EXPECT_EQ(scaling.parameters.reals("dim").size(), 3U) << "dimensions are chosen";
  const Call phase = Phase{.a = {1.0}, .curves = true}.settle();
  EXPECT_EQ(again("phase", phase).values(), phase.parameters.values());
}

TEST(SsiRequests, ARequestGivesTheCommandsRows) {
  const Verb& verb = verb_of("phase");
  const Result command =
      run(verb, verb.settle({{"a", std::string("1")}, {"omega", std::string("0.6")}}), {});
  const Result direct = Phase{.a = {1.0}, .omega = {0.6}}.run();
  EXPECT_EQ(direct.table.number(0, "risk_min"), command.table.number(0, "risk_min"));
  EXPECT_EQ(direct.table.error(0, "risk_min"), command.table.error(0, "risk_min"));
}

TEST(SsiRequests, TheToleranceIsThatOfTheWayARiskIsComputed) {
  const Loss series{.target = "z1"};
  const Loss sampled{.target = "sum(z)", .tokens = 5};
  EXPECT_EQ(series.settle().parameters.real("tol"), 1e-3);
  EXPECT_FALSE(sampled.settle().parameters.has("tol"));
}

TEST(SsiRequests, WhatDoesNotGoTogetherIsRefusedWhenSettled) {
  using testing::complaint;
  const auto says = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  says(complaint([] { (void)Sgd{.target = "z1", .a = 1.0}.settle(); }),
       "target: cannot be given together with `a`");
  says(complaint([] { (void)Sgd{.a = 1.0}.settle(); }), "omega: is missing");
  says(complaint([] {
         (void)Flow{.a = 1.0, .omega = 0.5, .method = FlowMethod::sde, .m0 = 0.1}.settle();
       }),
       "m0: has a meaning only for the ODE");
  says(complaint([] { (void)Sie{.target = "z1", .activation = "relu"}.settle(); }),
       "activation: has a meaning only with `student = tied or untied`");
  says(complaint([] { (void)Phase{.a = {1.0}, .omega = {0.5}, .curves = true}.settle(); }),
       "omega: has no meaning with `curves`");
  says(complaint([] {
         (void)Sgd{.a = 1.0, .omega = {0.5}, .dim = 1e9, .engine = SgdEngine::full}.settle();
       }),
       "dim: is too large for `engine = full`");
  says(complaint([] { (void)Sgd{.a = 1.0, .omega = {0.6}, .dim = 1e12, .rate = 1e-9}.settle(); }),
       "rate: 1e-09 with `dim = 1000000000000` means");
}

TEST(SsiRequests, ALevelThatSomeReplicatesReachIsNotCalledUnreached) {
  Flow flow{.target = "z1*z2*z3", .time = 20.0, .m0 = 0.3};
  flow.student = "z1*z2*z3";
  flow.tokens = 3;
  flow.rate = 0.05;
  const auto says = [](const Result& result, const std::string& words) {
    return std::any_of(result.notes.begin(), result.notes.end(), [&](const std::string& note) {
      return note.find(words) != std::string::npos;
    });
  };
  const Result some = flow.run();
  EXPECT_TRUE(says(some, "Whether the level 0.5 is reached within `time` is not resolved"));
  EXPECT_FALSE(says(some, "is not reached"));
  flow.time = 0.01;
  EXPECT_TRUE(says(flow.run(), "The level 0.5 is not reached within `time`."));
}

TEST(SsiRequests, AllKindsOfRowsAreDescribed) {
  for (const char* name : {"phase", "flow", "sgd"}) {
    const Verb& verb = verb_of(name);
    ASSERT_GE(verb.rows.size(), 2u) << name;
    for (std::size_t i = 1; i < verb.rows.size(); ++i) {
      EXPECT_FALSE(verb.rows[i].when.empty()) << name;
    }
  }
}

}  // namespace
}  // namespace onset::ssi
