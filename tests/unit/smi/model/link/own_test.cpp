#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// The example of docs/links.md, word for word.
// [own link]
#include <cmath>
#include <numbers>

#include "onset/smi/model/link.hpp"
#include "onset/testing/check_model.hpp"

// y = z for z > 0 and -z/2 below: two fields have the same label, z = y and z = -2y.
struct Vee {
  onset::smi::FieldShape shape() const {
    return {1, {1}};
  }  // one token, one block of one direction
  int label_size() const { return 1; }
  double constraints() const { return 1.0; }
  void label(std::span<const double> z, std::span<double> y) const {
    y[0] = std::fmax(z[0], -0.5 * z[0]);
  }
  double posterior(std::span<const double> y, std::span<const double> omega,
                   std::span<const double> variance, std::span<double> mean,
                   std::span<double> second) const {
    const double deviation = std::sqrt(variance[0]);
    const double a = (y[0] - omega[0]) / deviation;         // zeta of z = y
    const double b = (-2.0 * y[0] - omega[0]) / deviation;  // zeta of z = -2y; |dz/dy| = 2
    const double log_ratio = std::log(2.0) + 0.5 * (a * a - b * b);
    const double p = 1.0 / (1.0 + std::exp(log_ratio));
    mean[0] = p * a + (1.0 - p) * b;
    second[0] = p * a * a + (1.0 - p) * b * b;
    const double log_sum = std::fmax(log_ratio, 0.0) + std::log1p(std::exp(-std::fabs(log_ratio)));
    return log_sum - 0.5 * a * a - 0.5 * std::log(2.0 * std::numbers::pi * variance[0]);
  }
};

onset::testing::ModelReport check_vee() {
  const auto model = onset::smi::make_model(Vee{});
  return onset::testing::check_model(*model);
}
// [own link]

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LinkOwn, OfTwentyLinesPassesTheCheckOfModels) {
  const onset::testing::ModelReport report = check_vee();
  EXPECT_TRUE(report.passed) << (report.findings.empty() ? "" : report.findings.front());
  EXPECT_FALSE(report.blocks[0].sign_symmetric);
  EXPECT_GT(report.blocks[0].gain.value, 0.1);
}

// The source tree that this build lies in, or nothing.
std::filesystem::path source_tree() {
  for (auto path = std::filesystem::current_path();; path = path.parent_path()) {
    if (std::filesystem::exists(path / "docs/links.md")) return path;
    if (path == path.root_path()) return {};
  }
}

TEST(LinkOwn, IsTheExampleOfTheDocumentation) {
  const std::filesystem::path root = source_tree();
  if (root.empty()) GTEST_SKIP() << "not run inside the source tree";
  const std::string source = contents(root / "tests/unit/smi/model/link/own_test.cpp");
  const std::string mark = std::string("// [own ") + "link]\n";
  const std::size_t begin = source.find(mark) + mark.size();
  const std::string example = source.substr(begin, source.find(mark, begin) - begin);
  EXPECT_GT(example.size(), 1000U);
  EXPECT_NE(contents(root / "docs/links.md").find(example), std::string::npos);
}

}  // namespace
