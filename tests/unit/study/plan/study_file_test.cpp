#include <gtest/gtest.h>

#include "unit/report/hostile_text.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::study {
namespace {

std::string complaint(const std::string& text) {
  try {
    (void)ToyPlan(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

std::vector<std::string> values_of(const Plan& plan, std::size_t axis) {
  std::vector<std::string> out;
  for (const Point& point : plan.points) out.push_back(to_text(point.axis_values[axis]));
  return out;
}

using Texts = std::vector<std::string>;

TEST(StudyFile, AxesVaryInTheOrderOfTheFileAndSeedsFastest) {
  const ToyPlan plan("seeds = 2\n[axes]\nslope = [3, 1]\ncount = '1:2:1'\n");
  EXPECT_EQ(plan->axes, (Texts{"slope", "count", "seed"}));
  EXPECT_EQ(values_of(*plan, 0), (Texts{"3", "3", "3", "3", "1", "1", "1", "1"}));
  EXPECT_EQ(values_of(*plan, 1), (Texts{"1", "1", "2", "2", "1", "1", "2", "2"}));
  EXPECT_EQ(values_of(*plan, 2), (Texts{"1", "2", "1", "2", "1", "2", "1", "2"}));
  EXPECT_EQ(plan->points[3].parameters.integer("seed"), 2);
  EXPECT_EQ(plan->points[3].parameters.real("tol"), 1e-3);
}

TEST(StudyFile, AxesTakeListsOfNumbersWordsFlagsListsAndGrids) {
  EXPECT_EQ(values_of(*ToyPlan("[axes]\nskip = [[1, 0.5], [1, 1], 2]"), 0),
            (Texts{"1,0.5", "1,1", "2"}));
  EXPECT_EQ(values_of(*ToyPlan("[axes]\nmode = ['slow', 'fast']"), 0), (Texts{"slow", "fast"}));
  EXPECT_EQ(values_of(*ToyPlan("[axes]\nloud = [true, false]"), 0), (Texts{"true", "false"}));
  EXPECT_EQ(values_of(*ToyPlan("[axes]\nslope = 'log:1:100:3'"), 0), (Texts{"1", "10", "100"}));
  EXPECT_EQ(values_of(*ToyPlan("[axes]\nslope = '0.1,0.2'"), 0), (Texts{"0.1", "0.2"}));
  EXPECT_EQ(values_of(*ToyPlan("seeds = '5:7:1'"), 0), (Texts{"5", "6", "7"}));
  EXPECT_EQ(values_of(*ToyPlan("seeds = [9, 4]"), 0), (Texts{"9", "4"}));
}

TEST(StudyFile, WhatDependsOnAnAxisIsFilledForEveryPoint) {
  const ToyPlan plan("axes = {mode = ['fast', 'slow']}\n");
  ASSERT_EQ(plan->points.size(), 2u);
  EXPECT_EQ(plan->points[0].parameters.reals("skip"), std::vector{1.0});
  EXPECT_EQ(plan->points[1].parameters.reals("skip"), std::vector{2.0});
}

TEST(StudyFile, ACombinationThatTheCommandRefusesIsToldWithThePlaceOfItsValue) {
  EXPECT_EQ(complaint("axes = {mode = ['fast', 'slow'], slope = [1, -7]}\n"),
            "toy.toml:2:46: slope: does not go with `mode = slow`");
}

TEST(StudyFile, TwoPointsThatAreTheSameAreToldSinceOneOfThemWouldBeWasted) {
  EXPECT_NE(complaint("fixed = {mode = 'slow'}\naxes = {skip = [2, [2]]}\n").find("twice"),
            std::string::npos);
}

TEST(StudyFile, ATiedParameterFollowsFromTheNumbersOfItsPoint) {
  const ToyPlan plan(
      "fixed = {slope = 0.5}\naxes = {count = [4, 9]}\ntied = {tol = 'slope/sqrt(count)'}\n");
  EXPECT_EQ(plan->axes, (Texts{"count", "tol"}));
  EXPECT_EQ(values_of(*plan, 1), (Texts{"0.25", to_text(Value(0.5 / 3.0))}));
  ASSERT_EQ(plan->points.size(), 2u);
  EXPECT_EQ(plan->points[0].parameters.real("tol"), 0.25);
}

/// The result of a tied point is that of the command with the same number, and is filed under its
/// key.
TEST(StudyFile, ATiedPointIsThePointThatTheCommandWouldCompute) {
  const ToyPlan tied("axes = {count = [4]}\ntied = {slope = '2*count'}\n");
  const ToyPlan plain("fixed = {count = 4, slope = 8}\n");
  EXPECT_EQ(tied->points.front().key, plain->points.front().key);
}

TEST(StudyFile, ATiedWholeNumberIsRoundedToTheNearest) {
  const ToyPlan plan("axes = {slope = [1, 2, 3]}\ntied = {count = '10*slope/4'}\n");
  EXPECT_EQ(values_of(*plan, 1), (Texts{"3", "5", "8"}));
}

TEST(StudyFile, MistakesInTiesAreToldWithTheirPlace) {
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {cuont = 'slope'}\n"),
            "toy.toml:3:17: 'toy line' has no parameter 'cuont'; did you mean 'count'?");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {count = 3}\n"),
            "toy.toml:3:17: the tied parameter 'count' must be an expression such as "
            "\"0.1/sqrt(dim)\"; a number belongs in [fixed]");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {count = 'sqrt(-slope)'}\n"),
            "toy.toml:3:17: count: its expression is not a number; this is at slope = 1");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {slope = '2'}\n"),
            "toy.toml:3:17: 'slope' is an axis as well");
  EXPECT_EQ(complaint("fixed = {slope = 1}\ntied = {slope = '2'}\n"),
            "toy.toml:3:17: 'slope' is in [fixed] as well");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {mode = 'slope'}\n"),
            "toy.toml:3:16: 'mode' does not take one number; only parameters that do can be tied "
            "to others");
  EXPECT_EQ(
      complaint("axes = {slope = [100, 2000]}\ntied = {count = 'slope'}\n"),
      "toy.toml:3:17: count: 2000 is out of range; allowed: a whole number <= 1000; this is at "
      "slope = 2000");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {tol = '1/(slope-1)'}\n"),
            "toy.toml:3:15: tol: inf is not finite; allowed: a number > 0; this is at slope = 1");
  EXPECT_EQ(complaint("axes = {slope = [1]}\ntied = {count = 'slop+1'}\n"),
            "toy.toml:3:17: count: no variable 'slop' at column 1; the variable is "
            "slope\n  slop+1\n  ^");
}

/// Ties see the axes and what is fixed, not one another: there is no order between them to get
/// wrong.
TEST(StudyFile, ATieMayNotUseAnother) {
  EXPECT_NE(complaint("axes = {slope = [1]}\ntied = {count = 'slope', tol = 'count'}\n")
                .find("toy.toml:3:32: tol: no variable 'count'"),
            std::string::npos);
}

TEST(StudyFile, WhatATieMakesMayBeRefusedByTheCommandAtItsPlace) {
  EXPECT_EQ(complaint("fixed = {mode = 'slow'}\naxes = {count = [7]}\n"
                      "tied = {slope = '-count'}\n"),
            "toy.toml:4:17: slope: does not go with `mode = slow`");
}

TEST(StudyFile, WithoutAxesIsOnePoint) {
  const ToyPlan plan("title = 'One'\ndescription = 'point'\n[fixed]\nslope = 2");
  ASSERT_EQ(plan->points.size(), 1U);
  EXPECT_EQ(plan->points[0].parameters.real("slope"), 2.0);
  EXPECT_EQ(plan->study.name, "toy");
  EXPECT_EQ(plan->study.title, "One");
}

TEST(StudyFile, MistakesAreToldWithTheirPlace) {
  // The command is line 1.
  EXPECT_EQ(complaint("seeds = '1,9007199254740993'"),
            "toy.toml:2:9: seeds of 2^53 and more are not exact in a grid; allowed: a list");
  EXPECT_EQ(complaint("sedes = 2"), "toy.toml:2:1: unknown key 'sedes'; did you mean 'seeds'?");
  EXPECT_EQ(complaint("[fixed]\nslop = 2"),
            "toy.toml:3:1: 'toy line' has no parameter 'slop'; did you mean 'slope'?");
  EXPECT_EQ(complaint("[axes]\n  slop = [2]"),
            "toy.toml:3:3: 'toy line' has no parameter 'slop'; did you mean 'slope'?");
  EXPECT_EQ(complaint("[axes]\ncount = [1,\n  2000]"),
            "toy.toml:4:3: count: 2000 is out of range; allowed: a whole number <= 1000");
  EXPECT_EQ(
      complaint("[axes]\nmode = ['fast', 'slwo']"),
      "toy.toml:3:17: mode: 'slwo' is not known; allowed: slow or fast; did you mean 'slow'?");
  EXPECT_EQ(complaint("[axes]\nslope = 3"),
            "toy.toml:3:1: the axis 'slope' must be a list or a grid such as \"0.1:0.5:0.1\"; one "
            "value belongs in [fixed]");
  EXPECT_EQ(complaint("[axes]\nslope = []"), "toy.toml:3:1: the axis 'slope' is empty");
  EXPECT_EQ(complaint("[axes]\nslope = [1, 2, 1.0]"),
            "toy.toml:3:16: the axis 'slope' has the value 1 twice");
  EXPECT_EQ(complaint("[fixed]\nslope = 1\n[axes]\nslope = [1]"),
            "toy.toml:5:1: 'slope' is in [fixed] as well");
  EXPECT_EQ(complaint("seeds = 3\n[fixed]\nseed = 1"),
            "toy.toml:2:1: 'seed' is in [fixed] as well");
  EXPECT_EQ(complaint("seeds = 3\n[axes]\nseed = [1]"), "toy.toml:2:1: a second axis 'seed'");
  EXPECT_NE(complaint("seeds = 0").find("toy.toml:2:9: 'seeds' must be"), std::string::npos);
  EXPECT_NE(complaint("seeds = 100000000").find("how many, 1 to 100000"), std::string::npos);
  EXPECT_NE(complaint("seeds = [1.5]").find("toy.toml:2:9: 'seeds' must be"), std::string::npos);
  EXPECT_NE(complaint("seeds = [-1]").find("seed: -1 is out of range"), std::string::npos);
  EXPECT_NE(complaint("[axes]\nslope = '1:2'").find("is not start:stop:step"), std::string::npos);
  EXPECT_NE(complaint("slope == 1").find("toy.toml:2:8"), std::string::npos);
}

TEST(StudyFile, TooManyPointsAreRefusedBeforeTheyAreMade) {
  EXPECT_NE(complaint("seeds = 1000\n[axes]\nslope = '1:1000:1'").find("more than 100000 points"),
            std::string::npos);
}

TEST(StudyFile, AnUnknownCommandIsToldWithTheNearest) {
  const std::vector<Verb> verbs{toy_verb()};
  try {
    (void)make_plan(parse_study("title = 'x'\ncommand = 'toy lime'", "a.toml"), verbs);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "a.toml:2:1: there is no command 'toy lime'; did you mean 'toy line'?");
  }
}

TEST(StudyFile, ThatIsNotThereIsAFileError) {
  EXPECT_THROW((void)read_study("/no/such/study.toml"), IoError);
}

/// A text as TOML writes it between quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\' || byte == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

TEST(StudyFile, TextOfOthersIsRefusedWhereItIsNoWordAndIsTextElsewhere) {
  for (const std::string& text : report::hostile_texts("touch pwned", 50)) {
    const std::string word = quoted(text);
    for (const std::string& file :
         {"fixed = {mode = " + word + "}\n", "fixed = {" + word + " = 1}\n",
          "axes = {slope = " + word + "}\n", "axes = {mode = ['slow', " + word + "]}\n",
          "axes = {" + word + " = [1, 2]}\n", "axes = {slope = [" + word + "]}\n", word + " = 1\n",
          "seeds = " + word + "\n", "axes = {count = [1]}\ntied = {slope = " + word + "}\n",
          "axes = {count = [1]}\ntied = {" + word + " = '1'}\n", text + "\n", "# " + text + "\n"}) {
      // Any other exception than the one that complaint() knows ends the test.
      EXPECT_NO_THROW((void)complaint(file)) << file;
    }
  }
}

}  // namespace
}  // namespace onset::study
