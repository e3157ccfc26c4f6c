// Times the two products with the inputs in one pass of message passing, and plain reading of the
// same memory: bytes per second of each, in one run.
#include <benchmark/benchmark.h>

#include <vector>

#include "smi/learners/token_rows.hpp"

namespace {

constexpr std::size_t block = 128;  // rows of 64 samples of two tokens, as in message passing

struct Inputs {
  explicit Inputs(std::size_t dimension)
      : dim(dimension),
        rows(2 * 12 * dimension / 10),
        x(rows * dim, 0.5),
        w(2 * dim, 0.25),
        sum(2 * dim, 0.0),
        fields(2 * block) {
    rows -= rows % block;
  }
  std::size_t dim, rows;
  std::vector<double> x, w, sum, fields;
};

/// Adds all numbers up in eight lanes, as fast as memory delivers them.
void read_only(benchmark::State& state) {
  const Inputs in(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    double lanes[8] = {};
    for (std::size_t k = 0; k + 8 <= in.rows * in.dim; k += 8) {
      for (std::size_t j = 0; j < 8; ++j) lanes[j] += in.x[k + j];
    }
    benchmark::DoNotOptimize(lanes);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * in.rows * in.dim * 8));
}

void project_and_back(benchmark::State& state) {
  Inputs in(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::size_t r = 0; r < in.rows; r += block) {
      const double* x = in.x.data() + r * in.dim;
      onset::smi::project_rows(x, block, in.dim, in.w.data(), 2, in.fields.data());
      onset::smi::back_project_rows(x, block, in.dim, in.fields.data(), 2, in.sum.data());
    }
    benchmark::DoNotOptimize(in.sum.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * in.rows * in.dim * 8));
}

}  // namespace

BENCHMARK(read_only)->Arg(1000)->Arg(3000);
BENCHMARK(project_and_back)->Arg(1000)->Arg(3000);
