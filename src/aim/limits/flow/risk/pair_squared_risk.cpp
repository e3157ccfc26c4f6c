#include "aim/limits/flow/risk/pair_quadrature.hpp"
#include "aim/limits/flow/risk/risks.hpp"

namespace onset::aim {
namespace {

/// Softmax labels of two tokens and half of the squared distance [aim 63].
class PairSquaredRisk : public Risk {
 public:
  PairSquaredRisk(const FlowModel& model, Precision precision)
      : beta_(model.labels.beta), quadrature_(model, precision) {}

  [[nodiscard]] Drift drift(const ScoreMoments& m) const override {
    double risk = 0.0;
    double own = 0.0;
    double teacher = 0.0;
    quadrature_.visit(m, [&](const PairRow& row) {
      double risk_sum = 0.0;
      double own_sum = 0.0;
      double slope_sum = 0.0;
      for (std::size_t k = 0; k < row.nodes.size(); ++k) {
        const double y = row.student[k];
        const double slope = y * (1.0 - y);
        const double difference = y - row.teacher;
        risk_sum += row.weights[k] * difference * difference;
        own_sum += row.weights[k] * slope * (slope + difference * (1.0 - 2.0 * y));
        slope_sum += row.weights[k] * slope;
      }
      risk += row.weight * risk_sum;
      own += row.weight * own_sum;
      teacher += row.weight * row.teacher * (1.0 - row.teacher) * slope_sum;
    });
    const double factor = 12.0 * beta_ * beta_;
    return {2.0 * risk, factor * own, factor * own / 3.0, factor * teacher};
  }

  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override {
    return quadrature_.noise(m, [this](double y, double teacher) {
      return 2.0 * beta_ * (y - teacher) * y * (1.0 - y);
    });
  }

  [[nodiscard]] NoiseGrowth noise_growth() const override {
    return quadrature_.noise_growth([](double y) { return 2.0 * y * y * (1.0 - y) * (1.0 - y); });
  }

 private:
  double beta_;
  PairQuadrature quadrature_;
};

}  // namespace

std::unique_ptr<const Risk> pair_squared_risk(const FlowModel& model, Precision precision) {
  return std::make_unique<PairSquaredRisk>(model, precision);
}

}  // namespace onset::aim
