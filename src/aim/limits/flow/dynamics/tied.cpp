#include <algorithm>
#include <cmath>

#include "aim/limits/flow/dynamics.hpp"
#include "aim/limits/flow/teacher_law.hpp"

namespace onset::aim {
namespace {

/// The state is Theta = int B, the time, and Z = F/(1 + w) at every node of the teacher's law, w =
/// exp(2 gamma tau - 4 Theta lambda) [aim 79]: F itself where a direction is learned, F/w where it
/// is forgotten, which neither grow.
constexpr std::size_t theta_place = 0;
constexpr std::size_t time_place = 1;
constexpr std::size_t first_z = 2;

/// What the moments need of a state [aim 79]: F and u of [aim 73], all over 1 + w. w and phi by
/// themselves may lie far outside the floating-point numbers, so that only their logarithms are
/// ever formed.
struct TiedState {
  std::vector<double> f;    ///< F/(1 + w) = Z
  std::vector<double> u;    ///< u/(1 + w)
  std::vector<double> one;  ///< 1/(1 + w)
  double filling = 0.0;     ///< phi/(s sqrt(kappa)): what the start still fills of its width
};

/// log(1/(1 + exp(x))), without overflow.
double log_logistic_of_minus(double x) {
  return x > 0.0 ? -x - std::log1p(std::exp(-x)) : -std::log1p(std::exp(x));
}

class TiedDynamics : public Dynamics {
 public:
  TiedDynamics(const FlowModel& model, const Risk& risk, std::size_t nodes)
      : model_(model), risk_(risk), law_(teacher_law(model.labels.rho, nodes)) {}

  [[nodiscard]] numerics::OdeState start() const override {
    return numerics::OdeState(first_z + law_.weights.size(), 0.0);
  }

  [[nodiscard]] numerics::OdeState slope(const numerics::OdeState& state) const override {
    const Drift drift = risk_.drift(moments(state).scores);
    numerics::OdeState out(state.size());
    out[theta_place] = drift.teacher;
    out[time_place] = 1.0;
    for (std::size_t j = 0; j < law_.weights.size(); ++j) {
      const double rate = 4.0 * drift.teacher * law_.eigenvalues[j] - 2.0 * model_.decay;
      out[first_z + j] = std::exp(log_logistic_of_minus(log_w(state, j))) *
                         (4.0 * drift.symmetric - rate * state[first_z + j]);
    }
    return out;
  }

  [[nodiscard]] StudentMoments moments(const numerics::OdeState& state) const override {
    const TiedState tied = unpack(state);
    double weight_square = 0.0;  // <u m^2>
    double mixed = 0.0;          // <F u m^2>
    StudentMoments out;
    for (std::size_t j = 0; j < tied.f.size(); ++j) {
      const double lambda = law_.eigenvalues[j];
      const double weight = law_.weights[j];
      const double below = 1.0 / (tied.f[j] + tied.u[j]);
      const double m = tied.one[j] * below;
      out.scores.q += weight * lambda * m;
      out.scores.p += weight * m * m;
      out.scores.error += weight * (m - lambda) * (m - lambda);
      out.trace += weight * m;
      weight_square += weight * (tied.u[j] * below) * m;
      mixed += weight * (tied.f[j] * below) * (tied.u[j] * below);
    }
    if (!identity()) {
      const double random =
          weight_square * weight_square / (model_.width_ratio * tied.filling + mixed);
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
      const double exponent = log_w(out, j);
      out[first_z + j] =
          exponent == 0.0 ? 2.0 * c * time : 4.0 * c * time * std::tanh(0.5 * exponent) / exponent;
    }
    return out;
  }

  /// [aim 74]: the root is followed from far above the real axis, where it is that of the moments,
  /// in units of which it is counted.
  [[nodiscard]] std::complex<double> resolvent(const numerics::OdeState& state,
                                               std::complex<double> z) const override {
    const TiedState tied = unpack(state);
    if (identity()) {
      std::complex<double> g = 0.0;
      for (std::size_t j = 0; j < tied.f.size(); ++j) {
        g += law_.weights[j] / (z - tied.one[j] / (tied.f[j] + tied.u[j]));
      }
      return g;
    }
    std::complex<double> phi = 1.0;
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
      mean += law_.weights[j] * tied.one[j] / (tied.f[j] - tied.one[j] * inverse + tied.u[j] / phi);
    }
    return inverse + inverse * inverse * mean;
  }

  /// Node 0 has the teacher's largest eigenvalue. There a start is as wide as its own law, and what
  /// was learned is not.
  [[nodiscard]] double top(const numerics::OdeState& state) const override {
    const TiedState tied = unpack(state);
    const double below = 1.0 / (tied.f.front() + tied.u.front());
    const double weight = tied.one.front() * below;
    if (identity()) return std::max(weight, model_.scale);
    const double edge = 1.0 + 1.0 / std::sqrt(model_.width_ratio);
    return weight * (1.0 + (edge * edge - 1.0) * tied.u.front() * below);
  }

 private:
  [[nodiscard]] bool identity() const { return model_.start == StudentStart::identity; }

  /// log w of a node.
  [[nodiscard]] double log_w(const numerics::OdeState& state, std::size_t j) const {
    return 2.0 * model_.decay * state[time_place] - 4.0 * state[theta_place] * law_.eigenvalues[j];
  }

  [[nodiscard]] TiedState unpack(const numerics::OdeState& state) const {
    constexpr double max_exponent = 690.0;  // below overflow
    TiedState out;
    std::vector<double> log_share;  // of w in 1 + w
    for (std::size_t j = 0; j < law_.weights.size(); ++j) {
      const double exponent = log_w(state, j);
      out.f.push_back(state[first_z + j]);
      out.one.push_back(std::exp(log_logistic_of_minus(exponent)));
      log_share.push_back(log_logistic_of_minus(-exponent));
    }
    const double log_full =
        std::log(model_.scale) + (identity() ? 0.0 : 0.5 * std::log(model_.width_ratio));
    const double log_phi = identity() ? log_full : solve_log_phi(out.f, log_share, log_full);
    for (const double share : log_share) {
      out.u.push_back(std::exp(std::clamp(share - log_phi, -max_exponent, max_exponent)));
    }
    out.filling = std::exp(log_phi - log_full);
    return out;
  }

  /// The one root phi > 0 of [aim 73], by Newton steps in log phi inside a bracket. The left side
  /// grows with phi, is at least 1 at s sqrt(kappa), and small where phi F is small beside w.
  [[nodiscard]] double solve_log_phi(const std::vector<double>& f,
                                     const std::vector<double>& log_share, double log_full) const {
    constexpr double small = 50.0;
    double high = log_full;
    double low = log_full - small;
    for (std::size_t j = 0; j < f.size(); ++j) {
      if (f[j] > 0.0) low = std::min(low, log_share[j] - std::log(f[j]) - small);
    }
    double x = high;
    constexpr int max_steps = 200;
    constexpr double tolerance = 1e-15;
    for (int step = 0; step < max_steps; ++step) {
      double value = std::exp(x - log_full) - 1.0;
      double slope = value + 1.0;
      for (std::size_t j = 0; j < f.size(); ++j) {
        const double u = std::exp(log_share[j] - x);
        const double ratio = f[j] / (f[j] + u);
        value += law_.weights[j] / model_.width_ratio * ratio;
        slope += law_.weights[j] / model_.width_ratio * ratio * (1.0 - ratio);
      }
      (value > 0.0 ? high : low) = x;
      const double newton = x - value / slope;
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (std::abs(next - x) <= tolerance * std::max(1.0, std::abs(x))) return next;
      x = next;
    }
    return x;
  }

  /// Newton steps for the same equation with F - 1/z in the place of F.
  [[nodiscard]] std::complex<double> refine_phi(const TiedState& tied, std::complex<double> inverse,
                                                std::complex<double> phi) const {
    constexpr int max_steps = 40;
    constexpr double tolerance = 1e-14;
    for (int step = 0; step < max_steps; ++step) {
      std::complex<double> value = phi * tied.filling - 1.0;
      std::complex<double> slope = tied.filling;
      for (std::size_t j = 0; j < tied.f.size(); ++j) {
        const std::complex<double> f = tied.f[j] - tied.one[j] * inverse;
        const std::complex<double> below = 1.0 / (phi * f + tied.u[j]);
        const double weight = law_.weights[j] / model_.width_ratio;
        value += weight * (phi * f * below);
        slope += weight * (f * below) * (tied.u[j] * below);
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
