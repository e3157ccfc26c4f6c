#pragma once

#include <memory>
#include <vector>

namespace onset::numerics {

/// A smooth function through given points: Floater-Hormann rational interpolation, no poles, error
/// O(h^4) for four times differentiable functions. Nodes increase strictly; at least 4 of them.
/// Values outside the nodes are extrapolated, so callers stay inside.
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
