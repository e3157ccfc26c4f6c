#include "aim/model/data.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "aim/model/channel.hpp"
#include "aim/model/token_products.hpp"
#include "device/tokens.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/zeros.hpp"

namespace onset::aim {
namespace {

using numerics::MatrixView;

/// Numbers drawn between two looks at the stop token.
constexpr std::size_t draws_together = std::size_t{1} << 20;

std::vector<double> normals(std::size_t count, std::uint64_t seed, const char* purpose,
                            std::uint64_t index, const Context& context) {
  // It grows as it is drawn: clearing all of it first could not be ended for seconds.
  std::vector<double> out;
  out.reserve(count);
  numerics::Stream stream(seed, purpose, index);
  for (std::size_t first = 0; first < count; first += draws_together) {
    context.check();
    out.resize(std::min(count, first + draws_together));
    stream.normal(std::span(out).subspan(first));
  }
  return out;
}

void add_noise(const AttentionIndexed& model, std::vector<double>& scores, std::size_t tokens,
               const std::vector<double>& z) {
  const std::size_t each = tokens * (tokens + 1) / 2;
  for (std::size_t a = 0; a < tokens; ++a) {
    for (std::size_t b = a; b < tokens; ++b) {
      const double deviation = std::sqrt(model.noise_on(a == b));
      for (std::size_t i = score_index(a, b, tokens); i < scores.size(); i += each) {
        scores[i] += deviation * z[i];
      }
    }
  }
}

std::shared_ptr<device::Tokens> draw_on_device(OnsetTokenShape shape, const DataSource& source,
                                               const char* purpose) {
  const auto [key, counter] = numerics::Stream(source.seed, purpose, source.index).counters();
  return std::make_shared<device::Tokens>(
      shape, OnsetDraws{key[0], key[1], counter[0], counter[1], counter[2]});
}

}  // namespace

Dataset Dataset::first(std::size_t count) const {
  const auto part = [&](const std::vector<double>& all) {
    const std::size_t size = all.size() / samples * count;
    return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  };
  return {count, tokens, dim, part(inputs), part(labels)};
}

void Dataset::move_to(device::DeviceKind device) {
  if (device != device::DeviceKind::gpu) return;
  on_device = std::make_shared<device::Tokens>(OnsetTokenShape{samples, tokens, dim}, inputs);
  inputs = {};
}

std::size_t width_of(double rho, std::size_t dim) {
  return static_cast<std::size_t>(std::max(1.0, std::round(rho * static_cast<double>(dim))));
}

std::size_t samples_of(double alpha, std::size_t dim) {
  const auto d = static_cast<double>(dim);
  return static_cast<std::size_t>(std::max(1.0, std::round(alpha * d * d)));
}

std::vector<double> score_matrix(const std::vector<double>& weights, std::size_t dim,
                                 std::size_t width, const Context& context) {
  std::vector<double> matrix(dim * dim);
  const MatrixView w{weights.data(), dim, width};
  numerics::multiply_by_transpose(w, w, matrix, context);
  const double scale = 1.0 / std::sqrt(static_cast<double>(width) * static_cast<double>(dim));
  for (double& x : matrix) x *= scale;
  return matrix;
}

Teacher sample_teacher(const AttentionIndexed& model, std::size_t dim, std::uint64_t seed,
                       std::uint64_t index, const Context& context) {
  Teacher teacher;
  teacher.dim = dim;
  teacher.width = width_of(model.rho, dim);
  teacher.weights = normals(dim * teacher.width, seed, "aim teacher", index, context);
  teacher.matrix = score_matrix(teacher.weights, dim, teacher.width, context);
  return teacher;
}

Dataset sample_tokens(int tokens, std::size_t dim, std::size_t samples, const DataSource& source,
                      const Context& context) {
  const bool test = source.use == DataUse::test;
  const char* const purpose = test ? "aim new tokens" : "aim tokens";
  Dataset data;
  data.samples = samples;
  data.tokens = static_cast<std::size_t>(tokens);
  data.dim = dim;
  if (source.device == device::DeviceKind::gpu) {
    data.on_device = draw_on_device({samples, data.tokens, dim}, source, purpose);
  } else {
    data.inputs = normals(samples * data.tokens * dim, source.seed, purpose, source.index, context);
  }
  return data;
}

Dataset sample_data(const AttentionIndexed& model, const Teacher& teacher, std::size_t samples,
                    const DataSource& source, const Context& context) {
  Dataset data = sample_tokens(model.tokens, teacher.dim, samples, source, context);
  const std::size_t tokens = data.tokens;
  const std::size_t each = tokens * (tokens + 1) / 2;
  std::vector<double> scores;
  numerics::lay_zeros(scores, samples * each, context);
  scores_of(*token_products(data, context), teacher.matrix, tokens, scores);
  if (model.noise_variance > 0.0) {
    const bool test = source.use == DataUse::test;
    const char* const noise = test ? "aim new label noise" : "aim label noise";
    add_noise(model, scores, tokens,
              normals(scores.size(), source.seed, noise, source.index, context));
  }
  const std::size_t shown = model.channel->label_size(tokens);
  numerics::lay_zeros(data.labels, samples * shown, context);
  numerics::for_each_until_stopped(samples, context, [&](std::size_t s) {
    model.channel->label(model, {scores.data() + s * each, each},
                         {data.labels.data() + s * shown, shown});
  });
  return data;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t dim) {
  std::vector<double> rows(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) {
      rows[i] += std::pow(a[i * dim + j] - b[i * dim + j], 2);
    }
  }
  return numerics::ordered_sum(rows.data(), dim) / static_cast<double>(dim);
}

}  // namespace onset::aim
