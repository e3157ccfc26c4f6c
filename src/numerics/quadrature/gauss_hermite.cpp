#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/quadrature.hpp"

namespace onset::numerics {
namespace {

constexpr int max_nodes = 1024;

// With 1024 nodes the orthonormal polynomials reach 1e440 at the outermost one, and their squares
// are needed. That is more than a double holds, and far less than an extended or quadruple one
// does.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::max_exponent10 > 1000);

struct Hermite {
  Wide last;      // p_n(x), orthonormal for the standard normal weight
  Wide previous;  // p_{n-1}(x)
};

// sqrt(k+1) p_{k+1} = x p_k - sqrt(k) p_{k-1}, p_0 = 1, divided by sqrt(k+1).
struct Recurrence {
  explicit Recurrence(std::size_t n) : slope(n), drop(n) {
    for (std::size_t k = 0; k < n; ++k) {
      slope[k] = 1.0L / std::sqrt(static_cast<Wide>(k + 1));
      drop[k] = std::sqrt(static_cast<Wide>(k)) * slope[k];
    }
  }
  [[nodiscard]] Hermite at(Wide x) const {
    Hermite h{1.0L, 0.0L};
    for (std::size_t k = 0; k < slope.size(); ++k) {
      h = {slope[k] * x * h.last - drop[k] * h.previous, h.last};
    }
    return h;
  }
  std::vector<Wide> slope, drop;
};

// The eigenvalues of the Jacobi matrix (Golub and Welsch 1969), ascending; they are good to about
// 1e-13.
Eigen::VectorXd approximate_nodes(int n) {
  const Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd subdiagonal(n - 1);
  for (int k = 1; k < n; ++k) subdiagonal[k - 1] = std::sqrt(static_cast<double>(k));
  return tridiagonal_eigenvalues(diagonal, subdiagonal);
}

}  // namespace

Rule gauss_hermite(int nodes) {
  if (nodes < 1 || nodes > max_nodes) {
    throw InvalidArgument(
        "nodes", "is " + std::to_string(nodes) + "; allowed: 1 to " + std::to_string(max_nodes));
  }
  const auto n = static_cast<std::size_t>(nodes);
  const Recurrence recurrence(n);
  const Wide root_n = std::sqrt(static_cast<Wide>(n));
  const Eigen::VectorXd start = approximate_nodes(nodes);

  Rule rule{std::vector<double>(n), std::vector<double>(n)};
  // We compute the upper half and mirror it, so that the rule is symmetric to the last bit.
  for (std::size_t i = n / 2; i < n; ++i) {
    const bool middle = 2 * i + 1 == n;
    Wide x = 0.0L;
    if (!middle) {
      // One step of Newton doubles the digits: 13 become more than the type has.
      x = static_cast<Wide>(start[static_cast<Eigen::Index>(i)]);
      const Hermite h = recurrence.at(x);
      x -= h.last / (root_n * h.previous);  // p_n' = sqrt(n) p_{n-1}
    }
    const Wide p = recurrence.at(x).previous;
    const double weight = static_cast<double>(1.0L / (static_cast<Wide>(n) * p * p));
    rule.nodes[i] = static_cast<double>(x);
    rule.nodes[n - 1 - i] = static_cast<double>(-x);
    rule.weights[i] = rule.weights[n - 1 - i] = weight;
  }
  return rule;
}

}  // namespace onset::numerics
