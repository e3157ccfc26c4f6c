#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {

/// How finely the series are computed.
struct SeriesAccuracy {
  double step = 0.15;  ///< the step of the uniform rule, and its width
  double width = 8.0;
  std::size_t degree = 160;
  std::size_t nodes = 44;  ///< Chebyshev points in e
  bool fine = true;  ///< whether to use the finer of the two projections of a target that has two
};

/// What the risk of a squared loss is made of: X(e, m) = E<g(z*), f(z)> = sum_s c_s(e) m^s, where
/// every c_s is a polynomial in e through Chebyshev points, F(e) = E|f|^2 and E|g|^2. [ssi 7]
class CrossSeries {
 public:
  CrossSeries(std::size_t degree, std::size_t nodes)
      : degree_(degree), nodes_(nodes), coefficients_((degree + 1) * nodes), square_(nodes) {}

  [[nodiscard]] Jet cross(double e, double m) const;  ///< X
  /// X of a series that ends at another degree than its last.
  [[nodiscard]] Jet cross(double e, double m, std::size_t last) const;
  [[nodiscard]] Jet square(double e) const;  ///< F
  [[nodiscard]] double target_square() const { return target_square_; }
  /// Bound on what the series leaves out of X: |m|^(degree + 1) times this.
  [[nodiscard]] double tail() const { return tail_; }
  [[nodiscard]] std::size_t degree() const { return degree_; }
  /// c_0, c_1, .. of a series that does not depend on e.
  [[nodiscard]] std::span<const double> coefficients() const { return coefficients_; }
  /// Whether it depends on e at all.
  [[nodiscard]] bool positional() const { return nodes_ > 1; }

 private:
  friend CrossSeries cross_series(const Link&, const Link&, const std::vector<double>&, bool,
                                  const SeriesAccuracy&, const Context&);
  friend CrossSeries activation_series(const SequenceModel&, std::size_t, bool, const Context&);
  std::size_t degree_;
  std::size_t nodes_;
  std::vector<double> coefficients_;  ///< [s * nodes + j]: the coefficient of T_j(e) in c_s
  std::vector<double> square_;
  double target_square_ = 0.0;
  double tail_ = 0.0;
};

/// Computes the series by products of Hermite coefficients on a grid, for up to three tokens.
/// `shifts` are the components of the encodings along P; without any (positional false) only e = 0
/// is computed. It takes about outputs * degree * nodes_of_rule^L operations per Chebyshev point.
/// Targets of up to two tokens may have kinks and jumps, and so may students: where a positional
/// encoding moves kinks that couple two tokens, the rule is of second order. Throws Refused when
/// E|g|^2 is not finite.
[[nodiscard]] CrossSeries cross_series(const Link& target, const Link& student,
                                       const std::vector<double>& shifts, bool positional,
                                       const SeriesAccuracy& accuracy, const Context& context);

/// The series of a student sigma(u) of any number of tokens, by the finer or the coarser of two
/// projections.
[[nodiscard]] CrossSeries activation_series(const SequenceModel& model, std::size_t degree,
                                            bool fine, const Context& context);

}  // namespace onset::ssi
