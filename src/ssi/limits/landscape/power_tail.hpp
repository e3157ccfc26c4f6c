#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace onset::ssi {

/// What a series sum_s a_s m^s leaves out of its slope where two functions have kinks at the same
/// places: s a_s then falls like C s^(-3/2) + D s^(-5/2), for even and for odd s on their own, and
/// near |m| = 1 the slope of a cut series is off by its degree to the power -1/2. C and D come from
/// the upper half of the coefficients. [ssi 46]
class PowerTail {
 public:
  PowerTail() = default;  ///< none
  /// From the coefficients a_0, .., a_degree.
  explicit PowerTail(std::span<const double> coefficients);

  /// The sum over s > degree of s a_s m^(s-1).
  [[nodiscard]] double slope(double m) const;

 private:
  /// The left-out degrees of one parity as an integral over decays exp(-t s).
  struct Parity {
    int power = 0;  ///< of m in the first left-out term
    std::vector<double> weights;
  };
  std::vector<Parity> parities_;
};

}  // namespace onset::ssi
