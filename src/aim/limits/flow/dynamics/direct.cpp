#include <algorithm>
#include <cmath>

#include "aim/limits/flow/dynamics.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

/// S = (1 - missing) S* + kept S(0) + sqrt(variance) GOE [aim 71].
class DirectDynamics : public Dynamics {
 public:
  DirectDynamics(const FlowModel& model, const Risk& risk) : model_(model), risk_(risk) {
    const double kappa = model.width_ratio;
    const double s = model.start == StudentStart::zero ? 0.0 : model.scale;
    const bool gaussian = model.start == StudentStart::gaussian;
    start_trace_ = gaussian ? s * std::sqrt(kappa) : s;
    start_norm_ = gaussian ? s * s * (1.0 + kappa) : s * s;
  }

  [[nodiscard]] numerics::OdeState start() const override { return {1.0, 1.0, 0.0}; }

  [[nodiscard]] numerics::OdeState slope(const numerics::OdeState& state) const override {
    const ScoreMoments at = moments(state).scores;
    const Drift drift = risk_.drift(at);
    const double decay = drift.symmetric + model_.decay;
    const double noise = model_.rate > 0.0 ? model_.rate * risk_.noise(at).symmetric : 0.0;
    return {decay - drift.teacher - decay * state[0], -decay * state[1],
            -2.0 * decay * state[2] + noise};
  }

  [[nodiscard]] StudentMoments moments(const numerics::OdeState& state) const override {
    const double missing = state[0];
    const double learned = 1.0 - missing;
    const double kept = state[1];
    const double norm = model_.teacher_norm();
    const double root = std::sqrt(model_.labels.rho);
    const double cross = start_trace_ * root;
    const double own = kept * kept * start_norm_ + state[2];
    StudentMoments out;
    out.trace = learned * root + kept * start_trace_;
    out.scores.q = learned * norm + kept * cross;
    out.scores.p = learned * learned * norm + 2.0 * learned * kept * cross + own;
    out.scores.error = missing * missing * norm - 2.0 * missing * kept * cross + own;
    return out;
  }

  /// The free convolution with the semicircle: g = <1/(z - s - X lambda - sigma^2 g)>, by damped
  /// iteration, which contracts above the real axis.
  [[nodiscard]] std::complex<double> resolvent(const numerics::OdeState& state,
                                               std::complex<double> z) const override {
    if (model_.start == StudentStart::gaussian) {
      throw Refused(
          "the spectrum of a direct student from a gaussian start is a free convolution of three "
          "laws, which is not offered; possible are `start = zero` and `start = identity`");
    }
    constexpr int max_iterations = 20000;
    constexpr double tolerance = 1e-13;
    const TeacherLaw law = teacher_law(model_.labels.rho, node_count);
    const std::complex<double> shifted = z - state[1] * start_trace_;
    std::complex<double> g = 1.0 / shifted;
    for (int i = 0; i < max_iterations; ++i) {
      std::complex<double> next = 0.0;
      for (std::size_t j = 0; j < law.weights.size(); ++j) {
        next += law.weights[j] / (shifted - (1.0 - state[0]) * law.eigenvalues[j] - state[2] * g);
      }
      const bool done = std::abs(next - g) < tolerance * std::abs(next);
      g = 0.5 * (g + next);
      if (done) break;
    }
    return g;
  }

  [[nodiscard]] double top(const numerics::OdeState& state) const override {
    return (1.0 - state[0]) * max_teacher_eigenvalue(model_.labels.rho) + state[1] * start_trace_ +
           2.0 * std::sqrt(state[2]);
  }
  [[nodiscard]] double bottom(const numerics::OdeState& state) const override {
    return std::min(0.0, state[1] * start_trace_ - 2.0 * std::sqrt(state[2]));
  }

 private:
  static constexpr std::size_t node_count = 1000;
  FlowModel model_;
  const Risk& risk_;
  double start_trace_;
  double start_norm_;
};

}  // namespace

std::unique_ptr<const Dynamics> direct_dynamics(const FlowModel& model, const Risk& risk) {
  return std::make_unique<DirectDynamics>(model, risk);
}

}  // namespace onset::aim
