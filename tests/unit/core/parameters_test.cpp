#include "onset/core/parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/field_names.hpp"
#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset {
namespace {

Parameter make(std::string name, ParameterKind kind) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = kind;
  return parameter;
}

Parameter skip() {
  Parameter parameter = make("skip", ParameterKind::real);
  parameter.min = 0.0;
  parameter.max = 1000.0;
  return parameter;
}

Parameter layers() {
  Parameter parameter = make("layers", ParameterKind::integer);
  parameter.min = 1.0;
  parameter.max = 32.0;
  parameter.fallback = std::int64_t{2};
  return parameter;
}

Parameter alpha() {
  return make("alpha", ParameterKind::grid);
}

Parameter branch() {
  Parameter parameter = make("branch", ParameterKind::word);
  parameter.words = {"uninformed", "informed", "optimal"};
  return parameter;
}

std::vector<double> grid(std::string_view text) {
  return std::get<std::vector<double>>(parse_value(alpha(), text));
}

std::string complaint(const Parameter& parameter, std::string_view text) {
  const auto call = [&] { (void)parse_value(parameter, text); };
  EXPECT_EQ(testing::wrong_field(call), field_name(parameter.name));
  return testing::complaint(call);
}

TEST(ParseValue, ComplaintsNameTheFieldTheTextAndWhatIsAllowed) {
  EXPECT_EQ(complaint(skip(), "abc"),
            "skip: 'abc' is not a number; allowed: a number in [0, 1000]");
  EXPECT_EQ(complaint(branch(), "informd"),
            "branch: 'informd' is not known; allowed: uninformed, informed or optimal; did you "
            "mean 'informed'?");
}

TEST(ParseValue, IntegersAreWholeAndInRange) {
  EXPECT_EQ(parse_value(layers(), "32"), Value(std::int64_t{32}));
  EXPECT_EQ(parse_value(layers(), "+7"), Value(std::int64_t{7}));
  for (const char* wrong : {"", "2.0", "2x", "1e1", "0x2", "--2", "+-2", "0", "33", "-1",
                            "99999999999999999999", "nan", " "}) {
    EXPECT_THROW((void)parse_value(layers(), wrong), InvalidArgument) << wrong;
  }
}

TEST(ParseValue, RealsAreFiniteAndInRange) {
  EXPECT_EQ(parse_value(skip(), "1e-3"), Value(1e-3));
  EXPECT_EQ(parse_value(skip(), ".5"), Value(0.5));
  for (const char* wrong :
       {"", "nan", "NaN", "inf", "-inf", "1e999", "1,5", "1 2", "-0.1", "1001", "0x1p3", "1e"}) {
    EXPECT_THROW((void)parse_value(skip(), wrong), InvalidArgument) << wrong;
  }
}

TEST(ParseValue, AnOpenMinimumIsNotAllowedItself) {
  Parameter beta = skip();
  EXPECT_EQ(parse_value(beta, "0"), Value(0.0));
  beta.open_min = true;
  EXPECT_THROW((void)parse_value(beta, "0"), InvalidArgument);
  EXPECT_EQ(beta.allowed(), "a number in (0, 1000]");
}

TEST(ParseValue, AFlagIsTrueOrFalse) {
  const Parameter flag = make("positional", ParameterKind::flag);
  EXPECT_EQ(parse_value(flag, "true"), Value(true));
  EXPECT_EQ(parse_value(flag, "false"), Value(false));
  EXPECT_THROW((void)parse_value(flag, "maybe"), InvalidArgument);
}

TEST(Grid, ALinearGridHasItsEndAndTheDecimalsThatPeopleMean) {
  EXPECT_EQ(grid("0.1:0.5:0.1"), (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(grid("0:1:0.25"), (std::vector<double>{0.0, 0.25, 0.5, 0.75, 1.0}));
}

TEST(Grid, ZeroInTheMiddleIsExactlyZero) {
  const std::vector<double> points = grid("-0.3:0.3:0.1");
  EXPECT_EQ(points, (std::vector<double>{-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3}));
  EXPECT_FALSE(std::signbit(points[3]));
}

TEST(Grid, AnEndBetweenTwoPointsIsNotReached) {
  EXPECT_EQ(grid("0:1:0.4"), (std::vector<double>{0.0, 0.4, 0.8}));
}

TEST(Grid, ANegativeStepDescends) {
  EXPECT_EQ(grid("0.3:0.1:-0.1"), (std::vector<double>{0.3, 0.2, 0.1}));
}

TEST(Grid, OnePointIsAGrid) {
  EXPECT_EQ(grid("0.7"), std::vector<double>{0.7});
  EXPECT_EQ(grid("2:2:1"), std::vector<double>{2.0});
  EXPECT_EQ(grid("log:2:2:1"), std::vector<double>{2.0});
}

TEST(Grid, DigitsThatWereTypedAreKept) {
  EXPECT_EQ(grid("0.12345678901234566:1:2"), std::vector<double>{0.12345678901234566});
  EXPECT_EQ(grid("1e-30:3e-30:1e-30"), (std::vector<double>{1e-30, 2e-30, 3e-30}));
  EXPECT_EQ(grid("1e20:3e20:1e20"), (std::vector<double>{1e20, 2e20, 3e20}));
}

TEST(Grid, ALogarithmicGridHasBothEnds) {
  EXPECT_EQ(grid("log:0.01:100:5"), (std::vector<double>{0.01, 0.1, 1.0, 10.0, 100.0}));
  EXPECT_EQ(grid("log:8:1:4"), (std::vector<double>{8.0, 4.0, 2.0, 1.0}));
  const std::vector<double> far_apart = grid("log:1e-200:1e200:3");
  ASSERT_EQ(far_apart.size(), 3u);
  constexpr double rounding = 1e-12;  // of the logarithms, which are some 460, times 10
  EXPECT_NEAR(far_apart[1], 1.0, rounding);
}

TEST(Grid, AListKeepsItsOrder) {
  EXPECT_EQ(grid("0.5, 0.1,0.3"), (std::vector<double>{0.5, 0.1, 0.3}));
}

TEST(Grid, AsManyPointsAsAllowedAreFineAndOneMoreIsNot) {
  EXPECT_EQ(grid("1:100000:1").size(), max_grid_points);
  EXPECT_THROW((void)grid("0:100000:1"), InvalidArgument);
}

TEST(Grid, WhatIsNoGridIsRefusedWithAReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {" ", "empty"},
      {",", "empty item"},
      {"1,", "empty item"},
      {"0.1:0.5:0", "step 0"},
      {"0.5:0.1:0.1", "is empty"},
      {"0.1:0.5:-0.1", "is empty"},
      {"0:1", "start:stop:step"},
      {"0:1:2:3", "start:stop:step"},
      {"0:1:0.1x", "not a number"},
      {"0::0.1", "missing"},
      {"0:inf:1", "not finite"},
      {"0.1,nan", "not finite"},
      {"0:1:1e-300", "more than 100000 points"},
      {"-1e308:1e308:1", "more than 100000 points"},
      {"log:0:1:5", "above 0"},
      {"log:1:2:2.5", "whole count"},
      {"log:1:2:0", "whole count"},
      {"log:1:2:1", "two ends"},
      {"log:1:2:1e9", "more than 100000 points"},
      {"log:1:2", "log:start:stop:count"},
  };
  for (const auto& [text, reason] : cases) {
    const std::string message = complaint(alpha(), text);
    EXPECT_NE(message.find(reason), std::string::npos) << text << " -> " << message;
    EXPECT_NE(message.find("allowed: "), std::string::npos) << message;
  }
}

TEST(Grid, EveryPointIsInRange) {
  Parameter bounded = alpha();
  bounded.min = 0.0;
  EXPECT_THROW((void)parse_value(bounded, "1,-1"), InvalidArgument);
  EXPECT_THROW((void)parse_value(bounded, "-1:1:1"), InvalidArgument);
}

TEST(ToText, ReadsBackToTheSameValue) {
  const Value points = std::vector<double>{0.1, 1.0 / 3.0, 1e-300, 12345678.9};
  EXPECT_EQ(parse_value(alpha(), to_text(points)), points);
  EXPECT_EQ(parse_value(layers(), to_text(Value(std::int64_t{5}))), Value(std::int64_t{5}));
  EXPECT_EQ(to_text(Value{}), "");
}

TEST(Complete, FillsDefaultsAndKeepsWhatIsMissingWithoutOne) {
  const std::vector<Parameter> all = {layers(), skip(), make("polish", ParameterKind::flag)};
  const Parameters out = complete(all, {});
  EXPECT_EQ(out.integer("layers"), 2);
  EXPECT_FALSE(out.has("skip"));
  EXPECT_FALSE(out.flag("polish"));
  EXPECT_EQ(out.values().size(), all.size());
  EXPECT_THROW((void)out.real("skip"), InvalidArgument);
}

TEST(Complete, UnknownNamesGetTheNearestOne) {
  const std::vector<Parameter> all = {layers(), skip()};
  EXPECT_EQ(testing::complaint([&] {
              (void)complete(all, {{"layres", std::int64_t{1}}});
            }),
            "layres: no such field; allowed: layers, skip; did you mean 'layers'?");
}

TEST(Complete, AsksForWhatIsRequired) {
  Parameter needed = alpha();
  needed.required = true;
  EXPECT_THROW((void)complete(std::vector{needed}, {}), InvalidArgument);
  EXPECT_THROW((void)complete(std::vector{needed}, {{"alpha", Value{}}}), InvalidArgument);
}

TEST(Complete, ChecksValuesThatNeverWereText) {
  const std::vector<Parameter> all = {layers(), skip(), alpha(), branch()};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)complete(all, {{"skip", nan}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"layers", std::int64_t{0}}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"layers", 2.5}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"alpha", std::vector<double>{}}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"alpha", std::vector<double>{1.0, nan}}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"branch", std::string("best")}}), InvalidArgument);
  EXPECT_THROW((void)complete(all, {{"branch", true}}), InvalidArgument);
}

TEST(Complete, TakesWholeNumbersForRealsAndGridsAsText) {
  const std::vector<Parameter> all = {skip(), alpha()};
  const Parameters out =
      complete(all, {{"skip", std::int64_t{3}}, {"alpha", std::string("1:3:1")}});
  EXPECT_EQ(out.real("skip"), 3.0);
  EXPECT_EQ(out.reals("alpha"), (std::vector<double>{1.0, 2.0, 3.0}));
}

TEST(Parameters, AnotherSpellingOfAWordStandsForIt) {
  Parameter reduction;
  reduction.name = "reduction";
  reduction.kind = ParameterKind::word;
  reduction.words = {"none", "trace-sqrt"};
  reduction.aliases = {{"trace/sqrt(L)", "trace-sqrt"}};
  EXPECT_EQ(parse_value(reduction, "trace/sqrt(L)"), Value(std::string("trace-sqrt")));
  const Parameters all = complete({&reduction, 1}, {{"reduction", std::string("trace/sqrt(L)")}});
  EXPECT_EQ(all.text("reduction"), "trace-sqrt");
}

}  // namespace
}  // namespace onset
