// A device plug-in without a device: plain loops on the processor, against which the loader, the
// interface and the learners on top of it are tested where there is no GPU. It fails on purpose
// after ONSET_REFERENCE_DEVICE_CALLS products, if that is set.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/philox.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/device/plugin.hpp"
#include "two_token_sums.hpp"

struct OnsetPosteriors {
  std::size_t layers;
  std::vector<double> normals;
  onset_plugin::Network network;
};

struct OnsetTokens {
  OnsetTokenShape shape;
  std::vector<double> x;
  std::vector<double> vectors;  ///< eigenvectors, as rows
  std::vector<double> weights;
  std::size_t width;
  std::size_t count;

  [[nodiscard]] const double* token(std::size_t sample, std::size_t a) const {
    return x.data() + (sample * shape.tokens + a) * shape.dim;
  }
  /// Calls work(sample, a, b, place) for all pairs a <= b, in the order of the interface.
  template <class Work>
  void for_pairs(Work work) const {
    std::size_t place = 0;
    for (std::size_t s = 0; s < shape.samples; ++s) {
      for (std::size_t a = 0; a < shape.tokens; ++a) {
        for (std::size_t b = a; b < shape.tokens; ++b) work(s, a, b, place++);
      }
    }
  }
  /// Component j of W^T x for student k.
  [[nodiscard]] double field(std::size_t k, const double* token, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < shape.dim; ++i) {
      sum += weights[(k * shape.dim + i) * width + j] * token[i];
    }
    return sum;
  }
};

namespace {

/// 1, as a failed call, once the calls that the environment allows have been made.
int counted_call() {
  static const char* const allowed = std::getenv("ONSET_REFERENCE_DEVICE_CALLS");
  static std::atomic<int> calls = 0;
  return allowed != nullptr && ++calls > std::atoi(allowed) ? 1 : 0;
}

int find(char* name, std::size_t size) {
  std::snprintf(name, size, "reference device");
  return 0;
}

OnsetTokens* copy_tokens(OnsetTokenShape shape, const double* tokens) {
  const std::size_t size = shape.samples * shape.tokens * shape.dim;
  return new OnsetTokens{shape, std::vector<double>(tokens, tokens + size), {}, {}, 0, 0};
}

OnsetTokens* draw_tokens(OnsetTokenShape shape, OnsetDraws draws) {
  std::vector<double> x(shape.samples * shape.tokens * shape.dim);
  std::vector<std::uint64_t> bits(x.size() + x.size() % 2);
  onset::numerics::simd::PhiloxBlocks{draws.key0, draws.key1, draws.counter1, draws.counter2,
                                      draws.counter3}
      .fill(0, bits.size() / 2, bits.data());
  bits.resize(x.size());
  onset::numerics::simd::to_unit_interval(bits, x);
  onset::numerics::simd::normal_quantile(x, x);
  return copy_tokens(shape, x.data());
}

int pair_products(OnsetTokens* tokens, const double* matrix, double* out) {
  const std::size_t dim = tokens->shape.dim;
  tokens->for_pairs([&](std::size_t s, std::size_t a, std::size_t b, std::size_t place) {
    out[place] = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      double row = 0.0;
      for (std::size_t j = 0; j < dim; ++j) row += matrix[i * dim + j] * tokens->token(s, b)[j];
      out[place] += tokens->token(s, a)[i] * row;
    }
  });
  return counted_call();
}

int squared_norms(OnsetTokens* tokens, double* out) {
  const std::size_t dim = tokens->shape.dim;
  for (std::size_t r = 0; r < tokens->x.size() / dim; ++r) {
    out[r] = 0.0;
    for (std::size_t i = 0; i < dim; ++i) out[r] += tokens->x[r * dim + i] * tokens->x[r * dim + i];
  }
  return counted_call();
}

int weighted_products(OnsetTokens* tokens, const double* weights, double* out) {
  const std::size_t dim = tokens->shape.dim;
  std::fill(out, out + dim * dim, 0.0);
  tokens->for_pairs([&](std::size_t s, std::size_t a, std::size_t b, std::size_t place) {
    const double* x = tokens->token(s, a);
    const double* y = tokens->token(s, b);
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = 0; j < dim; ++j) {
        out[i * dim + j] += weights[place] * 0.5 * (x[i] * y[j] + y[i] * x[j]);
      }
    }
  });
  return counted_call();
}

int eigenvalues(OnsetTokens* tokens, const double* matrix, double* values) {
  const std::size_t dim = tokens->shape.dim;
  tokens->vectors.assign(matrix, matrix + dim * dim);
  onset::numerics::symmetric_eigen(dim, tokens->vectors, {values, dim});
  return counted_call();
}

int with_eigenvalues(OnsetTokens* tokens, const double* values, double* out) {
  const std::size_t dim = tokens->shape.dim;
  const double* v = tokens->vectors.data();
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) {
      out[i * dim + j] = 0.0;
      for (std::size_t k = 0; k < dim; ++k) {
        out[i * dim + j] += values[k] * v[k * dim + i] * v[k * dim + j];
      }
    }
  }
  return counted_call();
}

int student_products(OnsetTokens* tokens, const double* weights, std::size_t width,
                     std::size_t count, double* out) {
  const std::size_t dim = tokens->shape.dim;
  tokens->weights.assign(weights, weights + count * dim * width);
  tokens->width = width;
  tokens->count = count;
  std::size_t first = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t pairs = 0;
    tokens->for_pairs([&](std::size_t s, std::size_t a, std::size_t b, std::size_t place) {
      double sum = 0.0;
      for (std::size_t j = 0; j < width; ++j) {
        sum += tokens->field(k, tokens->token(s, a), j) * tokens->field(k, tokens->token(s, b), j);
      }
      out[first + place] = sum;
      ++pairs;
    });
    first += pairs;
  }
  return counted_call();
}

int student_gradients(OnsetTokens* tokens, const double* slopes, double* out) {
  const std::size_t dim = tokens->shape.dim;
  const std::size_t width = tokens->width;
  std::fill(out, out + tokens->count * dim * width, 0.0);
  std::size_t first = 0;
  for (std::size_t k = 0; k < tokens->count; ++k) {
    std::size_t pairs = 0;
    tokens->for_pairs([&](std::size_t s, std::size_t a, std::size_t b, std::size_t place) {
      const double* x = tokens->token(s, a);
      const double* y = tokens->token(s, b);
      for (std::size_t j = 0; j < width; ++j) {
        const double field_x = tokens->field(k, x, j);
        const double field_y = tokens->field(k, y, j);
        for (std::size_t i = 0; i < dim; ++i) {
          out[(k * dim + i) * width + j] +=
              slopes[first + place] * (x[i] * field_y + y[i] * field_x);
        }
      }
      ++pairs;
    });
    first += pairs;
  }
  return counted_call();
}

/// A worker who does it all.
struct Alone {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  static void wait() {}
  static double sum(double x) { return x; }
  static double min(double x) { return x; }
};

OnsetPosteriors* make_posteriors(const OnsetNetwork* network) {
  if (network->layers < 2 || network->layers > ONSET_DEVICE_LAYERS) return nullptr;
  const std::size_t size = network->sets * (network->layers - 1) * network->nodes;
  auto* made =
      new OnsetPosteriors{network->layers, {network->normals, network->normals + size}, {}};
  made->network = onset_plugin::network_of(*network, made->normals.data());
  return made;
}

template <int layers, bool with_products>
void sum_samples(const OnsetPosteriors& posteriors, const OnsetSamples& samples, double* out) {
  constexpr OnsetSampleRecord record{layers};
  const onset_plugin::Prior prior = onset_plugin::prior_of(samples, layers);
  onset_plugin::Sample<layers> sample;
  onset_plugin::Totals<layers, with_products> totals;
  const onset_plugin::Estimate<layers> estimate{posteriors.network, prior, sample};
  for (std::size_t i = 0; i < 2 * samples.count; ++i) {
    onset_plugin::posterior_sums<layers, with_products>(
        estimate, samples.records + i / 2 * record.size(), static_cast<int>(i % 2), Alone{}, sample,
        totals, out + i * record.sums(with_products));
  }
}

template <int layers>
void sum_samples(const OnsetPosteriors& posteriors, const OnsetSamples& samples, double* out) {
  if (samples.products != 0) {
    sum_samples<layers, true>(posteriors, samples, out);
  } else {
    sum_samples<layers, false>(posteriors, samples, out);
  }
}

int posterior_sums(OnsetPosteriors* posteriors, const OnsetSamples* samples, double* out) {
  using Kernel = void (*)(const OnsetPosteriors&, const OnsetSamples&, double*);
  constexpr Kernel kernels[] = {sum_samples<2>, sum_samples<3>, sum_samples<4>, sum_samples<5>,
                                sum_samples<6>, sum_samples<7>, sum_samples<8>};
  kernels[posteriors->layers - 2](*posteriors, *samples, out);
  return counted_call();
}

const OnsetDevicePlugin table = {ONSET_DEVICE_ABI,
                                 [] { return "the calls that were allowed have been made"; },
                                 find,
                                 copy_tokens,
                                 draw_tokens,
                                 [](OnsetTokens* tokens) { delete tokens; },
                                 pair_products,
                                 squared_norms,
                                 weighted_products,
                                 eigenvalues,
                                 with_eigenvalues,
                                 student_products,
                                 student_gradients,
                                 make_posteriors,
                                 [](OnsetPosteriors* posteriors) { delete posteriors; },
                                 posterior_sums};

}  // namespace

const OnsetDevicePlugin* onset_device_plugin() {
  return &table;
}
