#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace onset::smi {

/// Angles that matter to an integral over the circle, and weights relative to the largest.
struct AngleRule {
  std::vector<double> cosine, sine, weight;
  double log_scale = 0.0;  ///< log of step times the largest density

  /// The place of the largest weight.
  [[nodiscard]] std::size_t likeliest() const {
    return static_cast<std::size_t>(std::max_element(weight.begin(), weight.end()) -
                                    weight.begin());
  }
};

/// The trapezoid rule on the whole circle for a positive density, of which only the points that
/// matter are visited: cells are halved down to the step, and left alone where the curvature's
/// bound says that nothing in them counts.
///
/// `Density` gives the logarithm of the density and its derivative at an angle of given cosine and
/// sine, log_at(c, s) and slope_at(c, s), and curvature(), a bound on its second derivative.
template <class Density>
class AngleIntegrator {
 public:
  void integrate(const Density& density, AngleRule& rule) {
    density_ = density;
    rule_ = &rule;
    rule.cosine.clear();
    rule.sine.clear();
    rule.weight.clear();
    levels_ = 0;
    curvature_ = density.curvature();
    const double finest = step_widths / std::sqrt(std::max(curvature_, 1.0));
    double width = 2.0 * std::numbers::pi / first_cells;
    while (width > finest) {
      width *= 0.5;
      ++levels_;
    }
    // The error that rounding may make in exponents this large never counts as negligible.
    const double top = highest();
    least_ = top - negligible - rounding * std::abs(top);
    for (int cell = 0; cell < first_cells; ++cell) {
      const double from = 2.0 * std::numbers::pi * cell / first_cells;
      visit(from, 2.0 * std::numbers::pi / first_cells, levels_);
    }
    const double largest = *std::max_element(rule.weight.begin(), rule.weight.end());
    rule.log_scale = std::log(width) + largest;
    for (double& w : rule.weight) w = std::exp(w - largest);
  }

 private:
  /// The number of cells with which the circle begins, and the exponent below which terms are lost
  /// in rounding (exp(-36) of the largest).
  static constexpr int first_cells = 32;
  static constexpr double negligible = 36.0;
  static constexpr double rounding = 1e-14;
  /// Trapezoid steps in units of the narrowest Gaussian that the curvature allows: at one, the rule
  /// is exact to 3e-9.
  static constexpr double step_widths = 1.0;

  [[nodiscard]] double value(double angle) const {
    return density_.log_at(std::cos(angle), std::sin(angle));
  }

  /// The maximum to within a fraction, which is enough: it only sets the scale and what is
  /// negligible.
  [[nodiscard]] double highest() const {
    double best = -HUGE_VAL;
    double at = 0.0;
    for (int cell = 0; cell < first_cells; ++cell) {
      const double angle = 2.0 * std::numbers::pi * cell / first_cells;
      if (value(angle) > best) {
        best = value(angle);
        at = angle;
      }
    }
    for (double step = std::numbers::pi / first_cells; best_gain(step) > 0.1; step *= 0.5) {
      for (const double to : {at - step, at + step}) {
        if (value(to) <= best) continue;
        best = value(to);
        at = to;
        break;
      }
    }
    return best;
  }

  /// How much a step may still gain.
  [[nodiscard]] double best_gain(double step) const { return 0.5 * curvature_ * step * step; }

  /// Adds the trapezoid points of [from, from + width).
  void visit(double from, double width, int level) {
    const double middle = from + 0.5 * width;
    const double c = std::cos(level == 0 ? from : middle);
    const double s = std::sin(level == 0 ? from : middle);
    const double log_density = density_.log_at(c, s);
    if (level == 0) {
      if (log_density < least_) return;
      rule_->cosine.push_back(c);
      rule_->sine.push_back(s);
      rule_->weight.push_back(log_density);
      return;
    }
    const double bound = log_density + 0.5 * std::abs(density_.slope_at(c, s)) * width +
                         0.125 * curvature_ * width * width;
    if (bound < least_) return;
    visit(from, 0.5 * width, level - 1);
    visit(middle, 0.5 * width, level - 1);
  }

  Density density_{};
  AngleRule* rule_ = nullptr;
  int levels_ = 0;
  double curvature_ = 0.0;
  double least_ = 0.0;
};

}  // namespace onset::smi
