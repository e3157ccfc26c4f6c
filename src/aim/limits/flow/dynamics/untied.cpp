#include <algorithm>
#include <cmath>

#include "aim/limits/flow/dynamics.hpp"
#include "aim/limits/flow/teacher_law.hpp"

namespace onset::aim {
namespace {

/// The state is the time and y of every node: the student's weight in a teacher's direction is
/// m = s exp(-2 gamma tau) sinh y [aim 75].
class UntiedDynamics : public Dynamics {
 public:
  UntiedDynamics(const FlowModel& model, const Risk& risk, std::size_t nodes)
      : model_(model), risk_(risk), law_(teacher_law(model.labels.rho, nodes)) {}

  [[nodiscard]] numerics::OdeState start() const override {
    return numerics::OdeState(1 + law_.weights.size(), 0.0);
  }

  [[nodiscard]] numerics::OdeState slope(const numerics::OdeState& state) const override {
    const Drift drift = risk_.drift(moments(state).scores);
    const std::vector<double> m = weights_of(state);
    numerics::OdeState out{1.0};
    for (std::size_t j = 0; j < m.size(); ++j) {
      out.push_back(2.0 * drift.teacher * law_.eigenvalues[j] - 2.0 * drift.symmetric * m[j]);
    }
    return out;
  }

  [[nodiscard]] StudentMoments moments(const numerics::OdeState& state) const override {
    const std::vector<double> m = weights_of(state);
    StudentMoments out;
    for (std::size_t j = 0; j < m.size(); ++j) {
      const double lambda = law_.eigenvalues[j];
      out.scores.p += law_.weights[j] * m[j] * m[j];
      out.scores.q += law_.weights[j] * lambda * m[j];
      out.scores.error += law_.weights[j] * (m[j] - lambda) * (m[j] - lambda);
      out.trace += law_.weights[j] * m[j];
    }
    return out;
  }

  [[nodiscard]] std::complex<double> resolvent(const numerics::OdeState& state,
                                               std::complex<double> z) const override {
    const std::vector<double> m = weights_of(state);
    std::complex<double> g = 0.0;
    for (std::size_t j = 0; j < m.size(); ++j) g += law_.weights[j] / (z - m[j]);
    return g;
  }

  [[nodiscard]] double top(const numerics::OdeState& state) const override {
    const std::vector<double> m = weights_of(state);
    return *std::max_element(m.begin(), m.end());
  }

 private:
  [[nodiscard]] std::vector<double> weights_of(const numerics::OdeState& state) const {
    // exp(y - 2 gamma tau) is finite where its two factors are not.
    constexpr double large = 20.0;
    const double fading = 2.0 * model_.decay * state[0];
    std::vector<double> m;
    for (std::size_t j = 1; j < state.size(); ++j) {
      const double y = state[j];
      m.push_back(model_.scale *
                  (y > large ? 0.5 * std::exp(y - fading) : std::exp(-fading) * std::sinh(y)));
    }
    return m;
  }

  FlowModel model_;
  const Risk& risk_;
  TeacherLaw law_;
};

}  // namespace

std::unique_ptr<const Dynamics> untied_dynamics(const FlowModel& model, const Risk& risk,
                                                std::size_t nodes) {
  return std::make_unique<UntiedDynamics>(model, risk, nodes);
}

}  // namespace onset::aim
