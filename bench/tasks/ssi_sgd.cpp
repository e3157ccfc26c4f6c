// Times online SGD of two-token attention at d = 1000 beside the random numbers that it needs: each
// engine should take at most twice as long as drawing them. ssi_sgd.py adds a plain NumPy loop.
#include <benchmark/benchmark.h>

#include <vector>

#include "numerics/random/chi_square.hpp"
#include "numerics/random/normal_stream.hpp"
#include "numerics/random/stream.hpp"
#include "onset/ssi/learners/sgd.hpp"

namespace {

using namespace onset;

constexpr std::int64_t chain_steps = 4000;
constexpr std::int64_t chain_runs = 64;
constexpr std::int64_t full_steps = 400;
constexpr std::int64_t full_runs = 8;
constexpr std::size_t dim = 1000;

ssi::SequenceModel model() {
  ssi::SequenceModel m;
  m.target = ssi::mixture_link(1.0, 0.6);
  m.student.link = ssi::attention_link({2, ssi::Reduction::none, {}, {}});
  m.positional = true;
  return m;
}

ssi::SgdOptions options(std::int64_t steps, std::int64_t runs) {
  ssi::SgdOptions o;
  o.dim = dim;
  o.steps = static_cast<std::uint64_t>(steps);
  o.runs = static_cast<std::size_t>(runs);
  return o;
}

/// The items are steps times runs.
void chain(benchmark::State& state) {
  const auto m = model();
  for (auto _ : state)
    benchmark::DoNotOptimize(ssi::run_chain(m, options(chain_steps, chain_runs), {}));
  state.SetItemsProcessed(state.iterations() * chain_steps * chain_runs);
}

/// Draws five normals and one chi-square a step, for eight steps of 64 runs at once.
void chain_draws(benchmark::State& state) {
  constexpr std::size_t row = 8 * 64;
  std::vector<double> normals(5 * row);
  std::vector<double> chi(row);
  std::vector<std::uint64_t> bits(row);
  numerics::NormalStream stream(1, "bench");
  numerics::Stream spare(1, "bench spare");
  const numerics::ChiSquare chi_square(static_cast<double>(dim) - 3.0);
  for (auto _ : state) {
    for (std::int64_t done = 0; done < chain_steps; done += 8) {
      stream.fill(normals);
      stream.fill(chi, bits);
      chi_square.sample(chi, bits, spare, chi);
      benchmark::DoNotOptimize(normals.data());
      benchmark::DoNotOptimize(chi.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * chain_steps * chain_runs);
}

void full(benchmark::State& state) {
  const auto m = model();
  for (auto _ : state)
    benchmark::DoNotOptimize(ssi::run_full_dimension(m, options(full_steps, full_runs), {}));
  state.SetItemsProcessed(state.iterations() * full_steps * full_runs);
}

/// Draws two tokens of d single-precision normals a step.
void full_draws(benchmark::State& state) {
  std::vector<float> x(2 * dim);
  numerics::NormalStream stream(1, "bench");
  for (auto _ : state) {
    for (std::int64_t done = 0; done < full_steps * full_runs; ++done) {
      stream.fill(std::span<float>(x));
      benchmark::DoNotOptimize(x.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * full_steps * full_runs);
}

}  // namespace

BENCHMARK(chain)->Unit(benchmark::kMillisecond);
BENCHMARK(chain_draws)->Unit(benchmark::kMillisecond);
BENCHMARK(full)->Unit(benchmark::kMillisecond);
BENCHMARK(full_draws)->Unit(benchmark::kMillisecond);
