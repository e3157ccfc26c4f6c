#pragma once

#include <memory>
#include <vector>

namespace onset::numerics {

/// A smooth function through given points, by Floater-Hormann rational interpolation. It has no
/// poles, and its error is O(h^4) for functions that are four times differentiable. There must be
/// at least 4 nodes, strictly increasing. Values outside them are extrapolated, so callers stay
/// inside.
class Interpolant {
 public:
  Interpolant(std::vector<double> nodes, std::vector<double> values);
  [[nodiscard]] double operator()(double x) const;
  [[nodiscard]] double front() const { return front_; }
  [[nodiscard]] double back() const { return back_; }

 private:
  struct Rational;
  std::shared_ptr<const Rational> rational_;
  double front_;
  double back_;
};

}  // namespace onset::numerics
