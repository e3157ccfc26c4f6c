#include "mha/learners/polish/head_features.hpp"

#include <algorithm>
#include <cmath>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {

HeadFeatures head_features(const Subset& sample, const Vector& theta) {
  const auto dim = static_cast<Index>(sample.dim());
  const auto tokens = static_cast<Index>(sample.tokens());
  const Matrix x = tokens_of(sample, 0, sample.size());
  const Matrix queries = x * Eigen::Map<const Matrix>(theta.data(), dim, dim);
  HeadFeatures out{Matrix(x.rows(), tokens), Matrix(x.rows(), dim)};
  for (Index first = 0; first < x.rows(); first += tokens) {
    const auto keys = x.middleRows(first, tokens);
    auto attention = out.attention.middleRows(first, tokens);
    attention.noalias() = queries.middleRows(first, tokens) * keys.transpose();
    for (Index a = 0; a < tokens; ++a) {
      auto row = attention.row(a);
      row.array() = (row.array() - row.maxCoeff()).exp();
      row /= row.sum();
    }
    out.mixed.middleRows(first, tokens).noalias() = attention * keys;
  }
  return out;
}

Layer to_layer(const std::vector<Vector>& theta, const Matrix& stacked_w) {
  const auto dim = static_cast<int>(stacked_w.cols());
  Layer layer = make_layer(static_cast<int>(theta.size()), dim);
  auto out = layer.theta.begin();
  for (const Vector& head : theta) out = std::copy(head.begin(), head.end(), out);
  std::copy_n(stacked_w.data(), layer.w.size(), layer.w.begin());
  return layer;
}

std::vector<Vector> thetas_of(const Layer& layer) {
  std::vector<Vector> out;
  for (int i = 0; i < layer.heads; ++i) {
    out.emplace_back(Eigen::Map<const Vector>(layer.theta_of(i).data(),
                                              static_cast<Eigen::Index>(layer.theta_of(i).size())));
  }
  return out;
}

Layer fit_projections(const Subset& sample, const std::vector<Vector>& thetas) {
  const auto dim = static_cast<Index>(sample.dim());
  Matrix z(static_cast<Index>(sample.rows()), dim * static_cast<Index>(thetas.size()));
  for (std::size_t i = 0; i < thetas.size(); ++i) {
    z.middleCols(static_cast<Index>(i) * dim, dim) = head_features(sample, thetas[i]).mixed;
  }
  const Matrix y = labels_of(sample, 0, sample.size());
  return to_layer(thetas, numerics::least_squares(z, y));
}

double relative_residual(const Subset& sample, const Layer& layer, const Context& context) {
  const std::size_t width = sample.examples->width();
  std::vector<double> left(chunks_of(sample));
  std::vector<double> total(chunks_of(sample));
  numerics::parallel_for(context, left.size(), [&](std::size_t chunk) {
    std::vector<double> out(width);
    const std::size_t end = std::min(sample.size(), (chunk + 1) * subset_chunk);
    for (std::size_t n = chunk * subset_chunk; n < end; ++n) {
      forward_one(layer, *sample.examples, sample.index[n], out.data());
      for (std::size_t e = 0; e < width; ++e) {
        const double off = out[e] - sample.y(n)[e];
        left[chunk] += off * off;
        total[chunk] += sample.y(n)[e] * sample.y(n)[e];
      }
    }
  });
  return std::sqrt(numerics::ordered_sum(left.data(), left.size()) /
                   numerics::ordered_sum(total.data(), total.size()));
}

}  // namespace onset::mha
