// Times a job that users run, a curve of sixty sample ratios, beside one of two. The expectations
// are shared, so the ratio of the times stays near one.
#include <benchmark/benchmark.h>

#include <vector>

#include "smi/limits/curve.hpp"
#include "smi/model/attention_model.hpp"

namespace {

void curve(benchmark::State& state) {
  const onset::smi::DeepAttention model;
  std::vector<double> alphas;
  for (std::int64_t k = 1; k <= state.range(0); ++k) {
    alphas.push_back(1.2 * static_cast<double>(k) / static_cast<double>(state.range(0)));
  }
  onset::smi::CurveOptions options;
  options.tolerance = 2e-2;
  onset::Context context;
  context.threads = onset::available_threads();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        onset::smi::bayes_curve(*attention_model(model), alphas, options, context));
  }
}

}  // namespace

BENCHMARK(curve)->Arg(2)->Arg(60)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
