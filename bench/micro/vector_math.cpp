// Times vectorised elementary functions and those of the standard library, element by element.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"

namespace {

constexpr std::size_t count = 4096;

std::vector<double> normals() {
  std::vector<double> x(count);
  onset::numerics::Stream(1, "bench").normal(x);
  return x;
}

void exp_vector(benchmark::State& state) {
  const auto x = normals();
  std::vector<double> y(count);
  for (auto _ : state) {
    onset::numerics::simd::exp(x, y);
    benchmark::DoNotOptimize(y.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

void exp_plain(benchmark::State& state) {
  const auto x = normals();
  std::vector<double> y(count);
  for (auto _ : state) {
    for (std::size_t i = 0; i < count; ++i) y[i] = std::exp(x[i]);
    benchmark::DoNotOptimize(y.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

void normal_stream(benchmark::State& state) {
  std::vector<double> y(count);
  onset::numerics::Stream stream(1, "bench");
  for (auto _ : state) {
    stream.seek(0);
    stream.normal(y);
    benchmark::DoNotOptimize(y.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

}  // namespace

BENCHMARK(exp_vector);
BENCHMARK(exp_plain);
BENCHMARK(normal_stream);
