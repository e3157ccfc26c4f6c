// Times one iteration of message passing beside its two matrix products alone: the ratio stays
// below two for alpha d of 10 and more. It also times the job that users run most, a curve of 256
// points.
#include <benchmark/benchmark.h>

#include <vector>

#include "aim/learners/amp.hpp"
#include "aim/limits/curve.hpp"
#include "numerics/linear_algebra/dense.hpp"

namespace {

using namespace onset;

constexpr double alpha = 0.1;

Context all_threads() {
  Context context;
  context.threads = available_threads();
  return context;
}

aim::Dataset draw(std::size_t dim, const Context& context) {
  const aim::AttentionIndexed model;
  const aim::Teacher teacher = aim::sample_teacher(model, dim, 1, 0, context);
  return aim::sample_data(model, teacher, aim::samples_of(alpha, dim), {}, context);
}

void amp_iteration(benchmark::State& state) {
  const Context context = all_threads();
  const aim::Dataset data = draw(static_cast<std::size_t>(state.range(0)), context);
  aim::AmpOptions options;
  options.max_iterations = 10;
  options.tolerance = 1e-300;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        aim::approximate_message_passing({}, data, {}, options, context).estimate.data());
  }
  state.counters["per_iteration"] = benchmark::Counter(
      10.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void matrix_products(benchmark::State& state) {
  const Context context = all_threads();
  const auto dim = static_cast<std::size_t>(state.range(0));
  const aim::Dataset data = draw(dim, context);
  const std::size_t rows = data.samples * data.tokens;
  std::vector<double> square(dim * dim, 1e-3);
  std::vector<double> products(rows * dim);
  for (auto _ : state) {
    for (int i = 0; i < 10; ++i) {
      numerics::multiply({data.inputs.data(), rows, dim}, {square.data(), dim, dim}, products,
                         context);
      numerics::transpose_multiply({data.inputs.data(), rows, dim}, {products.data(), rows, dim},
                                   square, context);
    }
    benchmark::DoNotOptimize(square.data());
  }
  state.counters["per_iteration"] = benchmark::Counter(
      10.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void curve_of_256(benchmark::State& state) {
  std::vector<double> alphas;
  for (int i = 1; i <= 256; ++i) alphas.push_back(0.2 * i / 256.0);
  aim::AttentionIndexed model;
  model.channel = aim::channels().at(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(aim::bayes_curve(model, alphas, 1, all_threads()));
  }
}

}  // namespace

BENCHMARK(amp_iteration)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(matrix_products)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(curve_of_256)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
