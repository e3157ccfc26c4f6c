#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "aim/limits/flow/risk.hpp"
#include "onset/numerics/quadrature.hpp"

/// Softmax of three tokens and more without integrals over all scores of a row: 1/Z is the integral
/// of exp(-s Z), and given s = e^x the tokens factorise [aim 65].
namespace onset::aim {

/// Derivatives 0, .., 4 of g(x) = exp(-e^x).
inline constexpr std::size_t exponential_orders = 5;

/// Uniform points in x, and the steps of Gaussian averages.
struct ExponentialGrid {
  std::vector<double> x;
  double step = 0.0;

  /// For scores of standard deviation up to `deviation`, beta included.
  ExponentialGrid(double deviation, Precision precision);
};

/// Normal nodes for averages over scores of this standard deviation, beta included.
[[nodiscard]] numerics::Rule exponential_rule(double deviation, Precision precision);

/// values[k][i]: E g^(k)(x_i + deviation z).
using ExponentialAverages = std::array<std::vector<double>, exponential_orders>;
[[nodiscard]] ExponentialAverages exponential_averages(const std::vector<double>& x,
                                                       double deviation, Precision precision);

/// The same averages at x_i + shift for many shifts, from a table with a finer step. One shift has
/// one set of interpolation weights for all points, which costs a fraction of the averages.
class ShiftedAverages {
 public:
  /// For shifts of at most max_shift either way.
  ShiftedAverages(const ExponentialGrid& grid, double deviation, double max_shift,
                  Precision precision);

  /// out[i] = E g^(order)(x_i + shift + deviation z).
  void at(std::size_t order, double shift, std::span<double> out) const;

 private:
  double step_;
  double margin_;
  ExponentialAverages table_;
};

}  // namespace onset::aim
