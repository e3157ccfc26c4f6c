#include <gtest/gtest.h>

#include <string>

#include "aim/verbs.hpp"
#include "onset/aim.hpp"
#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset::aim {
namespace {

TEST(AimRequests, WhatIsSettledSettlesToItself) {
  const auto check = [](const char* name, const Call& once) {
    for (const Verb& verb : verbs()) {
      if (verb.name != name) continue;
      EXPECT_EQ(verb.settle(once.parameters.values()).parameters.values(), once.parameters.values())
          << name;
    }
  };
  check("curve", Curve{.channel = "linear", .noise = 0.3, .alpha = {0.1}}.settle());
  check("thresholds", Thresholds{.channel = "hardmax", .tokens = 3}.settle());
  check("spectrum", Spectrum{.delta = 0.1}.settle());
  check("amp", Amp{.channel = "linear", .noise_variance = 0.2, .alpha = {0.1}}.settle());
  check("gd", Gd{.noise = 0.0, .alpha = {0.1}}.settle());
  check("gd", Gd{.alpha = {0.1}, .decay = 0.1, .width = 7}.settle());
  check("erm", Erm{.loss = TrainingLoss::fields, .alpha = {0.1}}.settle());
  check("erm", Erm{.channel = "hardmax", .alpha = {0.1}, .decay = "log:0.1:1:3"}.settle());
  check("spectrum", Spectrum{.learned = true, .alpha = 0.1, .decay = 0.1}.settle());
  check("thresholds", Thresholds{.alpha = {0.1}}.settle());
  check("generate", Generate{.tokens = 3}.settle());
}

TEST(AimRequests, TheStructGivesWhatTheCommandGives) {
  const Result direct = Curve{.alpha = {0.1, 0.15}}.run();
  for (const Verb& verb : verbs()) {
    if (verb.name != "curve") continue;
    const Result command = run(verb, verb.settle({{"alpha", std::string("0.1,0.15")}}), {});
    EXPECT_EQ(command.table.number(1, "mmse"), direct.table.number(1, "mmse"));
  }
  EXPECT_EQ(direct.table.rows().size(), 2U);
}

TEST(AimRequests, NoiseIsAStandardDeviationAndNoiseVarianceItsSquare) {
  const Curve deviation{.channel = "linear", .noise = 0.3, .alpha = {0.1}};
  const Curve variance{.channel = "linear", .noise_variance = 0.3 * 0.3, .alpha = {0.1}};
  EXPECT_EQ(deviation.settle().parameters.values(), variance.settle().parameters.values());
  EXPECT_EQ(deviation.run().table.number(0, "mmse"), variance.run().table.number(0, "mmse"));
  Curve both = deviation;
  both.noise_variance = 0.3;
  EXPECT_NE(testing::complaint([&] {
              (void)both.settle();
            }).find("noise: 0.3 is not the standard deviation of `noise_variance = 0.3`"),
            std::string::npos);
}

TEST(AimRequests, WhatCannotBeAnsweredIsRefusedWithItsReason) {
  const auto reason = [](const Result& result) {
    EXPECT_EQ(result.status, ResultStatus::refused);
    return result.reason;
  };
  EXPECT_NE(reason(Gd{.channel = "hardmax", .alpha = {0.1}}.run()).find("no gradient"),
            std::string::npos);
  EXPECT_NE(reason(Amp{.channel = "hardmax", .tokens = 4, .alpha = {0.1}}.run())
                .find("more than three tokens"),
            std::string::npos);
  EXPECT_NE(reason(Curve{.layers = 2, .alpha = {0.1}}.run()).find("closed form"),
            std::string::npos);
}

}  // namespace
}  // namespace onset::aim
