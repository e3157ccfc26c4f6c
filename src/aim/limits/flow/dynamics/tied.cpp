#include <algorithm>
#include <cmath>

#include "aim/limits/flow/dynamics.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

/// The state is Theta = int B, the time, and F at every node of the teacher's law [aim 72].
constexpr std::size_t theta_place = 0;
constexpr std::size_t time_place = 1;
constexpr std::size_t first_f = 2;

/// F and w = exp(-4 Theta lambda + 2 gamma tau) of one state, all that the moments need.
struct TiedState {
  std::vector<double> f;
  std::vector<double> w;
};

class TiedDynamics : public Dynamics {
 public:
  TiedDynamics(const FlowModel& model, const Risk& risk, std::size_t nodes)
      : model_(model), risk_(risk), law_(teacher_law(model.labels.rho, nodes)) {}

  [[nodiscard]] numerics::OdeState start() const override {
    return numerics::OdeState(first_f + law_.weights.size(), 0.0);
  }

  [[nodiscard]] numerics::OdeState slope(const numerics::OdeState& state) const override {
    const Drift drift = risk_.drift(moments(state).scores);
    numerics::OdeState out(state.size());
    out[theta_place] = drift.teacher;
    out[time_place] = 1.0;
    for (std::size_t j = 0; j < law_.weights.size(); ++j) {
      const double rate = 4.0 * drift.teacher * law_.eigenvalues[j] - 2.0 * model_.decay;
      out[first_f + j] = 4.0 * drift.symmetric - rate * state[first_f + j];
    }
    return out;
  }

  [[nodiscard]] StudentMoments moments(const numerics::OdeState& state) const override {
    const TiedState tied = unpack(state);
    const double phi = identity() ? model_.scale : solve_phi(tied);
    double weight_square = 0.0;  // <u m^2>
    double mixed = 0.0;          // <F u m^2>
    StudentMoments out;
    for (std::size_t j = 0; j < tied.f.size(); ++j) {
      const double lambda = law_.eigenvalues[j];
      const double weight = law_.weights[j];
      const double u = tied.w[j] / phi;
      const double m = 1.0 / (tied.f[j] + u);
      out.scores.q += weight * lambda * m;
      out.scores.p += weight * m * m;
      out.scores.error += weight * (m - lambda) * (m - lambda);
      out.trace += weight * m;
      weight_square += weight * u * m * m;
      mixed += weight * tied.f[j] * u * m * m;
    }
    if (!identity()) {
      const double random = weight_square * weight_square /
                            (std::sqrt(model_.width_ratio) * phi / model_.scale + mixed);
      out.scores.p += random;
      out.scores.error += random;
    }
    return out;
  }

  /// Linear labels: A = B is a constant.
  [[nodiscard]] std::optional<numerics::OdeState> closed(double time) const override {
    if (model_.labels.channel != &linear_channel()) return std::nullopt;
    const double c = risk_.drift({}).symmetric;
    numerics::OdeState out = start();
    out[theta_place] = c * time;
    out[time_place] = time;
    for (std::size_t j = 0; j < law_.weights.size(); ++j) {
      const double rate = 4.0 * c * law_.eigenvalues[j] - 2.0 * model_.decay;
      out[first_f + j] = rate == 0.0 ? 4.0 * c * time : -4.0 * c * std::expm1(-rate * time) / rate;
    }
    return out;
  }

  /// [aim 74]: the root is followed from far above the real axis, where it is that of the moments.
  [[nodiscard]] std::complex<double> resolvent(const numerics::OdeState& state,
                                               std::complex<double> z) const override {
    const TiedState tied = unpack(state);
    if (identity()) {
      std::complex<double> g = 0.0;
      for (std::size_t j = 0; j < tied.f.size(); ++j) {
        g += law_.weights[j] / (z - 1.0 / (tied.f[j] + tied.w[j] / model_.scale));
      }
      return g;
    }
    std::complex<double> phi = solve_phi(tied);
    constexpr double far = 50.0;
    constexpr double shrink = 0.7;
    const double scale = std::max(1.0, top(state));
    for (double height = far * scale; height > z.imag(); height *= shrink) {
      phi = refine_phi(tied, 1.0 / std::complex<double>(z.real(), height), phi);
    }
    const std::complex<double> inverse = 1.0 / z;
    phi = refine_phi(tied, inverse, phi);
    std::complex<double> mean = 0.0;
    for (std::size_t j = 0; j < tied.f.size(); ++j) {
      mean += law_.weights[j] / (tied.f[j] - inverse + tied.w[j] / phi);
    }
    return inverse + inverse * inverse * mean;
  }

  [[nodiscard]] double top(const numerics::OdeState& state) const override {
    const TiedState tied = unpack(state);
    const double phi = identity() ? model_.scale : solve_phi(tied);
    // Node 0 has the teacher's largest eigenvalue. There a start is as wide as its own law, and
    // what was learned is not.
    const double u = tied.w.front() / phi;
    const double weight = 1.0 / (tied.f.front() + u);
    if (identity()) return std::max(weight, model_.scale);
    const double edge = 1.0 + 1.0 / std::sqrt(model_.width_ratio);
    return weight * (1.0 + (edge * edge - 1.0) * u * weight);
  }

 private:
  [[nodiscard]] bool identity() const { return model_.start == StudentStart::identity; }

  [[nodiscard]] TiedState unpack(const numerics::OdeState& state) const {
    TiedState out;
    out.f.assign(state.begin() + first_f, state.end());
    for (const double lambda : law_.eigenvalues) {
      constexpr double max_exponent = 690.0;  // below overflow
      const double exponent =
          -4.0 * state[theta_place] * lambda + 2.0 * model_.decay * state[time_place];
      out.w.push_back(std::exp(std::clamp(exponent, -max_exponent, max_exponent)));
    }
    return out;
  }

  /// The one root phi > 0 of [aim 73], by Newton steps in log phi inside a bracket. The left side
  /// grows with phi and is at least 1 at s sqrt(kappa).
  [[nodiscard]] double solve_phi(const TiedState& tied) const {
    const double largest = model_.scale * std::sqrt(model_.width_ratio);
    double low = std::log(largest) - 700.0;
    double high = std::log(largest);
    double x = high;
    constexpr int max_steps = 200;
    constexpr double tolerance = 1e-15;
    for (int step = 0; step < max_steps; ++step) {
      const double phi = std::exp(x);
      double value = phi / largest - 1.0;
      double slope = phi / largest;
      for (std::size_t j = 0; j < tied.f.size(); ++j) {
        const double ratio = phi * tied.f[j] / (phi * tied.f[j] + tied.w[j]);
        value += law_.weights[j] / model_.width_ratio * ratio;
        slope += law_.weights[j] / model_.width_ratio * ratio * (1.0 - ratio);
      }
      (value > 0.0 ? high : low) = x;
      const double newton = x - value / slope;
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (std::abs(next - x) <= tolerance * std::max(1.0, std::abs(x))) return std::exp(next);
      x = next;
    }
    return std::exp(x);
  }

  /// Newton steps for the same equation with F - 1/z in the place of F.
  [[nodiscard]] std::complex<double> refine_phi(const TiedState& tied, std::complex<double> inverse,
                                                std::complex<double> phi) const {
    constexpr int max_steps = 40;
    constexpr double tolerance = 1e-14;
    const double largest = model_.scale * std::sqrt(model_.width_ratio);
    for (int step = 0; step < max_steps; ++step) {
      std::complex<double> value = phi / largest - 1.0;
      std::complex<double> slope = 1.0 / largest;
      for (std::size_t j = 0; j < tied.f.size(); ++j) {
        const std::complex<double> f = tied.f[j] - inverse;
        const std::complex<double> below = 1.0 / (phi * f + tied.w[j]);
        value += law_.weights[j] / model_.width_ratio * phi * f * below;
        slope += law_.weights[j] / model_.width_ratio * f * tied.w[j] * below * below;
      }
      const std::complex<double> change = value / slope;
      phi -= change;
      if (std::abs(change) < tolerance * std::abs(phi)) break;
    }
    return phi;
  }

  FlowModel model_;
  const Risk& risk_;
  TeacherLaw law_;
};

}  // namespace

std::unique_ptr<const Dynamics> tied_dynamics(const FlowModel& model, const Risk& risk,
                                              std::size_t nodes) {
  return std::make_unique<TiedDynamics>(model, risk, nodes);
}

}  // namespace onset::aim
