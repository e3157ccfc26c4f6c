#include "aim/limits/flow/risk/risks.hpp"

namespace onset::aim {
namespace {

/// Linear labels [aim 62]: second moments are all that matters, so that this holds at every
/// dimension.
class LinearRisk : public Risk {
 public:
  explicit LinearRisk(const FlowModel& model) {
    const double tokens = model.labels.tokens;
    symmetric_ = tokens * (tokens + 1.0);
    antisymmetric_ = tokens * (tokens - 1.0);
    noise_ = tokens * (model.labels.noise_on(true) + (tokens - 1.0) * model.labels.noise_on(false));
  }

  [[nodiscard]] Drift drift(const ScoreMoments& m) const override {
    return {0.5 * (symmetric_ * m.error + antisymmetric_ * m.anti + noise_), symmetric_,
            antisymmetric_, symmetric_};
  }

  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override {
    return {symmetric_ * m.error + noise_, antisymmetric_ * m.anti};
  }

  [[nodiscard]] NoiseGrowth noise_growth() const override {
    return {symmetric_, 0.0, antisymmetric_};
  }

 private:
  double symmetric_;      ///< T (T + 1)
  double antisymmetric_;  ///< T (T - 1)
  double noise_;          ///< variance of the labels' noise, over all entries
};

}  // namespace

std::unique_ptr<const Risk> linear_risk(const FlowModel& model) {
  return std::make_unique<LinearRisk>(model);
}

}  // namespace onset::aim
