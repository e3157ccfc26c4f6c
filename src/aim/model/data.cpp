#include "aim/model/data.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "aim/model/channel.hpp"
#include "numerics/linear_algebra.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random.hpp"

namespace onset::aim {
namespace {

using numerics::MatrixView;

/// The number of samples per task.
constexpr std::size_t block = 256;

std::vector<double> normals(std::size_t count, std::uint64_t seed, const char* purpose,
                            std::uint64_t index) {
  std::vector<double> out(count);
  numerics::Stream(seed, purpose, index).normal(out);
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

}  // namespace

Dataset Dataset::first(std::size_t count) const {
  const auto part = [&](const std::vector<double>& all) {
    const std::size_t size = all.size() / samples * count;
    return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  };
  return {count, tokens, dim, part(inputs), part(labels)};
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
  teacher.weights = normals(dim * teacher.width, seed, "aim teacher", index);
  teacher.matrix = score_matrix(teacher.weights, dim, teacher.width, context);
  return teacher;
}

void scores_of(const Dataset& data, const std::vector<double>& matrix,
               std::vector<double>& products, std::vector<double>& scores, const Context& context) {
  const std::size_t tokens = data.tokens;
  const std::size_t dim = data.dim;
  const std::size_t each = tokens * (tokens + 1) / 2;
  products.resize(data.inputs.size());
  scores.resize(data.samples * each);
  numerics::multiply({data.inputs.data(), data.samples * tokens, dim}, {matrix.data(), dim, dim},
                     products, context);
  double trace = 0.0;
  for (std::size_t i = 0; i < dim; ++i) trace += matrix[i * dim + i];
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  const auto row = [dim](const double* start) {
    return Eigen::Map<const Eigen::VectorXd>(start, static_cast<Eigen::Index>(dim));
  };
  numerics::parallel_for(context, (data.samples + block - 1) / block, [&](std::size_t task) {
    const std::size_t end = std::min(data.samples, (task + 1) * block);
    for (std::size_t s = task * block; s < end; ++s) {
      const double* x = data.inputs.data() + s * tokens * dim;
      const double* p = products.data() + s * tokens * dim;
      for (std::size_t a = 0; a < tokens; ++a) {
        for (std::size_t b = a; b < tokens; ++b) {
          const double dot = row(x + a * dim).dot(row(p + b * dim));
          scores[s * each + score_index(a, b, tokens)] = scale * (dot - (a == b ? trace : 0.0));
        }
      }
    }
  });
}

Dataset sample_data(const AttentionIndexed& model, const Teacher& teacher, std::size_t samples,
                    std::uint64_t seed, std::uint64_t index, const Context& context, DataUse use) {
  const bool test = use == DataUse::test;
  Dataset data;
  data.samples = samples;
  data.tokens = static_cast<std::size_t>(model.tokens);
  data.dim = teacher.dim;
  const std::size_t tokens = data.tokens;
  data.inputs =
      normals(samples * tokens * data.dim, seed, test ? "aim new tokens" : "aim tokens", index);
  std::vector<double> products;
  std::vector<double> scores;
  scores_of(data, teacher.matrix, products, scores, context);
  if (model.noise_variance > 0.0) {
    const char* purpose = test ? "aim new label noise" : "aim label noise";
    add_noise(model, scores, tokens, normals(scores.size(), seed, purpose, index));
  }
  const std::size_t each = tokens * (tokens + 1) / 2;
  const std::size_t shown = model.channel->label_size(tokens);
  data.labels.resize(samples * shown);
  for (std::size_t s = 0; s < samples; ++s) {
    model.channel->label(model, {scores.data() + s * each, each},
                         {data.labels.data() + s * shown, shown});
  }
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
