#include <algorithm>

#include "mha/linear_algebra/dense.hpp"
#include "mha/verify/parts.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha::verifier {
namespace {

constexpr double difference_step = 1e-5;
constexpr double rank_tolerance = 1e-6;
/// This many rows are examined for each column of w's features, but never fewer than the least
/// number.
constexpr std::size_t rank_rows_per_feature = 24;
constexpr std::size_t min_rows = 400;

Layer head_of(const Layer& layer, int head) {
  Layer out = make_layer(1, layer.dim);
  std::copy(layer.theta_of(head).begin(), layer.theta_of(head).end(), out.theta.begin());
  std::copy(layer.w_of(head).begin(), layer.w_of(head).end(), out.w.begin());
  return out;
}

/// The first examples that repeat no other and are not held out. The choice is fixed, since where
/// attention saturates few rows tell anything about theta, and other examples would have another
/// rank.
std::vector<std::size_t> chosen_examples(const Layer& layer, const Examples& examples,
                                         const std::vector<std::uint32_t>& held_out) {
  const auto tokens = static_cast<std::size_t>(examples.tokens);
  const std::size_t rows =
      std::max(rank_rows_per_feature * static_cast<std::size_t>(layer.heads * layer.dim), min_rows);
  std::vector<bool> usable = first_of_orbits(examples);
  for (const std::uint32_t n : held_out) usable[n] = false;
  std::vector<std::size_t> chosen;
  for (std::size_t n = 0; n < examples.count && chosen.size() * tokens < rows; ++n) {
    if (usable[n]) chosen.push_back(n);
  }
  return chosen;
}

/// Outputs on some examples: one row per query.
Matrix outputs(const Layer& layer, const Examples& examples,
               const std::vector<std::size_t>& which) {
  Matrix rows(static_cast<Index>(which.size()) * examples.tokens, examples.dim);
  for (std::size_t i = 0; i < which.size(); ++i) {
    forward_one(layer, examples, which[i], rows.data() + i * examples.width());
  }
  return rows;
}

/// An orthonormal basis of what w can reach.
Matrix reach_of_w(const Layer& layer, const Examples& examples,
                  const std::vector<std::size_t>& which) {
  const int dim = layer.dim;
  Eigen::MatrixXd features(static_cast<Index>(which.size()) * examples.tokens, layer.heads * dim);
  for (int i = 0; i < layer.heads; ++i) {
    features.middleCols(static_cast<Index>(i) * dim, dim) =
        outputs(bare_head(layer.theta_of(i), dim), examples, which);
  }
  return numerics::HouseholderFactors(features).basis();
}

}  // namespace

int jacobian_rank(const Layer& layer, const Examples& examples,
                  const std::vector<std::uint32_t>& held_out, const Context& context) {
  const auto size = static_cast<std::size_t>(layer.dim) * static_cast<std::size_t>(layer.dim);
  const std::vector<std::size_t> chosen = chosen_examples(layer, examples, held_out);
  const Matrix basis = reach_of_w(layer, examples, chosen);
  const std::size_t unknowns = static_cast<std::size_t>(layer.heads) * size;
  Matrix derivative(static_cast<Index>(unknowns),
                    static_cast<Index>(chosen.size() * examples.width()));
  numerics::parallel_for(context, unknowns, [&](std::size_t u) {
    Layer up = head_of(layer, static_cast<int>(u / size));
    Layer down = up;
    up.theta[u % size] += difference_step;
    down.theta[u % size] -= difference_step;
    Matrix change = outputs(up, examples, chosen) - outputs(down, examples, chosen);
    change -= basis * (basis.transpose() * change);
    if (const double norm = change.norm(); norm > 0.0) change /= norm;
    derivative.row(static_cast<Index>(u)) =
        Eigen::Map<const Eigen::RowVectorXd>(change.data(), change.size());
  });
  std::vector<double> gram(unknowns * unknowns);
  std::vector<double> values(unknowns);
  numerics::multiply_by_transpose(view(derivative), view(derivative), gram, context);
  numerics::symmetric_eigen(unknowns, gram, values);
  const double least = rank_tolerance * rank_tolerance * values.back();
  return static_cast<int>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value > least; }));
}

}  // namespace onset::mha::verifier
