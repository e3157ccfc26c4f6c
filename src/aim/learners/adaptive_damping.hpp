#pragma once

#include <algorithm>
#include <cmath>

namespace onset::aim {

/// The share of the old state that message passing keeps. It starts at a given value and grows
/// while the estimate oscillates, that is while steps turn back without getting shorter. Fixed
/// points do not depend on it [aim 33].
class AdaptiveDamping {
 public:
  /// It grows after `patience` oscillations in a row, and never if start is 0.
  AdaptiveDamping(double start, int patience) : start_(start), now_(start), patience_(patience) {}

  [[nodiscard]] double operator()() const { return now_; }

  /// What an iteration did, all of it per dimension.
  struct Observation {
    double step = 0.0;         ///< squared length of the last step
    double step_before = 0.0;  ///< squared length of the one before
    double product = 0.0;      ///< their inner product
    double variance = 0.0;     ///< V as it was used
    double asked = 0.0;  ///< V as the spectrum asked for it, averaged over the last two iterations
  };
  void observe(const Observation& o) {
    // While V still moves, turns are part of its way, and damping would only delay it.
    const bool settled = std::abs(o.asked - o.variance) < settled_within * o.variance;
    if (start_ == 0.0) return;
    const bool turns = settled && o.product < 0.0 && o.step > still_falling * o.step_before;
    in_a_row_ = turns ? in_a_row_ + 1 : 0;
    if (in_a_row_ >= patience_) {
      now_ = std::min(max_damping, 0.5 * (1.0 + now_));
      in_a_row_ = 0;
    } else if (o.product > same_direction * std::sqrt(o.step * o.step_before)) {
      now_ = std::max(start_, 1.0 - easing * (1.0 - now_));
    }
  }

 private:
  static constexpr double settled_within = 0.015;
  static constexpr double still_falling =
      0.8;  ///< a squared ratio: steps that shorten by a tenth make progress
  static constexpr double same_direction = 0.5;  ///< cosine of two steps
  static constexpr double easing = 1.1;
  static constexpr double max_damping = 0.98;

  double start_;
  double now_;
  int patience_;
  int in_a_row_ = 0;
};

}  // namespace onset::aim
