#include "smi/model/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <set>

#include "onset/core/error.hpp"
#include "onset/testing/check_model.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

using onset::testing::check_model;
using onset::testing::ModelCheckOptions;
using onset::testing::ModelReport;

std::string joined(const std::vector<std::string>& findings) {
  std::string out;
  for (const std::string& finding : findings) out += finding + "\n";
  return out;
}

// One call per link, each with a false alarm of 1e-6.
TEST(Links, AllPassTheCheckOfModels) {
  ModelCheckOptions quick;
  quick.points = 128;
  quick.differences = 16;
  for (const LinkInfo& link : links()) {
    const ModelReport report = check_model(*link_model(link.name), quick);
    EXPECT_TRUE(report.passed) << link.name << "\n" << joined(report.findings);
  }
}

TEST(LongLinks, AllPassTheCheckOfModelsAtMoreVariances) {
  ModelCheckOptions options;
  options.variances = {1.0, 0.6, 0.1, 1e-2, 1e-4, 1e-8, 1e-10};
  const char* scale = std::getenv("ONSET_TEST_SCALE");
  if (scale != nullptr) options.replicates *= std::max(1, std::atoi(scale));
  for (const LinkInfo& link : links()) {
    const ModelReport report = check_model(*link_model(link.name), options);
    EXPECT_TRUE(report.passed) << link.name << "\n" << joined(report.findings);
  }
}

struct Known {
  std::string link;
  std::size_t block;
  double gain;
  double growth;
};

// At 7 standard errors of 32 replicates a false alarm has a probability below 1e-6 over all rows;
// 1e-12 is for estimates that are exact.
TEST(Links, HaveTheirKnownGainsAndGrowthRatesWhenNothingIsLearned) {
  constexpr double pi = std::numbers::pi;
  // Growth of the product: E[(|y| K1/K0 - 1)^2 + y^2] over the density K0(|y|) / pi, to ten digits.
  constexpr double product_growth = 1.684207411;
  const std::vector<Known> rows = {
      {"linear", 0, 1.0, 2.0},
      {"square", 0, 0.0, 2.0},
      {"sign", 0, 2.0 / pi, 0.0},
      {"relu", 0, 0.5 + 1.0 / pi, 1.0},
      {"product", 0, 0.0, product_growth},
      {"token-product", 0, 0.0, 2.0 * product_growth},
      {"sign-product", 0, 0.0, 4.0 / (pi * pi)},
      {"parity3", 0, 0.0, 0.0},
      {"norm", 0, 0.0, 1.0},
      {"committee", 0, 2.0 / pi, 4.0 / (pi * pi)},
      {"committee", 1, 0.0, 4.0 / (pi * pi)},
      {"staircase", 1, 0.0, 0.0},
      {"attention", 0, 0.0, 6.0},
  };
  ModelCheckOptions options;
  options.variances = {1.0};
  options.points = 256;
  for (const Known& row : rows) {
    const ModelReport report = check_model(*link_model(row.link), options);
    const onset::testing::BlockReport& block = report.blocks[row.block];
    EXPECT_NEAR(block.gain.value, row.gain, 7.0 * block.gain.error + 1e-12) << row.link;
    EXPECT_NEAR(block.growth.value, row.growth, 7.0 * block.growth.error + 1e-12) << row.link;
  }
}

TEST(Links, HaveDistinctNamesAndAModelOfTheirShape) {
  std::set<std::string> names;
  for (const LinkInfo& link : links()) {
    EXPECT_TRUE(names.insert(link.name).second) << link.name;
    EXPECT_FALSE(link.summary.empty());
    const auto model = link_model(link.name);
    const std::size_t blocks =
        1 + static_cast<std::size_t>(std::count(link.blocks.begin(), link.blocks.end(), ';'));
    EXPECT_EQ(model->shape().blocks(), blocks) << link.name;
  }
}

TEST(Links, UnknownNamesGetTheNearestOne) {
  try {
    (void)link_model("sign_product");
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "link");
    EXPECT_NE(std::string(error.what()).find("did you mean 'sign-product'?"), std::string::npos)
        << error.what();
  }
}

TEST(Links, PredictTheLabelItselfAndNotItsDescription) {
  const auto predict = [](const char* name, std::vector<double> fields) {
    const auto model = link_model(name);
    std::vector<double> out(static_cast<std::size_t>(model->prediction_size()));
    model->prediction(fields, out);
    return out;
  };
  EXPECT_EQ(predict("square", {-3.0})[0], 9.0);
  EXPECT_EQ(predict("he4", {2.0})[0], -5.0);
  EXPECT_EQ(predict("norm", {3.0, -4.0})[0], 25.0);
  EXPECT_EQ(predict("product", {3.0, -4.0})[0], -12.0);
  EXPECT_EQ(predict("committee", {1.0, -0.5})[0], 2.0);
  EXPECT_EQ(predict("staircase", {2.0, -1.0, 3.0})[0], 3.0);
  const std::vector<double> attention = predict("attention", {1.0, 0.0});
  EXPECT_NEAR(attention[0], std::exp(1.0) / (std::exp(1.0) + 1.0), tolerance::few_roundings);
  EXPECT_NEAR(attention[3], 0.5, tolerance::few_roundings);
}

}  // namespace
}  // namespace onset::smi
