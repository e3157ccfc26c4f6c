#include "ssi/learners/diffusion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "onset/numerics/replicates.hpp"
#include "support/contexts.hpp"
#include "support/scale.hpp"
#include "support/ssi_models.hpp"

namespace onset::ssi {
namespace {

using testing::mixture;
using testing::with_student;

TEST(LongSsiDiffusion, TheChainFollowsItAtLargeDimensions) {
  const SequenceModel model = with_student("H2sum", 4, "tied", SampleLoss::squared);
  const double rate = 0.1;
  SgdOptions options;
  options.dim = 5000;
  options.rate = rate;
  options.start = Start::overlapped;
  options.steps = static_cast<std::uint64_t>(8.0 * options.dim / rate);
  options.runs = 64;
  const FlowField field(model, rate, 1, {});
  const double c2 = 0.5 * std::numbers::inv_sqrtpi;
  // The closed form: growth 4 c2 - eta (L + 1), V = 2 (L + 1).
  EXPECT_NEAR(growth_rates(field).m.value, 4 * c2 - rate * 5, 6 * growth_rates(field).m.error);
  EXPECT_NEAR(field.variance_at_start().value, 10.0, 6 * field.variance_at_start().error);
  FlowOptions flow;
  flow.start_m = 1.0 / std::sqrt(options.dim);
  flow.times = {8.0, 60.0};
  const FlowPath path = integrate_flow(field, flow, {});
  // Fixed point of 4 c2 m (1 - m^2) = eta m (L + 1 - 4 c2 m^2).
  const double settled = std::sqrt((4 * c2 - 5 * rate) / (4 * c2 * (1 - rate)));
  EXPECT_NEAR(path.rows[1].m.value, settled, 6 * path.rows[1].m.error);
  std::vector<double> m;
  for (const SgdRun& run : run_chain(model, options, {})) m.push_back(std::abs(run.m));
  const Estimate chain = numerics::reduce(m);
  // What is left is of the relative order 1/(m_0^2 d): noise while m is small moves the time.
  EXPECT_NEAR(chain.value, path.rows[0].m.value, 6 * chain.error + 0.1);
}

/// Bilinear interpolation, and steps of 0.02 by Heun's method.
constexpr double of_table_and_steps = 2e-4;

// A tiny rate leaves no noise: every run follows the flow from its own start, in e and in m.
TEST(SsiDiffusion, WithoutNoiseIsTheFlowFromEveryStart) {
  SgdOptions options;
  options.dim = 6;
  options.rate = 1e-9;
  options.start = Start::random;
  options.runs = 6;
  options.steps = 1;
  const FlowField field(mixture(1.0, 0.64, SampleLoss::frobenius), options.rate, 1, {});
  const auto starts = run_diffusion(field, options, {}, {}).runs;
  constexpr double time = 2.0;
  options.steps = static_cast<std::uint64_t>(time * options.dim / options.rate);
  const auto ends = run_diffusion(field, options, {}, {}).runs;
  for (std::size_t r = 0; r < starts.size(); ++r) {
    FlowOptions flow;
    flow.start_e = starts[r].e;
    flow.start_m = starts[r].m;
    flow.times = {time};
    const FlowRow row = integrate_flow(field, flow, {}).rows.back();
    EXPECT_GT(std::hypot(ends[r].e - starts[r].e, ends[r].m - starts[r].m), 0.02) << r;
    EXPECT_NEAR(ends[r].e, row.e.value, of_table_and_steps) << r;
    EXPECT_NEAR(ends[r].m, row.m.value, of_table_and_steps) << r;
  }
}

double semantic_part(const std::vector<SgdRun>& runs) {
  double semantic = 0.0;
  for (const SgdRun& run : runs) {
    if (std::abs(run.m) > 0.5 && std::abs(run.m) > std::abs(run.e)) semantic += 1.0;
  }
  return semantic / static_cast<double>(runs.size());
}

TEST(LongSsiDiffusion, TheDiffusionEndsWhereTheChainEnds) {
  SgdOptions options;
  options.dim = 100;
  options.rate = 0.05;
  options.start = Start::zero;
  options.steps = 120'000;
  options.runs = static_cast<std::size_t>(testing::scaled(512));
  const SequenceModel model = mixture(1.0, 0.64, SampleLoss::frobenius);
  const Context two = testing::with_threads(2);
  const double chain = semantic_part(run_chain(model, options, two));
  SgdOptions more = options;
  more.runs = 2048;
  const FlowField field(model, options.rate, 1, two);
  const double sde = semantic_part(run_diffusion(field, more, {}, two).runs);
  // Binomial errors of both at p = 1/2, 5 of them (a false alarm of 6e-7).
  const double error = 0.5 * std::sqrt(1.0 / static_cast<double>(options.runs) + 1.0 / 2048.0);
  EXPECT_NEAR(chain, sde, 5 * error);
  EXPECT_GT(chain, 0.3);
  EXPECT_LT(chain, 0.7);
}

}  // namespace
}  // namespace onset::ssi
