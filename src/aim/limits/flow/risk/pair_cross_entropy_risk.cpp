#include <cmath>
#include <numbers>

#include "aim/limits/flow/risk/pair_quadrature.hpp"
#include "aim/limits/flow/risk/risks.hpp"

namespace onset::aim {
namespace {

/// The slope of a sigmoid, without cancellation on either side.
double sigmoid_slope(double x) {
  const double e = std::exp(-std::abs(x));
  return e / ((1.0 + e) * (1.0 + e));
}

/// E log(exp(h_aa) + exp(h_ab)) is that of log(1 + exp u), u being as likely as -u.
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// What both kinds of labels share: the risk is linear in q [aim 64].
class PairCrossEntropyRisk : public Risk {
 public:
  PairCrossEntropyRisk(const FlowModel& model, Precision precision, double teacher)
      : beta_(model.labels.beta),
        precision_(precision),
        teacher_(teacher),
        quadrature_(model, precision) {}

  [[nodiscard]] Drift drift(const ScoreMoments& m) const override {
    const double slope = quadrature_.student_slope(m);
    const double own = own_drift(slope);
    const double log_sum =
        sigmoid_mean(slope, precision_, [&](double z) { return softplus(slope * z); });
    return {2.0 * log_sum - teacher_ * m.q, own, own / 3.0, teacher_};
  }

 protected:
  [[nodiscard]] double own_drift(double slope) const {
    return 6.0 * beta_ * beta_ *
           sigmoid_mean(slope, precision_, [&](double z) { return sigmoid_slope(slope * z); });
  }

  double beta_;
  Precision precision_;
  double teacher_;
  PairQuadrature quadrature_;
};

class SoftmaxRisk : public PairCrossEntropyRisk {
 public:
  SoftmaxRisk(const FlowModel& model, Precision precision)
      : PairCrossEntropyRisk(model, precision, 0.0) {
    teacher_ = own_drift(quadrature_.teacher_slope());
  }

  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override {
    return quadrature_.noise(m, [this](double y, double ystar) { return beta_ * (y - ystar); });
  }

  [[nodiscard]] NoiseGrowth noise_growth() const override {
    return quadrature_.noise_growth([](double y) { return y * (1.0 - y); });
  }
};

class HardmaxRisk : public PairCrossEntropyRisk {
 public:
  HardmaxRisk(const FlowModel& model, Precision precision)
      : PairCrossEntropyRisk(
            model, precision,
            6.0 * model.labels.beta / std::sqrt(6.0 * std::numbers::pi * model.teacher_norm())),
        teacher_norm_(model.teacher_norm()) {}

  /// Labels are steps in u*, so that it is integrated first: what is left has one dimension.
  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override {
    const double slope = quadrature_.student_slope(m);
    const double variance = m.p + m.anti / 3.0;
    const double r = variance > 0.0 ? m.q / std::sqrt(variance * teacher_norm_) : 0.0;
    const double square = labelled_mean(slope, r, [](double y, double positive) {
      return (1.0 - positive) * y * y + positive * (1.0 - y) * (1.0 - y);
    });
    const double mixed =
        labelled_mean(slope, r / 3.0, [](double y, double positive) { return y * positive; });
    const double rows = variance > 0.0 ? (m.p - m.anti) / (3.0 * variance) : 0.0;
    const double own =
        correlated_mean(slope, rows, precision_, [&](double z) { return sigmoid(slope * z); });
    const double both = 0.25 + std::asin(1.0 / 3.0) / (2.0 * std::numbers::pi);
    const double factor = beta_ * beta_;
    const double product = factor * (own - 2.0 * mixed + both);
    return {3.0 * factor * square + product, factor * square - product};
  }

  [[nodiscard]] NoiseGrowth noise_growth() const override { return {}; }

 private:
  /// E f(y(z), P(u* > 0 | z)) for a correlation r of u and u*.
  template <class Function>
  [[nodiscard]] double labelled_mean(double slope, double r, const Function& f) const {
    // The probability rises over a width sqrt(1 - r^2)/r; near r = 1 the rule is refined for it.
    constexpr double steps_per_width = 2.0;
    const double width = std::sqrt(std::max(1.0 - r * r, 1e-12));
    const double effective = std::max(slope, steps_per_width * std::abs(r) / width);
    return sigmoid_mean(effective, precision_, [&](double z) {
      const double positive = 0.5 * std::erfc(-r * z / (width * std::numbers::sqrt2));
      return f(sigmoid(slope * z), positive);
    });
  }

  double teacher_norm_;
};

}  // namespace

std::unique_ptr<const Risk> pair_cross_entropy_risk(const FlowModel& model, Precision precision) {
  return std::make_unique<SoftmaxRisk>(model, precision);
}

std::unique_ptr<const Risk> pair_hardmax_risk(const FlowModel& model, Precision precision) {
  return std::make_unique<HardmaxRisk>(model, precision);
}

}  // namespace onset::aim
