#include "onset/ssi/learners/sgd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/scale.hpp"
#include "support/ssi_models.hpp"

namespace onset::ssi {
namespace {

using testing::mixture;
using testing::with_student;

/// Two-sample Kolmogorov-Smirnov distance over its critical value for a false alarm of 1e-7.
double ks_ratio(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double worst = 0.0;
  for (const double x : a) {
    const auto in_a = std::upper_bound(a.begin(), a.end(), x) - a.begin();
    const auto in_b = std::upper_bound(b.begin(), b.end(), x) - b.begin();
    worst = std::max(worst, std::abs(static_cast<double>(in_a) / static_cast<double>(a.size()) -
                                     static_cast<double>(in_b) / static_cast<double>(b.size())));
  }
  const double n = static_cast<double>(a.size()) * static_cast<double>(b.size()) /
                   static_cast<double>(a.size() + b.size());
  return worst / std::sqrt(-0.5 * std::log(0.5e-7) / n);
}

std::vector<double> pick(const std::vector<SgdRun>& runs, double SgdRun::*overlap) {
  std::vector<double> values;
  for (const SgdRun& run : runs) values.push_back(run.*overlap);
  return values;
}

void expect_same_law(const SequenceModel& model, const SgdOptions& options,
                     const std::string& what) {
  const auto chain = run_chain(model, options, {});
  const auto full = run_full_dimension(model, options, {});
  EXPECT_LT(ks_ratio(pick(chain, &SgdRun::m), pick(full, &SgdRun::m)), 1.0) << what << ", m";
  EXPECT_LT(ks_ratio(pick(chain, &SgdRun::e), pick(full, &SgdRun::e)), 1.0) << what << ", e";
}

TEST(LongSsiEngines, BatchesAndLabelNoiseKeepTheLawOfAllDimensions) {
  SgdOptions options;
  options.runs = static_cast<std::size_t>(testing::scaled(2048));
  options.rate = 1.0;
  options.batch = 3;
  options.noise = 0.5;
  for (const double dim : {4.0, 12.0}) {
    options.dim = dim;
    options.steps = static_cast<std::uint64_t>(8 * dim);
    const std::string at = " at d = " + std::to_string(static_cast<int>(dim));
    expect_same_law(mixture(1.0, 0.3), options, "mixture" + at);
    expect_same_law(with_student("H2sum", 3, "tied"), options, "tied" + at);
  }
  // The chain of untied students has one sample a step.
  options.batch = 1;
  expect_same_law(with_student("H2sum", 2, "untied"), options, "untied with label noise");
}

/// Encodings of any length and angle: one direction across the teacher, and two. [ssi 41, 42]
TEST(LongSsiEngines, EncodingsOfOnesOwnKeepTheLawOfAllDimensions) {
  SgdOptions options;
  options.runs = static_cast<std::size_t>(testing::scaled(2048));
  options.rate = 0.3;
  SequenceModel model;
  model.target = read_target("z1 + He2(z2) - z1*z2", 2);
  model.student.link = attention_link({2, Reduction::trace, {}, {}});
  for (const double dim : {4.0, 12.0}) {
    options.dim = dim;
    options.steps = static_cast<std::uint64_t>(8 * dim);
    const std::string at = " at d = " + std::to_string(static_cast<int>(dim));
    for (const Start start : {Start::random, Start::zero}) {
      options.start = start;
      model.positional = true;
      model.encodings = reduced_encodings({{0.5, 1.0}, {-0.3, 0.4}});
      expect_same_law(model, options, "one direction" + at);
      model.encodings = reduced_encodings({{0.5, 1.0, 0.0}, {-0.3, 0.4, -1.2}});
      expect_same_law(model, options, "two directions" + at);
      options.batch = 2;
      expect_same_law(model, options, "two directions, two samples" + at);
      options.batch = 1;
      model.positional = false;
      model.encodings = reduced_encodings({{0.5}, {-1.0}});
      expect_same_law(model, options, "along the teacher" + at);
    }
  }
}

TEST(LongSsiEngines, TheChainHasTheLawOfAllDimensions) {
  SgdOptions options;
  options.runs = static_cast<std::size_t>(testing::scaled(2048));
  options.rate = 1.0;
  for (const double dim : {4.0, 12.0, 40.0}) {
    options.dim = dim;
    options.steps = static_cast<std::uint64_t>(8 * dim);
    const std::string at = " at d = " + std::to_string(static_cast<int>(dim));
    for (const Start start : {Start::random, Start::zero, Start::overlapped}) {
      options.start = start;
      expect_same_law(mixture(1.0, 0.6, SampleLoss::frobenius), options, "mixture" + at);
    }
    options.start = Start::random;
    expect_same_law(mixture(1.0, 0.3, SampleLoss::half_squared), options,
                    "half-squared mixture" + at);
    SequenceModel trace;
    trace.target = read_target("z1 + He2(z2)", 2);
    trace.student.link = attention_link({2, Reduction::trace, {}, {}});
    expect_same_law(trace, options, "trace without positions" + at);
    trace.target = read_target("z1 + He2(z2) - z3*z1", 3);
    trace.student.link = expression_link("tanh(z1) + z2*z3", 3);
    trace.positional = true;
    SgdOptions slow = options;
    slow.rate = 0.2;
    expect_same_law(trace, slow, "expression of three tokens" + at);
    slow.rate = 0.05;
    expect_same_law(with_student("H2sum", 3, "tied", SampleLoss::squared), slow, "tied" + at);
    expect_same_law(with_student("z1 - z2 + z3^2", 3, "untied", SampleLoss::squared), slow,
                    "untied" + at);
  }
}

}  // namespace
}  // namespace onset::ssi
