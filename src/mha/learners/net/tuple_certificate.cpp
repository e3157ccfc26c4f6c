#include "mha/learners/net/tuple_certificate.hpp"

#include "numerics/linear_algebra/linear_program.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

using numerics::LinearProgram;
using numerics::unbounded;

/// The dual, max y . (u - v) with Z^T (u - v) = 0 and sum (u + v) <= 1, whose basis is small.
LinearProgram dual_program(const Matrix& z) {
  const auto rows = static_cast<std::size_t>(z.rows());
  const auto unknowns = static_cast<std::size_t>(z.cols());
  const std::size_t columns = 2 * rows;
  LinearProgram program;
  program.cost.resize(columns);
  program.lower.assign(columns, 0.0);
  program.upper.assign(columns, unbounded);
  program.matrix.resize((unknowns + 1) * columns);
  program.row_lower.assign(unknowns + 1, 0.0);
  program.row_upper.assign(unknowns + 1, 0.0);
  program.row_lower.back() = -unbounded;
  program.row_upper.back() = 1.0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < unknowns; ++j) {
      const double value = z(static_cast<Index>(r), static_cast<Index>(j));
      program.matrix[j * columns + r] = value;
      program.matrix[j * columns + rows + r] = -value;
    }
    program.matrix[unknowns * columns + r] = 1.0;
    program.matrix[unknowns * columns + rows + r] = 1.0;
  }
  return program;
}

}  // namespace

TupleCertificate certify_tuple(const Subset& sample, const std::vector<Vector>& thetas,
                               const Context& context) {
  const auto dim = static_cast<Index>(sample.dim());
  Matrix z(static_cast<Index>(sample.rows()), dim * static_cast<Index>(thetas.size()));
  for (std::size_t i = 0; i < thetas.size(); ++i) {
    z.middleCols(static_cast<Index>(i) * dim, dim) = head_features(sample, thetas[i]).mixed;
  }
  const Matrix y = labels_of(sample, 0, sample.size());
  const LinearProgram program = dual_program(z);
  std::vector<numerics::LinearSolution> solutions(sample.dim());
  Context alone;
  alone.stop = context.stop;
  numerics::parallel_for(context, solutions.size(), [&](std::size_t o) {
    LinearProgram own = program;
    for (Index r = 0; r < y.rows(); ++r) {
      own.cost[static_cast<std::size_t>(r)] = -y(r, static_cast<Index>(o));
      own.cost[static_cast<std::size_t>(r + y.rows())] = y(r, static_cast<Index>(o));
    }
    solutions[o] = numerics::solve(own, numerics::Simplex::primal, alone);
  });
  TupleCertificate out;
  out.tau = -1.0;
  for (std::size_t o = 0; o < solutions.size(); ++o) {
    if (!solutions[o].optimal) return {-1.0, static_cast<int>(o), {}};
    const double tau = -solutions[o].objective;
    if (tau <= out.tau) continue;
    const Eigen::Map<const Vector> u(solutions[o].x.data(), y.rows());
    const Eigen::Map<const Vector> v(solutions[o].x.data() + y.rows(), y.rows());
    out = {tau, static_cast<int>(o), u - v};
  }
  return out;
}

}  // namespace onset::mha
