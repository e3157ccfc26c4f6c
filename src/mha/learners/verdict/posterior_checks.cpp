#include "mha/learners/verdict/posterior_checks.hpp"

#include <algorithm>
#include <cmath>

#include "mha/learners/polish/separable_fit.hpp"
#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/singular_values.hpp"

namespace onset::mha {
namespace {

/// Rounding may add this to a logit.
constexpr double rounding = 1e-9;
/// Singular values of the Jacobian below this share of the largest count as zero; squares of them
/// are resolved to 1e-16.
constexpr double rank_tolerance = 1e-6;

/// Whether the row proves the slab of `key` against `reference`, and whether a head violates it.
struct SlabCheck {
  bool proved = false;
  bool violated = false;
};

SlabCheck check_slab(const Matrix& x, const Slab& slab, const RowFit& row, double sigma,
                     const Layer& layer) {
  const std::vector<double>& p = row.attention();
  const double delta = std::sqrt(static_cast<double>(p.size())) * row.residual() / sigma;
  const double key = p[slab.key];
  const double reference = p[slab.reference];
  if (!(std::min(key, reference) > delta)) return {};
  const double centre = std::log(key / reference);
  const double tolerance = -std::log1p(-delta / key) - std::log1p(-delta / reference);
  SlabCheck out{true, false};
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Matrix> theta(layer.theta_of(i).data(), layer.dim, layer.dim);
    const double value =
        x.row(slab.query) * theta * (x.row(slab.key) - x.row(slab.reference)).transpose();
    out.violated =
        out.violated || !(std::abs(value - centre) <= tolerance * (1.0 + rounding) + rounding);
  }
  return out;
}

}  // namespace

double agreement_constant(const Matrix& x, const Layer& layer) {
  const Index free = x.rows() - 1;
  Matrix differences = x.topRows(free).rowwise() - x.row(free);
  Matrix stacked(free * layer.heads, x.cols());
  for (int i = 0; i < layer.heads; ++i) {
    stacked.middleRows(i * free, free) =
        differences * Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  if (stacked.rows() > stacked.cols()) return 0.0;
  return numerics::singular_values(view(stacked)).back();
}

Matrix sum_of_projections(const Layer& layer) {
  Matrix sum = Matrix::Zero(layer.dim, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    sum += Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return sum;
}

std::vector<CertifiedSlab> certified_slabs(const Subset& sample, const std::vector<Slab>& slabs) {
  std::vector<CertifiedSlab> out;
  for (const Slab& slab : slabs) {
    out.push_back({{sample.index[slab.example], slab.query}, slab.key, slab.reference});
  }
  return out;
}

void check_posterior_slabs(const Subset& sample, const std::vector<Slab>& slabs, const Layer& layer,
                           Evidence& evidence) {
  const Matrix w = sum_of_projections(layer);
  evidence.slabs = certified_slabs(sample, slabs);
  RowFit row(sample.tokens(), sample.dim());
  for (const Slab& slab : slabs) {
    const Matrix x = tokens_of({sample.examples, {sample.index[slab.example]}}, 0, 1);
    const Matrix outputs = x * w;
    const double sigma = agreement_constant(x, layer);
    if (!row.set_example(outputs.data()) || !(sigma > 0.0)) continue;
    row.fit(sample.y(slab.example) + slab.query * sample.dim());
    const SlabCheck check = check_slab(x, slab, row, sigma, layer);
    evidence.slabs_proved += check.proved ? 1 : 0;
    evidence.slabs_violated += check.violated ? 1 : 0;
  }
}

double off_the_heads(const Body& body, const Layer& layer) {
  const Index unknowns = body.normals.cols();
  Eigen::MatrixXd heads(unknowns + 1, layer.heads);
  for (int i = 0; i < layer.heads; ++i) {
    heads.col(i) << Eigen::Map<const Vector>(layer.theta_of(i).data(), unknowns), 1.0;
  }
  Matrix lifted(body.normals.rows(), unknowns + 1);
  lifted << body.normals, -body.centre;
  const Matrix off =
      numerics::times_orthogonal_factor(lifted, heads).rightCols(unknowns + 1 - layer.heads);
  const std::vector<double> values = numerics::singular_values(view(off));
  return values.back() / values.front();
}

void check_uniqueness(const Subset& sample, const Layer& layer, const Context& context,
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
  Matrix z(static_cast<Index>(sample.rows()), dim * layer.heads);
  for (int i = 0; i < layer.heads; ++i) {
    z.middleCols(i * dim, dim) = head_features(sample, thetas[static_cast<std::size_t>(i)]).mixed;
  }
  z.colwise().normalize();
  const std::vector<double> singular = numerics::singular_values(view(z));
  evidence.features_smallest = singular.back() / singular.front();
}

}  // namespace onset::mha
