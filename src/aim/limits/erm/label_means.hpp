#pragma once

namespace onset::aim {

/// Averages of the labels t = tanh(tau/2) of two tokens, tau_1 and tau_2 normal of one deviation
/// and correlation 1/3: all that training sees while S = 0 [aim 107].
struct LabelMeans {
  double slope = 0.0;    ///< E sech^2(tau/2) = 2 E dt/dtau
  double square = 0.0;   ///< E t^2 = 1 - slope
  double product = 0.0;  ///< E t_1 t_2
};

/// Good to some 1e-14 of each for every deviation above 0: the rule has its nodes where the softmax
/// turns, however steep it is. Some ten microseconds.
[[nodiscard]] LabelMeans label_means(double deviation);

}  // namespace onset::aim
