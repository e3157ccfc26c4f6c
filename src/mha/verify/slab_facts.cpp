#include <algorithm>
#include <cmath>

#include "mha/linear_algebra/dense.hpp"
#include "mha/verify/example_fit.hpp"
#include "mha/verify/parts.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/singular_values.hpp"

namespace onset::mha::verifier {
namespace {

using Dense = Eigen::MatrixXd;

/// Rounding may add this to a logit.
constexpr double logit_rounding = 1e-9;
/// Rounding may add this to a fitted attention.
constexpr double attention_rounding = 1e-9;
/// Rounding may add this to a singular value, relative to the largest.
constexpr double value_rounding = 1e-15;
/// This share of the median tolerance is added to every one before slabs are weighted [mha 15].
constexpr double tolerance_floor = 0.3;
/// Centres below this are not enlarged.
constexpr double min_scale = 1e-4;

/// One slab, as the row of labels gives it.
struct Witness {
  Eigen::RowVectorXd normal;  // theta is read row by row
  double centre = 0.0;
  double tolerance = 0.0;  // with the pivot in place of sigma [mha 10]
};

/// Whether the found projections prove a slab, and whether a head violates it.
struct Proof {
  bool proved = false;
  bool violated = false;
};

/// The smallest singular value of the blocks M W_i, one below another [mha 8].
double agreement_constant(const Dense& differences, const Layer& layer) {
  Matrix stacked(differences.rows() * layer.heads, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    stacked.middleRows(i * differences.rows(), differences.rows()) =
        differences * Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return stacked.rows() > layer.dim ? 0.0 : numerics::singular_values(view(stacked)).back();
}

Witness examine(const CertifiedSlab& slab, const ExampleFit& example, const FittedRow& row) {
  const Dense& x = example.tokens();
  const Matrix normal =
      x.row(slab.row.query).transpose() * (x.row(slab.key) - x.row(slab.reference));
  const double key = row.attention[slab.key];
  const double reference = row.attention[slab.reference];
  return {Eigen::Map<const Eigen::RowVectorXd>(normal.data(), normal.size()),
          std::log(key / reference),
          row.residual / example.pivot() * (1.0 / key + 1.0 / reference)};
}

Proof prove(const CertifiedSlab& slab, const ExampleFit& example, const FittedRow& row,
            const Witness& witness, const Layer& layer) {
  const double key = row.attention[slab.key];
  const double reference = row.attention[slab.reference];
  const double sigma = agreement_constant(example.differences(), layer);
  const double delta = std::sqrt(static_cast<double>(row.attention.size())) * row.residual / sigma;
  const bool proved = sigma > 0.0 && std::min(key, reference) > delta &&
                      witness.normal.squaredNorm() > 0.0 &&
                      reference >= row.attention.maxCoeff() - attention_rounding;
  Proof out{proved, false};
  if (!proved) return out;
  const double width = -std::log1p(-delta / key) - std::log1p(-delta / reference);
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Vector> theta(layer.theta_of(i).data(), witness.normal.size());
    const double off = std::abs(witness.normal.dot(theta) - witness.centre);
    out.violated = out.violated || !(off <= width * (1.0 + logit_rounding) + logit_rounding);
  }
  return out;
}

/// The singular gap of weighted slabs, lifted by their centres.
double singular_gap(const std::vector<Witness>& slabs, int heads) {
  const auto size = static_cast<Index>(slabs.size());
  const Index unknowns = slabs.front().normal.size();
  std::vector<double> tolerances;
  double centres = 0.0;
  for (const Witness& slab : slabs) {
    tolerances.push_back(slab.tolerance);
    centres += slab.centre * slab.centre;
  }
  const double scale = std::max(min_scale, std::sqrt(centres / static_cast<double>(size)));
  const auto middle = tolerances.begin() + size / 2;
  std::nth_element(tolerances.begin(), middle, tolerances.end());
  const double floor = tolerance_floor * *middle + value_rounding * std::max(1.0, scale);
  Matrix lifted(size, unknowns + 1);
  for (Index s = 0; s < size; ++s) {
    const Witness& slab = slabs[static_cast<std::size_t>(s)];
    lifted.row(s) << slab.normal, -slab.centre / scale;
    lifted.row(s) /= slab.tolerance + floor;
  }
  if (!lifted.allFinite()) return 0.0;
  const std::vector<double> values = numerics::singular_values(view(lifted));
  const std::size_t behind = values.size() - 1 - static_cast<std::size_t>(heads);
  return values[behind] / std::max(values[behind + 1], value_rounding * values.front());
}

/// Singular values of slabs without weights, off the lifted span of the heads.
double off_the_heads(const std::vector<Witness>& slabs, const Layer& layer) {
  const Index unknowns = slabs.front().normal.size();
  Dense heads(unknowns + 1, layer.heads);
  for (int i = 0; i < layer.heads; ++i) {
    heads.col(i).head(unknowns) = Eigen::Map<const Vector>(layer.theta_of(i).data(), unknowns);
    heads(unknowns, i) = 1.0;
  }
  Matrix lifted(static_cast<Index>(slabs.size()), unknowns + 1);
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    lifted.row(static_cast<Index>(s)) << slabs[s].normal, -slabs[s].centre;
  }
  if (!lifted.allFinite()) return 0.0;
  const Matrix off = lifted * numerics::orthogonal_complement(heads);
  const std::vector<double> values = numerics::singular_values(view(off));
  return values.back() / values.front();
}

}  // namespace

SlabFacts slab_facts(const std::vector<CertifiedSlab>& slabs, const Layer& layer,
                     const Examples& examples, const Context& context) {
  const std::vector<double> w = sum_of_projections(layer);
  const Dense sum = Eigen::Map<const Matrix>(w.data(), layer.dim, layer.dim);
  std::vector<Witness> witnesses;
  SlabFacts out;
  for (const CertifiedSlab& slab : slabs) {
    context.check();
    const ExampleFit example(examples, slab.row.example, sum);
    const FittedRow row = example.fit(slab.row.query);
    witnesses.push_back(examine(slab, example, row));
    const Proof proof = prove(slab, example, row, witnesses.back(), layer);
    out.proved += proof.proved ? 1 : 0;
    out.violated += proof.violated ? 1 : 0;
  }
  if (slabs.size() > static_cast<std::size_t>(layer.dim) * static_cast<std::size_t>(layer.dim)) {
    out.gap = singular_gap(witnesses, layer.heads);
    out.off_the_heads = off_the_heads(witnesses, layer);
  }
  return out;
}

double counted_gap(const CountedHeads& counted, const std::vector<CertifiedSlab>& slabs,
                   const Examples& examples, const Context& context) {
  const Dense sum = Eigen::Map<const Matrix>(counted.w.data(), examples.dim, examples.dim);
  std::vector<Witness> witnesses;
  for (const CertifiedSlab& slab : slabs) {
    context.check();
    const ExampleFit example(examples, slab.row.example, sum);
    witnesses.push_back(examine(slab, example, example.fit(slab.row.query)));
  }
  const bool enough = slabs.size() > counted.w.size();
  return enough ? singular_gap(witnesses, counted.heads) : 0.0;
}

}  // namespace onset::mha::verifier
