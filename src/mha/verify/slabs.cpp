#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "mha/verify/parts.hpp"
#include "onset/numerics/singular_values.hpp"

namespace onset::mha::verifier {
namespace {

using Dense = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

numerics::MatrixView view(const Rows& m) {
  return {m.data(), static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
}

/// What rounding may add to a logit,
constexpr double logit_rounding = 1e-9;
/// to a fitted attention,
constexpr double attention_rounding = 1e-9;
/// and to a singular value, relative to the largest.
constexpr double value_rounding = 1e-15;
/// Share of the median tolerance that is added to every one before it weighs [mha 15].
constexpr double tolerance_floor = 0.3;
/// Centres below this are not enlarged.
constexpr double least_scale = 1e-4;

/// One slab, with all that a row of labels says about it.
struct Witness {
  Eigen::RowVectorXd normal;  // theta is read row by row
  double centre = 0.0;
  double tolerance = 0.0;  // with the pivot in place of sigma [mha 10]
  bool proved = false;
  bool violated = false;
};

Dense sum_of_w(const Layer& layer) {
  Dense sum = Dense::Zero(layer.dim, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    sum += Eigen::Map<const Rows>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return sum;
}

/// Smallest singular value of the blocks M W_i, one below another [mha 8].
double agreement_constant(const Dense& differences, const Layer& layer) {
  Rows stacked(differences.rows() * layer.heads, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    stacked.middleRows(i * differences.rows(), differences.rows()) =
        differences * Eigen::Map<const Rows>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return stacked.rows() > layer.dim ? 0.0 : numerics::singular_values(view(stacked)).back();
}

Witness examine(const CertifiedSlab& slab, const Layer& layer, const Dense& sum,
                const Examples& examples) {
  const Eigen::Index tokens = examples.tokens;
  const std::size_t first = slab.row.example * examples.width();
  const std::vector<double> entries(&examples.x[first], &examples.x[first] + examples.width());
  const Dense x = Eigen::Map<const Rows>(entries.data(), tokens, examples.dim);
  const Eigen::Map<const Rows> y(&examples.y[first], tokens, examples.dim);
  const Dense differences = x.topRows(tokens - 1).rowwise() - x.row(tokens - 1);
  const Eigen::HouseholderQR<Dense> qr(Dense((differences * sum).transpose()));
  const Eigen::VectorXd target = (y.row(slab.row.query) - x.row(tokens - 1) * sum).transpose();
  const Eigen::VectorXd turned = qr.householderQ().transpose() * target;
  const auto triangle = qr.matrixQR().topRows(tokens - 1).triangularView<Eigen::Upper>();
  Eigen::VectorXd p(tokens);
  p.head(tokens - 1) = triangle.solve(turned.head(tokens - 1));
  p[tokens - 1] = 1.0 - p.head(tokens - 1).sum();
  const double residual = turned.tail(turned.size() - tokens + 1).norm();
  const double pivot = qr.matrixQR().diagonal().head(tokens - 1).cwiseAbs().minCoeff();

  const Eigen::RowVectorXd keys = x.row(slab.key) - x.row(slab.reference);
  const Rows normal = x.row(slab.row.query).transpose() * keys;
  Witness out;
  out.normal = Eigen::Map<const Eigen::RowVectorXd>(normal.data(), normal.size());
  const double key = p[slab.key];
  const double reference = p[slab.reference];
  const double sigma = agreement_constant(differences, layer);
  const double delta = std::sqrt(static_cast<double>(tokens)) * residual / sigma;
  out.centre = std::log(key / reference);
  out.tolerance = residual / pivot * (1.0 / key + 1.0 / reference);
  out.proved = sigma > 0.0 && std::min(key, reference) > delta && keys.squaredNorm() > 0.0 &&
               reference >= p.maxCoeff() - attention_rounding;
  if (!out.proved) return out;
  const double width = -std::log1p(-delta / key) - std::log1p(-delta / reference);
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Eigen::VectorXd> theta(layer.theta_of(i).data(), normal.size());
    const double off = std::abs(out.normal.dot(theta) - out.centre);
    out.violated = out.violated || !(off <= width * (1.0 + logit_rounding) + logit_rounding);
  }
  return out;
}

/// The singular gap of weighted slabs, lifted by their centres.
double singular_gap(const std::vector<Witness>& slabs, int heads) {
  const auto size = static_cast<Eigen::Index>(slabs.size());
  const Eigen::Index unknowns = slabs.front().normal.size();
  std::vector<double> tolerances;
  double centres = 0.0;
  for (const Witness& slab : slabs) {
    tolerances.push_back(slab.tolerance);
    centres += slab.centre * slab.centre;
  }
  const double scale = std::max(least_scale, std::sqrt(centres / static_cast<double>(size)));
  const auto middle = tolerances.begin() + size / 2;
  std::nth_element(tolerances.begin(), middle, tolerances.end());
  const double floor = tolerance_floor * *middle + value_rounding * std::max(1.0, scale);
  Rows lifted(size, unknowns + 1);
  for (Eigen::Index s = 0; s < size; ++s) {
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
  const Eigen::Index unknowns = slabs.front().normal.size();
  Dense heads(unknowns + 1, layer.heads);
  for (int i = 0; i < layer.heads; ++i) {
    heads.col(i).head(unknowns) =
        Eigen::Map<const Eigen::VectorXd>(layer.theta_of(i).data(), unknowns);
    heads(unknowns, i) = 1.0;
  }
  const Eigen::ColPivHouseholderQR<Dense> qr(heads);
  const Dense all = qr.householderQ() * Dense::Identity(unknowns + 1, unknowns + 1);
  const Dense complement = all.rightCols(unknowns + 1 - qr.rank());
  Rows lifted(static_cast<Eigen::Index>(slabs.size()), unknowns + 1);
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    lifted.row(static_cast<Eigen::Index>(s)) << slabs[s].normal, -slabs[s].centre;
  }
  if (!lifted.allFinite()) return 0.0;
  const Rows off = lifted * complement;
  const std::vector<double> values = numerics::singular_values(view(off));
  return values.back() / values.front();
}

}  // namespace

SlabFacts slab_facts(const std::vector<CertifiedSlab>& slabs, const Layer& layer,
                     const Examples& examples, const Context& context) {
  const Dense sum = sum_of_w(layer);
  std::vector<Witness> witnesses;
  SlabFacts out;
  for (const CertifiedSlab& slab : slabs) {
    context.check();
    witnesses.push_back(examine(slab, layer, sum, examples));
    out.proved += witnesses.back().proved ? 1 : 0;
    out.violated += witnesses.back().violated ? 1 : 0;
  }
  const auto unknowns = static_cast<std::size_t>(layer.dim * layer.dim);
  if (slabs.size() > unknowns) {
    out.gap = singular_gap(witnesses, layer.heads);
    out.off_the_heads = off_the_heads(witnesses, layer);
  }
  return out;
}

}  // namespace onset::mha::verifier
