#include "ssi/limits/flow/many_overlaps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "onset/ssi/learners/sgd.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

using testing::with_student;

/// Errors of replicates have 15 degrees of freedom: this many are a false alarm in 10^6.
constexpr double sure_errors = 7.5;

/// One direction, described as two: P has the components c and s along them.
constexpr double cosine = 0.6;
constexpr double sine = 0.8;

SequenceModel turned() {
  SequenceModel model = with_student("He2(z1)+He2(z2)", 2, "attention");
  model.positional = true;
  model.encodings = Encodings{{0.2, -0.1}, {{cosine, -cosine}, {sine, -sine}}};
  return model;
}

SequenceModel plain() {
  SequenceModel model = turned();
  model.encodings = Encodings{{0.2, -0.1}, {{1.0, -1.0}}};
  return model;
}

void expect_close(const Estimate& a, const Estimate& b) {
  EXPECT_NEAR(a.value, b.value, sure_errors * std::hypot(a.error, b.error));
}

TEST(SsiManyOverlaps, TheRiskOfATurnedDirectionIsThatOfTheDirection) {
  const ManyOverlaps many(turned(), 3, {});
  const auto usual = population_risk(plain(), 1, {});
  for (const auto& [e, m] : {std::pair{0.0, 0.0}, {0.4, 0.5}, {-0.3, 0.6}, {0.0, 1.0}}) {
    const ManySlopes found = many.risk({cosine * e, sine * e, m}, {});
    const RiskPoint expected = usual->at(e, m);
    expect_close(found.risk, expected.risk);
    const Estimate along{cosine * found.slopes[0].value + sine * found.slopes[1].value,
                         std::hypot(found.slopes[0].error, found.slopes[1].error)};
    expect_close(along, expected.slope_e);
    expect_close(found.slopes[2], expected.slope_m);
  }
}

TEST(SsiManyOverlaps, TheFlowOfATurnedDirectionIsThatOfTheDirection) {
  constexpr double rate = 0.1;
  const std::vector<double> times{0.0, 3.0, 6.0, 12.0};
  const FlowPath expected =
      integrate_flow(FlowField(plain(), rate, 1, {}),
                     {.start_e = 0.1, .start_m = 0.1, .times = times, .level = 0.5}, {});
  const ManyFlowPath found =
      integrate_flow(ManyOverlaps(turned(), 3, {}),
                     {.start = {0.1 * cosine, 0.1 * sine, 0.1}, .times = times, .rate = rate}, {});
  ASSERT_EQ(found.rows.size(), times.size());
  for (std::size_t i = 1; i < times.size(); ++i) {
    expect_close(found.rows[i].m, expected.rows[i].m);
    expect_close(found.rows[i].e, {std::abs(expected.rows[i].e.value), expected.rows[i].e.error});
  }
  ASSERT_TRUE(found.escape && expected.escape);
  expect_close(*found.escape, *expected.escape);
}

/// The exact chain at large d is a second implementation: its mean over runs follows the flow up to
/// terms of order 1/d.
TEST(SsiManyOverlaps, TheChainAtLargeDimensionFollowsTheFlow) {
  SequenceModel model = with_student("He2(z1)+He2(z2)", 2, "attention");
  model.positional = true;
  model.encodings = Encodings{{0.5, 0.3}, {{1.0, 0.4}, {0.0, -1.2}}};
  constexpr double rate = 0.1;
  constexpr double dim = 1000.0;
  constexpr double time = 20.0;
  SgdOptions sgd;
  sgd.dim = dim;
  sgd.rate = rate;
  sgd.steps = static_cast<std::int64_t>(time * dim / rate);
  sgd.runs = 64;
  sgd.start = Start::overlapped;
  double m = 0.0;
  for (const SgdRun& run : run_chain(model, sgd, {})) m += std::abs(run.m) / 64.0;
  const ManyFlowPath flow = integrate_flow(
      ManyOverlaps(model, 1, {}),
      {.start = {0.0, 0.0, 1.0 / std::sqrt(dim)}, .times = {0.0, time}, .rate = rate}, {});
  // Late on the way the flow rests, and the scatter of runs is of order sqrt(eta/d) = 0.01.
  constexpr double scatter_of_runs = 0.02;
  EXPECT_NEAR(m, flow.rows.back().m.value, scatter_of_runs);
  EXPECT_GT(flow.rows.back().m.value, 0.5);
}

TEST(SsiManyOverlaps, AStudentThatJumpsIsRefused) {
  SequenceModel model = turned();
  model.student = make_student("sign(z1)", {.tokens = 2, .outputs = 1});
  EXPECT_THROW(ManyOverlaps(model, 1, {}), Refused);
}

}  // namespace
}  // namespace onset::ssi
