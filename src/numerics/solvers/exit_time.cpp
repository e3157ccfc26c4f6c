#include "numerics/solvers/exit_time.hpp"

#include <cmath>

namespace onset::numerics {
namespace {

/// t/(e^t - 1), 1 at t = 0.
double bernoulli(double t) {
  return t == 0.0 ? 1.0 : t / std::expm1(t);
}

}  // namespace

std::vector<double> mean_exit_times(const LineDiffusion& diffusion) {
  const auto& [x, drift, noise] = diffusion;
  const std::size_t count = x.size();
  std::vector<double> u(count, 0.0);
  if (count < 3) return u;
  // Elimination from the left: u_i = shift_i + (1 - leak_i) u_{i+1}. The leak is the probability
  // of reaching the left end before node i + 1, which may be far below the rounding of 1.
  std::vector<double> leak(count, 1.0);
  std::vector<double> shift(count, 0.0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double left = x[i] - x[i - 1];
    const double right = x[i + 1] - x[i];
    const double slope = 2.0 * drift[i] / noise[i];
    const double down = 0.5 * noise[i] * bernoulli(slope * left) / left;
    const double up = 0.5 * noise[i] * bernoulli(-slope * right) / right;
    const double lost = down * leak[i - 1];
    leak[i] = lost / (up + lost);
    shift[i] = (0.5 * (left + right) + down * shift[i - 1]) / (up + lost);
  }
  for (std::size_t i = count - 1; i-- > 1;) u[i] = shift[i] + (1.0 - leak[i]) * u[i + 1];
  return u;
}

}  // namespace onset::numerics
