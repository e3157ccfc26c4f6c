#include "mha/learners/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "mha/learners/separable_fit.hpp"
#include "onset/numerics/linear_algebra.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t most_rows = 256;
/// What rounding may add to a logit.
constexpr double rounding = 1e-9;
/// Singular values of the Jacobian below this share of the largest count as zero; squares of them
/// are resolved to 1e-16.
constexpr double rank_tolerance = 1e-6;

Matrix sum_of_projections(const Layer& layer) {
  Matrix sum = Matrix::Zero(layer.dim, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    sum += Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return sum;
}

/// Smallest singular value of the differences of tokens times every w_i, one below another.
double agreement_constant(const Matrix& x, const Layer& layer) {
  const Index free = x.rows() - 1;
  Matrix differences = x.topRows(free).rowwise() - x.row(free);
  Matrix stacked(free * layer.heads, x.cols());
  for (int i = 0; i < layer.heads; ++i) {
    stacked.middleRows(i * free, free) =
        differences * Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  if (stacked.rows() > stacked.cols()) return 0.0;
  return Eigen::MatrixXd(stacked).jacobiSvd().singularValues().minCoeff();
}

/// One row: how many slabs it proves, and how many of them a head violates.
void check_row(const Matrix& x, Index query, const RowFit& row, double sigma, const Layer& layer,
               Evidence& evidence) {
  const std::vector<double>& p = row.attention();
  const double delta = std::sqrt(static_cast<double>(p.size())) * row.residual() / sigma;
  const auto e = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  for (std::size_t c = 0; c < p.size(); ++c) {
    if (c == e || !(p[c] > delta)) continue;
    const double centre = std::log(p[c] / p[e]);
    const double tolerance = -std::log1p(-delta / p[c]) - std::log1p(-delta / p[e]);
    ++evidence.slabs_checked;
    bool violated = false;
    for (int i = 0; i < layer.heads; ++i) {
      const Eigen::Map<const Matrix> theta(layer.theta_of(i).data(), layer.dim, layer.dim);
      const double value =
          x.row(query) * theta *
          (x.row(static_cast<Index>(c)) - x.row(static_cast<Index>(e))).transpose();
      violated = violated || !(std::abs(value - centre) <= tolerance * (1.0 + rounding) + rounding);
    }
    evidence.slabs_violated += violated ? 1 : 0;
  }
}

}  // namespace

void check_posterior_slabs(const Sample& sample, const std::vector<Slab>& slabs, const Layer& layer,
                           Evidence& evidence) {
  const Matrix w = sum_of_projections(layer);
  RowFit row(sample.tokens(), sample.dim());
  std::set<std::pair<std::uint32_t, std::uint16_t>> seen;
  for (const Slab& slab : slabs) {
    if (seen.size() == most_rows) break;
    if (!seen.insert({slab.example, slab.query}).second) continue;
    const Matrix x = tokens_of({sample.examples, {sample.index[slab.example]}}, 0, 1);
    const Matrix outputs = x * w;
    const double sigma = agreement_constant(x, layer);
    if (!row.set_example(outputs.data()) || !(sigma > 0.0)) continue;
    row.fit(sample.y(slab.example) + slab.query * sample.dim());
    check_row(x, slab.query, row, sigma, layer, evidence);
    evidence.rows.push_back({sample.index[slab.example], slab.query});
  }
}

void check_uniqueness(const Sample& sample, const Layer& layer, const Context& context,
                      Evidence& evidence) {
  const std::vector<Vector> thetas = thetas_of(layer);
  SeparableFit fit(sample, nullptr, context);
  fit.move_to(thetas);
  Matrix gram = fit.normal_equations().matrix;
  const Vector scale = gram.diagonal().cwiseSqrt().cwiseMax(1e-300).cwiseInverse();
  gram = scale.asDiagonal() * gram * scale.asDiagonal();
  std::vector<double> values(static_cast<std::size_t>(gram.rows()));
  numerics::symmetric_eigen(values.size(), {gram.data(), static_cast<std::size_t>(gram.size())},
                            values);
  const double largest = std::sqrt(values.back());
  evidence.jacobian_smallest = std::sqrt(std::max(0.0, values.front())) / largest;
  evidence.jacobian_rank =
      static_cast<int>(std::count_if(values.begin(), values.end(), [&](double value) {
        return std::sqrt(std::max(0.0, value)) > rank_tolerance * largest;
      }));
  const auto dim = static_cast<Index>(sample.dim());
  Eigen::MatrixXd z(static_cast<Index>(sample.rows()), dim * layer.heads);
  for (int i = 0; i < layer.heads; ++i) {
    z.middleCols(i * dim, dim) = head_features(sample, thetas[static_cast<std::size_t>(i)]).mixed;
  }
  const Vector singular = z.colwise().normalized().bdcSvd().singularValues();
  evidence.features_smallest = singular.minCoeff() / singular.maxCoeff();
}

}  // namespace onset::mha
