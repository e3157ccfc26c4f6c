// The device plug-in for NVIDIA GPUs (include/onset/device/plugin.hpp): products by cuBLAS,
// eigenvectors by cuSOLVER, tokens kept in the memory of the GPU or drawn again from their
// counters. Compile with --fmad=false: then the tokens have the bits of the processor's.
//
// Row-major matrices of the interface are column-major ones of the libraries, transposed; comments
// speak of the interface's.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "device.hpp"
#include "numerics/point_sets/quantile_fractions.hpp"
#include "numerics/random/philox_scalar.hpp"

namespace {

using onset_plugin::check;
using onset_plugin::fail;
using onset_plugin::guarded;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fail(std::string(what) + ": " + cublasGetStatusString(status));
  }
}
void check(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    fail(std::string(what) + ": cuSOLVER status " + std::to_string(status));
  }
}

/// Memory of the device that grows and never shrinks.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  double* get(std::size_t count) {
    if (count > size_) {
      cudaFree(data_);
      data_ = nullptr;
      size_ = 0;
      check(cudaMalloc(&data_, count * sizeof(double)), "memory of the GPU");
      size_ = count;
    }
    return data_;
  }
  double* take(const double* host, std::size_t count) {
    get(count);
    check(cudaMemcpy(data_, host, count * sizeof(double), cudaMemcpyHostToDevice),
          "copy to the GPU");
    return data_;
  }
  [[nodiscard]] double* data() const { return data_; }

 private:
  double* data_ = nullptr;
  std::size_t size_ = 0;
};

void give(const double* device, std::size_t count, double* host) {
  check(cudaMemcpy(host, device, count * sizeof(double), cudaMemcpyDeviceToHost),
        "copy from the GPU");
}

constexpr int threads = 256;
constexpr int warp = 32;
constexpr std::size_t warps_per_block = threads / warp;

unsigned blocks_for(std::size_t count, std::size_t per_block) {
  return static_cast<unsigned>(std::max<std::size_t>(1, (count + per_block - 1) / per_block));
}

// Normals of counters, with the operations of numerics/simd/normal_quantile.cpp in their order.

using onset::numerics::QuantileFraction;
__constant__ QuantileFraction centre_fraction = onset::numerics::quantile_centre;
__constant__ QuantileFraction tail_fraction = onset::numerics::quantile_tail;
__constant__ QuantileFraction far_fraction = onset::numerics::quantile_far_tail;

__device__ double rational(double x, const QuantileFraction& fraction) {
  double numerator = fraction.top[0];
  double denominator = fraction.bottom[0];
  for (int k = 1; k < 8; ++k) {
    numerator = numerator * x + fraction.top[k];
    denominator = denominator * x + fraction.bottom[k];
  }
  return numerator / denominator;
}

/// -log x for 2^-53 <= x < 0.08.
__device__ double minus_log(double x) {
  constexpr unsigned long long one = 0x3FF0000000000000;
  constexpr unsigned long long root_half = 0x3FE6A09E667F3BCD;
  constexpr unsigned long long mantissa = 0x000FFFFFFFFFFFFF;
  const unsigned long long bits = __double_as_longlong(x) + (one - root_half);
  const double m = __longlong_as_double(static_cast<long long>((bits & mantissa) + root_half));
  const double k = static_cast<double>(bits >> 52) - 1023.0;
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 2.0 / 19.0;
  for (int odd = 17; odd >= 3; odd -= 2) series = series * z + 2.0 / odd;
  const double small = (s * z) * series + k * 0x1.ef35793c76730p-45;
  const double log_m = (s + s) + small;
  return -(k * 0x1.62e42fefa38p-1 + log_m);
}

__device__ double normal(unsigned long long bits) {
  const double p = (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
  const double q = p - 0.5;
  constexpr double half_width = onset::numerics::centre_half_width;
  if (fabs(q) <= half_width) {
    return q * rational(half_width * half_width - q * q, centre_fraction);
  }
  const double r = sqrt(minus_log(p < 0.5 ? p : 1.0 - p));
  const double value = r > 5.0 ? rational(r - 5.0, far_fraction) : rational(r - 1.6, tail_fraction);
  return p < 0.5 ? -value : value;
}

/// Draws `first` (even) to first + count of the stream.
__global__ void draw(OnsetDraws draws, std::size_t first, std::size_t count, double* out) {
  const std::size_t i = 2 * (blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x);
  if (i >= count) return;
  const std::size_t block = (first + i) / 2;
  std::uint32_t words[4] = {static_cast<std::uint32_t>(block),
                            draws.counter1 + static_cast<std::uint32_t>(block >> 32),
                            draws.counter2, draws.counter3};
  onset::numerics::philox_block(words, draws.key0, draws.key1);
  out[i] = normal(words[0] | static_cast<unsigned long long>(words[1]) << 32);
  if (i + 1 < count) {
    out[i + 1] = normal(words[2] | static_cast<unsigned long long>(words[3]) << 32);
  }
}

// Small products: a warp makes one, adding in an order of its own.

__device__ double warp_sum(double x) {
  for (int offset = warp / 2; offset > 0; offset /= 2) x += __shfl_down_sync(~0u, x, offset);
  return x;
}

/// out[i] = x_a . y_b for all samples and pairs; i = sample * pairs + pair.
__global__ void pair_dots(const double* x, const double* y, std::size_t samples, int tokens,
                          std::size_t size, double* out) {
  const std::size_t pairs = static_cast<std::size_t>(tokens) * (tokens + 1) / 2;
  const std::size_t i = blockIdx.x * warps_per_block + threadIdx.x / warp;
  if (i >= samples * pairs) return;
  const std::size_t sample = i / pairs;
  int a = 0;
  int b = static_cast<int>(i % pairs);
  while (b >= tokens - a) b -= tokens - a++;
  b += a;
  const double* left = x + (sample * tokens + a) * size;
  const double* right = y + (sample * tokens + b) * size;
  double sum = 0.0;
  for (std::size_t j = threadIdx.x % warp; j < size; j += warp) sum += left[j] * right[j];
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) out[i] = sum;
}

__global__ void row_norms(const double* x, std::size_t rows, std::size_t size, double* out) {
  const std::size_t i = blockIdx.x * warps_per_block + threadIdx.x / warp;
  if (i >= rows) return;
  double sum = 0.0;
  for (std::size_t j = threadIdx.x % warp; j < size; j += warp)
    sum += x[i * size + j] * x[i * size + j];
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) out[i] = sum;
}

/// The tokens of a sample, of `size` numbers each, and the factors of a token and of the others.
struct Mixture {
  int tokens;
  std::size_t size;
  double own;
  double other;
};

/// out_a = sum_b (a = b ? own : other) w_ab x_b, per sample; a warp for each row.
__global__ void mix(const double* x, const double* weights, std::size_t rows, Mixture mixture,
                    double* out) {
  const int tokens = mixture.tokens;
  const std::size_t size = mixture.size;
  const std::size_t pairs = static_cast<std::size_t>(tokens) * (tokens + 1) / 2;
  const std::size_t i = blockIdx.x * warps_per_block + threadIdx.x / warp;
  if (i >= rows) return;
  const std::size_t sample = i / tokens;
  const int a = static_cast<int>(i % tokens);
  const double* w = weights + sample * pairs;
  const double* in = x + sample * tokens * size;
  for (std::size_t j = threadIdx.x % warp; j < size; j += warp) {
    double sum = 0.0;
    for (int b = 0; b < tokens; ++b) {
      const int low = a < b ? a : b;
      const int high = a < b ? b : a;
      const double weight = w[low * tokens - low * (low + 1) / 2 + high];
      sum += (a == b ? mixture.own : mixture.other) * weight * in[b * size + j];
    }
    out[i * size + j] = sum;
  }
}

/// Column k of a column-major matrix times values[k].
__global__ void scale_columns(const double* matrix, const double* values, std::size_t size,
                              double* out) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < size * size) out[i] = matrix[i] * values[i / size];
}

void launched() {
  check(cudaGetLastError(), "a kernel");
}

}  // namespace

struct OnsetTokens {
 public:
  OnsetTokens(OnsetTokenShape shape, const double* host) : shape_(shape) {
    open();
    x_.take(host, rows() * shape.dim);
    kept_ = true;
  }
  OnsetTokens(OnsetTokenShape shape, OnsetDraws draws) : shape_(shape), draws_(draws) {
    open();
    std::size_t free = 0;
    std::size_t all = 0;
    check(cudaMemGetInfo(&free, &all), "memory of the GPU");
    // A third is left for what is made of the tokens.
    kept_ = rows() * shape.dim * sizeof(double) < free / 3 * 2;
    if (kept_) draw_rows(0, rows(), x_.get(rows() * shape.dim));
  }
  ~OnsetTokens() {
    if (solver_) cusolverDnDestroy(solver_);
    if (blas_) cublasDestroy(blas_);
  }

  void pair_products(const double* matrix, double* out) {
    const std::size_t d = shape_.dim;
    const double* s = matrix_.take(matrix, d * d);
    double* result = pairs_.get(shape_.samples * pairs());
    for_chunks([&](const double* x, std::size_t first, std::size_t count) {
      double* y = products_.get(count * d);
      multiply(CUBLAS_OP_N, count, d, s, x, 0.0, y);
      const std::size_t samples = count / shape_.tokens;
      pair_dots<<<blocks_for(samples * pairs(), warps_per_block), threads>>>(
          x, y, samples, tokens(), d, result + first / shape_.tokens * pairs());
      launched();
    });
    give(result, shape_.samples * pairs(), out);
  }

  void squared_norms(double* out) {
    double* result = pairs_.get(rows());
    for_chunks([&](const double* x, std::size_t first, std::size_t count) {
      row_norms<<<blocks_for(count, warps_per_block), threads>>>(x, count, shape_.dim,
                                                                 result + first);
      launched();
    });
    give(result, rows(), out);
  }

  void weighted_products(const double* weights, double* out) {
    const std::size_t d = shape_.dim;
    const double* w = pairs_.take(weights, shape_.samples * pairs());
    double* result = matrix_.get(d * d);
    check(cudaMemset(result, 0, d * d * sizeof(double)), "memory of the GPU");
    for_chunks([&](const double* x, std::size_t first, std::size_t count) {
      double* y = products_.get(count * d);
      mix<<<blocks_for(count, warps_per_block), threads>>>(x, w + first / shape_.tokens * pairs(),
                                                           count, {tokens(), d, 1.0, 0.5}, y);
      launched();
      multiply(CUBLAS_OP_T, d, count, y, x, 1.0, result);
    });
    give(result, d * d, out);
  }

  void eigenvalues(const double* matrix, double* values) {
    const int d = static_cast<int>(shape_.dim);
    double* vectors = vectors_.take(matrix, shape_.dim * shape_.dim);
    double* found = values_.get(shape_.dim + 1);  // and the report of the solver
    int* info = reinterpret_cast<int*>(found + shape_.dim);
    int work = 0;
    check(cusolverDnDsyevd_bufferSize(solver_, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, d,
                                      vectors, d, found, &work),
          "eigenvalues");
    check(cusolverDnDsyevd(solver_, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, d, vectors, d,
                           found, work_.get(static_cast<std::size_t>(work)), work, info),
          "eigenvalues");
    int failed = 0;
    check(cudaMemcpy(&failed, info, sizeof failed, cudaMemcpyDeviceToHost), "eigenvalues");
    if (failed != 0) fail("the eigenvalues of a matrix were not found");
    give(found, shape_.dim, values);
  }

  void with_eigenvalues(const double* values, double* out) {
    const std::size_t d = shape_.dim;
    const double* wanted = values_.take(values, d);
    double* scaled = work_.get(d * d);
    scale_columns<<<blocks_for(d * d, threads), threads>>>(vectors_.data(), wanted, d, scaled);
    launched();
    double* result = matrix_.get(d * d);
    multiply(CUBLAS_OP_T, d, d, scaled, vectors_.data(), 0.0, result);
    give(result, d * d, out);
  }

  void student_products(const double* weights, std::size_t width, std::size_t count, double* out) {
    const std::size_t d = shape_.dim;
    width_ = width;
    count_ = count;
    const double* w = weights_.take(weights, count * d * width);
    double* fields = fields_.get(count * rows() * width);
    for_chunks([&](const double* x, std::size_t first, std::size_t n) {
      multiply_students(CUBLAS_OP_N, {width, n, d}, {w, width, d * width}, {x, d, 0}, 0.0,
                        {fields + first * width, width, rows() * width});
    });
    double* result = pairs_.get(count * shape_.samples * pairs());
    pair_dots<<<blocks_for(count * shape_.samples * pairs(), warps_per_block), threads>>>(
        fields, fields, count * shape_.samples, tokens(), width, result);
    launched();
    give(result, count * shape_.samples * pairs(), out);
  }

  void student_gradients(const double* slopes, double* out) {
    const std::size_t d = shape_.dim;
    const double* s = pairs_.take(slopes, count_ * shape_.samples * pairs());
    double* mixed = products_.get(count_ * rows() * width_);
    mix<<<blocks_for(count_ * rows(), warps_per_block), threads>>>(
        fields_.data(), s, count_ * rows(), {tokens(), width_, 2.0, 1.0}, mixed);
    launched();
    double* result = weights_.get(count_ * d * width_);
    for_chunks([&](const double* x, std::size_t first, std::size_t n) {
      multiply_students(CUBLAS_OP_T, {width_, d, n},
                        {mixed + first * width_, width_, rows() * width_}, {x, d, 0},
                        first == 0 ? 0.0 : 1.0, {result, width_, d * width_});
    });
    give(result, count_ * d * width_, out);
  }

 private:
  /// A batch of matrices for cuBLAS: the first one, its leading dimension, and the way to the next.
  template <class T>
  struct Batch {
    T* first;
    std::size_t leading;
    std::size_t stride;
  };
  /// A product of a rows x inner matrix with an inner x columns one.
  struct ProductSize {
    std::size_t rows;
    std::size_t columns;
    std::size_t inner;
  };

  void open() {
    check(cublasCreate(&blas_), "cuBLAS");
    check(cusolverDnCreate(&solver_), "cuSOLVER");
  }
  [[nodiscard]] std::size_t rows() const { return shape_.samples * shape_.tokens; }
  [[nodiscard]] int tokens() const { return static_cast<int>(shape_.tokens); }
  [[nodiscard]] std::size_t pairs() const { return shape_.tokens * (shape_.tokens + 1) / 2; }

  static std::int64_t whole(std::size_t x) { return static_cast<std::int64_t>(x); }

  /// c = a op(b) + keep c, where a has `inner` columns, c has `columns`, and all columns have dim
  /// numbers.
  void multiply(cublasOperation_t op_b, std::size_t columns, std::size_t inner, const double* a,
                const double* b, double keep, double* c) {
    const double one = 1.0;
    const std::int64_t d = whole(shape_.dim);
    check(cublasDgemm_64(blas_, CUBLAS_OP_N, op_b, d, whole(columns), whole(inner), &one, a, d, b,
                         d, &keep, c, d),
          "a product");
  }

  /// The same for every student: c is rows x columns.
  void multiply_students(cublasOperation_t op_b, ProductSize size, Batch<const double> a,
                         Batch<const double> b, double keep, Batch<double> c) {
    const double one = 1.0;
    check(cublasDgemmStridedBatched_64(
              blas_, CUBLAS_OP_N, op_b, whole(size.rows), whole(size.columns), whole(size.inner),
              &one, a.first, whole(a.leading), whole(a.stride), b.first, whole(b.leading),
              whole(b.stride), &keep, c.first, whole(c.leading), whole(c.stride), whole(count_)),
          "a product");
  }

  void draw_rows(std::size_t first, std::size_t count, double* out) {
    const std::size_t d = shape_.dim;
    draw<<<blocks_for((count * d + 1) / 2, threads), threads>>>(draws_, first * d, count * d, out);
    launched();
  }

  /// Calls work(tokens, first row, rows) for parts of whole samples; a part starts at an even draw.
  template <class Work>
  void for_chunks(Work work) {
    constexpr std::size_t chunk_numbers = std::size_t{1} << 27;  // a gigabyte
    const std::size_t step =
        std::max<std::size_t>(1, chunk_numbers / shape_.dim / (2 * shape_.tokens)) * 2 *
        shape_.tokens;
    for (std::size_t first = 0; first < rows(); first += step) {
      const std::size_t count = std::min(step, rows() - first);
      if (!kept_) draw_rows(first, count, x_.get(step * shape_.dim));
      work(kept_ ? x_.data() + first * shape_.dim : x_.data(), first, count);
    }
  }

  OnsetTokenShape shape_;
  OnsetDraws draws_{};
  bool kept_ = false;  ///< whether all tokens are in x_; otherwise it holds a part of them
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  Buffer x_;
  Buffer products_;
  Buffer pairs_;
  Buffer matrix_;
  Buffer vectors_;
  Buffer values_;
  Buffer work_;
  Buffer weights_;
  Buffer fields_;
  std::size_t width_ = 0;
  std::size_t count_ = 0;
};

namespace {

template <class... Words>
OnsetTokens* make(Words... words) {
  OnsetTokens* tokens = nullptr;
  (void)guarded([&] { tokens = std::make_unique<OnsetTokens>(words...).release(); });
  return tokens;
}

int find(char* name, std::size_t size) {
  return guarded([&] {
    int count = 0;
    check(cudaGetDeviceCount(&count), "CUDA");
    if (count == 0) fail("no GPU");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "CUDA");
    std::snprintf(name, size, "%s, %.0f GiB", properties.name,
                  static_cast<double>(properties.totalGlobalMem) / (1024.0 * 1024.0 * 1024.0));
  });
}

const OnsetDevicePlugin table = {
    ONSET_DEVICE_ABI,
    [] { return onset_plugin::last_error.c_str(); },
    find,
    [](OnsetTokenShape shape, const double* tokens) { return make(shape, tokens); },
    [](OnsetTokenShape shape, OnsetDraws draws) { return make(shape, draws); },
    [](OnsetTokens* tokens) { delete tokens; },
    [](OnsetTokens* tokens, const double* matrix, double* out) {
      return guarded([&] { tokens->pair_products(matrix, out); });
    },
    [](OnsetTokens* tokens, double* out) { return guarded([&] { tokens->squared_norms(out); }); },
    [](OnsetTokens* tokens, const double* weights, double* out) {
      return guarded([&] { tokens->weighted_products(weights, out); });
    },
    [](OnsetTokens* tokens, const double* matrix, double* values) {
      return guarded([&] { tokens->eigenvalues(matrix, values); });
    },
    [](OnsetTokens* tokens, const double* values, double* out) {
      return guarded([&] { tokens->with_eigenvalues(values, out); });
    },
    [](OnsetTokens* tokens, const double* weights, std::size_t width, std::size_t count,
       double* out) {
      return guarded([&] { tokens->student_products(weights, width, count, out); });
    },
    [](OnsetTokens* tokens, const double* slopes, double* out) {
      return guarded([&] { tokens->student_gradients(slopes, out); });
    },
    onset_plugin::make_posteriors,
    onset_plugin::forget_posteriors,
    onset_plugin::posterior_sums,
};

}  // namespace

const OnsetDevicePlugin* onset_device_plugin() {
  return &table;
}
