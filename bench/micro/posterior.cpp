// Times one two-token posterior (both halves) against the number of inner nodes; items are nodes.
#include <benchmark/benchmark.h>

#include "onset/smi/model/posterior.hpp"

namespace {

void two_layers(benchmark::State& state) {
  const onset::smi::DeepAttention model;
  const auto posterior =
      onset::smi::attention_posterior(model, {static_cast<int>(state.range(0)), 1});
  const double label[] = {0.8, -0.3};
  const double omega[] = {0.1, 0.2, 0.5, -0.4};
  const double variance[] = {1.0, 0.03};
  onset::smi::PosteriorMoments moments({2, {1, 1}}, 1);
  for (auto _ : state) {
    posterior->moments({1, label, omega, variance, 0, 0}, moments);
    benchmark::DoNotOptimize(moments.half[0].log_z.data());
  }
  state.SetItemsProcessed(state.iterations() * 2 * state.range(0));
}

}  // namespace

BENCHMARK(two_layers)->Arg(64)->Arg(256)->Arg(1024);
