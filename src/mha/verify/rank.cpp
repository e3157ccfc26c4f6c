#include <Eigen/Dense>
#include <algorithm>

#include "mha/verify/parts.hpp"
#include "onset/numerics/linear_algebra.hpp"
#include "onset/numerics/parallel.hpp"

namespace onset::mha::verifier {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double difference_step = 1e-5;
constexpr double rank_tolerance = 1e-6;
constexpr int rows_per_feature = 8;
/// A row sees k - 1 directions of every theta; so many rows are wanted for each of dim^2,
constexpr int rows_per_unknown = 3;
/// unless they would be more than this.
constexpr int most_rows = 3000;

Layer head_of(const Layer& layer, int head) {
  Layer out = make_layer(1, layer.dim);
  std::copy(layer.theta_of(head).begin(), layer.theta_of(head).end(), out.theta.begin());
  std::copy(layer.w_of(head).begin(), layer.w_of(head).end(), out.w.begin());
  return out;
}

/// Outputs on the first `count` examples: one row per query.
Dense outputs(const Layer& layer, const Examples& examples, std::size_t count) {
  Dense rows(static_cast<Eigen::Index>(count) * examples.tokens, examples.dim);
  for (std::size_t n = 0; n < count; ++n) {
    forward_one(layer, &examples.x[n * examples.width()], examples.tokens,
                rows.data() + n * examples.width());
  }
  return rows;
}

/// An orthonormal basis of what w can reach.
Dense reach_of_w(const Layer& layer, const Examples& examples, std::size_t count) {
  const int dim = layer.dim;
  Eigen::MatrixXd features(static_cast<Eigen::Index>(count) * examples.tokens, layer.heads * dim);
  for (int i = 0; i < layer.heads; ++i) {
    features.middleCols(i * dim, dim) = outputs(bare_head(layer.theta_of(i), dim), examples, count);
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(features);
  return qr.householderQ() * Eigen::MatrixXd::Identity(features.rows(), features.cols());
}

}  // namespace

int jacobian_rank(const Layer& layer, const Examples& examples, const Context& context) {
  const auto size = static_cast<std::size_t>(layer.dim * layer.dim);
  const auto tokens = static_cast<std::size_t>(examples.tokens);
  const int for_theta =
      rows_per_unknown * layer.heads * layer.dim * layer.dim / std::max(1, examples.tokens - 1);
  const auto wanted = static_cast<std::size_t>(
      std::max(rows_per_feature * layer.heads * layer.dim, std::min(for_theta, most_rows)));
  const std::size_t count = std::min(examples.count, (wanted + tokens - 1) / tokens);
  const Dense basis = reach_of_w(layer, examples, count);
  const std::size_t unknowns = static_cast<std::size_t>(layer.heads) * size;
  Dense derivative(static_cast<Eigen::Index>(unknowns),
                   static_cast<Eigen::Index>(count * examples.width()));
  numerics::parallel_for(context, unknowns, [&](std::size_t u) {
    Layer up = head_of(layer, static_cast<int>(u / size));
    Layer down = up;
    up.theta[u % size] += difference_step;
    down.theta[u % size] -= difference_step;
    Dense change = outputs(up, examples, count) - outputs(down, examples, count);
    change -= basis * (basis.transpose() * change);
    if (const double norm = change.norm(); norm > 0.0) change /= norm;
    derivative.row(static_cast<Eigen::Index>(u)) =
        Eigen::Map<const Eigen::RowVectorXd>(change.data(), change.size());
  });
  std::vector<double> gram(unknowns * unknowns);
  std::vector<double> values(unknowns);
  const numerics::MatrixView view{derivative.data(), unknowns, count * examples.width()};
  numerics::multiply_by_transpose(view, view, gram, context);
  numerics::symmetric_eigen(unknowns, gram, values);
  const double least = rank_tolerance * rank_tolerance * values.back();
  return static_cast<int>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value > least; }));
}

}  // namespace onset::mha::verifier
