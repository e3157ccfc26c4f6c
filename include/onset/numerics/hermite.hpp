#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "onset/numerics/quadrature.hpp"

namespace onset::numerics {

/// Normalised probabilists' Hermite polynomials: out[k] = h_k(x), E h_j(Z) h_k(Z) = [j = k], for
/// k = 0, .., out.size() - 1.
void hermite_polynomials(double x, std::span<double> out);

/// A function of `dimensions` variables with `outputs` values, on batches of points:
/// x[d * count + i] to out[k * count + i].
struct BatchFunction {
  std::size_t dimensions = 1;
  std::size_t outputs = 1;
  std::function<void(std::size_t count, const double* x, double* out)> evaluate;
};

struct HermiteProjection;

/// Coefficients of a function of few variables in products of normalised Hermite polynomials,
/// h_k(x) = prod_i h_{k_i}(x_i), up to total degree `degree`.
class HermiteSeries {
 public:
  HermiteSeries(std::size_t dimensions, std::size_t outputs, std::size_t degree);

  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  [[nodiscard]] std::size_t degree() const { return degree_; }

  /// Calls visit(place, k) for every multi-index of total degree s; coefficients of one multi-index
  /// are at the same place in series of equal dimensions and degree.
  using Visit = std::function<void(std::size_t place, std::span<const std::size_t> k)>;
  void for_each(std::size_t s, const Visit& visit) const;

  [[nodiscard]] double& at(std::size_t output, std::size_t place) {
    return coefficients_[output * box_ + place];
  }
  [[nodiscard]] double at(std::size_t output, std::size_t place) const {
    return coefficients_[output * box_ + place];
  }
  [[nodiscard]] std::size_t place(std::span<const std::size_t> k) const;

  /// sum over outputs and |k| = s of the squared coefficients.
  [[nodiscard]] double weight(std::size_t s) const;
  /// The same for the products of the coefficients of two series.
  [[nodiscard]] double product(const HermiteSeries& other, std::size_t s) const;
  /// The series of the derivative along `direction`, one degree lower:
  /// (d f)_k = sum_i direction_i sqrt(k_i + 1) f_{k + 1_i}.
  [[nodiscard]] HermiteSeries derivative(std::span<const double> direction) const;

 private:
  std::size_t dimensions_;
  std::size_t outputs_;
  std::size_t degree_;
  std::size_t box_;
  std::vector<double> coefficients_;
  friend HermiteProjection hermite_series(const BatchFunction&, const Rule&, std::size_t,
                                          std::span<const double>);
};

/// The result of hermite_series().
struct HermiteProjection {
  HermiteSeries series;
  double square = 0.0;  ///< E |f|^2, by the same rule

  /// What the series leaves out of E |f|^2: never negative.
  [[nodiscard]] double rest() const;
};

/// Projects f(Z + shift), Z ~ N(0, I), by the product of a one-dimensional rule with itself, one
/// axis after the other: about degree * nodes^dimensions operations per output.
[[nodiscard]] HermiteProjection hermite_series(const BatchFunction& f, const Rule& rule,
                                               std::size_t degree,
                                               std::span<const double> shift = {});

}  // namespace onset::numerics
