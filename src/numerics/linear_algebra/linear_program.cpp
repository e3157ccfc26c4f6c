#include "numerics/linear_algebra/linear_program.hpp"

#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>

#include "numerics/linear_algebra/blas_buffers.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Ends a solve when the run is asked to stop.
class StopHandler : public ClpEventHandler {
 public:
  explicit StopHandler(std::stop_token stop) : stop_(std::move(stop)) {}
  int event(Event /*what*/) override { return stop_.stop_requested() ? user_stop : go_on; }
  [[nodiscard]] ClpEventHandler* clone() const override { return new StopHandler(*this); }

 private:
  static constexpr int user_stop = 5;
  static constexpr int go_on = -1;
  std::stop_token stop_;
};

CoinPackedMatrix packed(const LinearProgram& program) {
  const int columns = static_cast<int>(program.cost.size());
  const int rows = static_cast<int>(program.row_lower.size());
  std::vector<CoinBigIndex> starts;
  std::vector<int> indices;
  std::vector<double> values;
  starts.push_back(0);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double value = program.matrix[static_cast<std::size_t>(r) * program.cost.size() +
                                          static_cast<std::size_t>(c)];
      if (value == 0.0) continue;
      indices.push_back(c);
      values.push_back(value);
    }
    starts.push_back(static_cast<CoinBigIndex>(values.size()));
  }
  return {false,         columns,        rows,          starts.back(),
          values.data(), indices.data(), starts.data(), nullptr};
}

}  // namespace

void check_sizes(const LinearProgram& program) {
  const std::size_t columns = program.cost.size();
  const std::size_t rows = program.row_lower.size();
  if (program.lower.size() != columns || program.upper.size() != columns ||
      program.row_upper.size() != rows || program.matrix.size() != rows * columns) {
    throw InvalidArgument("program", "bounds, costs and matrix do not fit one another");
  }
}

LinearSolution solve(const LinearProgram& program, Simplex method, const Context& context) {
  check_sizes(program);
  context.check();
  ClpSimplex clp;
  clp.setLogLevel(0);
  const StopHandler handler(context.stop);
  clp.passInEventHandler(&handler);
  clp.loadProblem(packed(program), program.lower.data(), program.upper.data(), program.cost.data(),
                  program.row_lower.data(), program.row_upper.data());
  const BlasCall call;  // Clp hands the dense part of its matrices to LAPACK
  method == Simplex::primal ? clp.primal() : clp.dual();
  context.check();
  LinearSolution out;
  out.optimal = clp.isProvenOptimal();
  out.infeasible = clp.isProvenPrimalInfeasible();
  out.objective = clp.objectiveValue();
  out.x.assign(clp.primalColumnSolution(), clp.primalColumnSolution() + clp.numberColumns());
  out.multipliers.assign(clp.dualRowSolution(), clp.dualRowSolution() + clp.numberRows());
  return out;
}

}  // namespace onset::numerics
