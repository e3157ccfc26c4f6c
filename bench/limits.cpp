// Prints what this machine can do at most, on one core and on all, as one JSON object: products and
// eigenvectors of matrices, reading memory, exponentials and random numbers. bench.py holds our
// times against it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "numerics/linear_algebra/fortran_names.hpp"
#include "numerics/linear_algebra/symmetric_products.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/normal_stream.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/normals.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/context.hpp"

extern "C" void openblas_set_num_threads(int threads);

namespace {

using namespace onset;

volatile double kept;  ///< what a loop computed, so that it is computed

/// Processor seconds of this thread, with which other work on the machine interferes little.
double own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// The best rate of `units` of work over a few tries, on so many threads at once: by processor time
/// on one, by the wall clock on several.
double best_rate(int threads, double units, const std::function<void(std::size_t)>& work) {
  Context context;
  context.threads = threads;
  double best = 0.0;
  for (int attempt = 0; attempt < 7; ++attempt) {
    const auto clock = threads == 1 ? own_seconds : wall_seconds;
    const double start = clock();
    numerics::parallel_for(context, static_cast<std::size_t>(threads), work);
    best = std::max(best, threads * units / (clock() - start));
  }
  return best;
}

template <class Real, class Product>
double product_rate(int threads, Product product) {
  constexpr int size = 768;
  constexpr std::size_t entries = std::size_t{size} * size;
  const std::vector<Real> a(entries, Real{1});
  std::vector<std::vector<Real>> out(static_cast<std::size_t>(threads), std::vector<Real>(entries));
  const Real one{1};
  const Real zero{0};
  return best_rate(threads, 2.0 * size * size * size, [&](std::size_t i) {
    product("N", "N", &size, &size, &size, &one, a.data(), &size, a.data(), &size, &zero,
            out[i].data(), &size);
  });
}

double read_rate(int threads) {
  constexpr std::size_t count = std::size_t{1} << 25;  // 256 MiB, more than any cache
  const std::vector<double> x(count, 1.0);
  const auto parts = static_cast<std::size_t>(threads);
  return best_rate(threads, 8.0 * static_cast<double>(count / parts), [&](std::size_t i) {
    constexpr std::size_t lanes = 32;
    double sums[lanes] = {};
    const std::size_t end = (i + 1) * (count / parts);
    for (std::size_t k = i * (count / parts); k + lanes <= end; k += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += x[k + lane];
    }
    kept = sums[0] + sums[lanes - 1];
  });
}

double exp_rate(int threads) {
  constexpr std::size_t count = 4096;
  constexpr int repeats = 2000;
  std::vector<double> x(count);
  numerics::Stream(1, "limits").normal(x);
  return best_rate(threads, static_cast<double>(count) * repeats, [&](std::size_t) {
    std::vector<double> y(count);
    for (int i = 0; i < repeats; ++i) numerics::simd::exp(x, y);
    kept = y[0];
  });
}

double normal_rate(int threads) {
  constexpr std::size_t tiles = 256;
  constexpr std::size_t count = tiles * numerics::simd::normals_per_tile<double>;
  constexpr int repeats = 2000;
  return best_rate(threads, static_cast<double>(count) * repeats, [&](std::size_t thread) {
    std::vector<double> y(count);
    std::vector<std::uint64_t> state(4 * numerics::simd::generator_copies);
    numerics::Stream(1, "limits", thread).bits(state);
    for (int i = 0; i < repeats; ++i)
      numerics::simd::normals(state.data(), tiles, y.data(), nullptr);
    kept = y[0];
  });
}

/// Symmetric matrices of which eigenvectors are found in a second, in single precision.
double eigenvector_rate(int threads, std::size_t size) {
  std::vector<float> symmetric(size * size);
  numerics::NormalStream(1, "limits").fill(symmetric);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) symmetric[i * size + j] = symmetric[j * size + i];
  }
  constexpr int repeats = 8;
  return best_rate(threads, repeats, [&](std::size_t) {
    std::vector<float> values(size);
    for (int i = 0; i < repeats; ++i) {
      std::vector<float> vectors = symmetric;
      numerics::symmetric_eigen(size, vectors, values);
      kept = vectors[0];
    }
  });
}

}  // namespace

int main() {
  openblas_set_num_threads(1);
  const int all = available_threads();
  std::printf("{\"cores\": %d", all);
  for (const int threads : {1, all}) {
    const char* const where = threads == 1 ? "one" : "all";
    std::printf(
        ", \"%s\": {\"double products\": %.4g, \"single products\": %.4g, \"reading\": %.4g, "
        "\"exponentials\": %.4g, \"normals\": %.4g, \"eigenvectors of 200\": %.4g, "
        "\"eigenvectors of 400\": %.4g}",
        where, product_rate<double>(threads, dgemm_), product_rate<float>(threads, sgemm_),
        read_rate(threads), exp_rate(threads), normal_rate(threads), eigenvector_rate(threads, 200),
        eigenvector_rate(threads, 400));
    if (all == 1) break;
  }
  std::printf("}\n");
  return 0;
}
