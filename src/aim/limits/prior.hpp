#pragma once

#include <memory>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// How well a matrix is known when it is seen through Gaussian noise of variance delta = 1/q_hat
/// [aim 6]. In the limit of small widths everything is counted in units of rho: delta is t = rho
/// delta, and alpha is n/(d r) [aim 25].
class Prior {
 public:
  virtual ~Prior() = default;
  /// Q_0 = lim Tr S^2 / d; then what is known without data, and the widest delta that matters.
  [[nodiscard]] virtual double second_moment() const = 0;
  [[nodiscard]] virtual double known() const = 0;
  [[nodiscard]] virtual double max_delta() const = 0;
  /// mmse(delta) / delta and its limit for delta -> 0.
  [[nodiscard]] virtual double shrinkage_at_zero() const = 0;
  /// The least error, and the same over delta. Both are kept, since either may be the accurate one.
  struct Point {
    Estimate mmse;
    Estimate shrinkage;
  };
  [[nodiscard]] virtual Point at(double delta) const = 0;
  /// What the noisy matrix tells about S: mutual information over d^2 (over d r in the limit of
  /// small widths) [aim 40]. Its derivative with respect to 1/delta is mmse/4.
  [[nodiscard]] virtual Estimate information(double delta) const = 0;
};

/// Makes the prior of a Wishart matrix of width ratio rho > 0, of its limit rho -> 0, or of the sum
/// of `layers` Wigner matrices.
[[nodiscard]] std::unique_ptr<Prior> make_prior(const AttentionIndexed& model);

}  // namespace onset::aim
