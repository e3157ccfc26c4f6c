#pragma once

#include <complex>
#include <memory>
#include <optional>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/risk.hpp"
#include "numerics/solvers/ode.hpp"

namespace onset::aim {

/// A student in large dimension.
struct StudentMoments {
  ScoreMoments scores;
  double trace = 0.0;  ///< Tr S/d

  /// ||M - S*||_F^2/d: `error` of the scores is that of the symmetric part.
  [[nodiscard]] double mse() const { return scores.error + scores.anti; }
};

/// (q - t sqrt(rho))/sqrt(p - t^2), the cosine of student and teacher without their traces; none
/// where the student is a multiple of the identity.
[[nodiscard]] std::optional<double> alignment(const FlowModel& model, const StudentMoments& at);

/// A student whose path is an ordinary differential equation [aim 67]. The state is the kind's own;
/// time does not enter, or is part of it.
class Dynamics {
 public:
  virtual ~Dynamics() = default;
  [[nodiscard]] virtual numerics::OdeState start() const = 0;
  [[nodiscard]] virtual numerics::OdeState slope(const numerics::OdeState& state) const = 0;
  [[nodiscard]] virtual StudentMoments moments(const numerics::OdeState& state) const = 0;
  /// The state at a time, where there is a formula for it.
  [[nodiscard]] virtual std::optional<numerics::OdeState> closed(double /*time*/) const {
    return std::nullopt;
  }
  /// Mean of 1/(z - x) over the student's eigenvalues x, for z above the real axis [aim 74]. Throws
  /// Refused where there is no formula for it.
  [[nodiscard]] virtual std::complex<double> resolvent(const numerics::OdeState& state,
                                                       std::complex<double> z) const = 0;
  /// Numbers that the eigenvalues do not exceed by much, for the range of a plot.
  [[nodiscard]] virtual double top(const numerics::OdeState& state) const = 0;
  [[nodiscard]] virtual double bottom(const numerics::OdeState& /*state*/) const { return 0.0; }
};

/// S itself, exactly, for every rate [aim 71].
[[nodiscard]] std::unique_ptr<const Dynamics> direct_dynamics(const FlowModel& model,
                                                              const Risk& risk);
/// W W^T without noise, by the deterministic equivalent of its closed form [aim 72], [aim 73].
/// `nodes` of the teacher's law.
[[nodiscard]] std::unique_ptr<const Dynamics> tied_dynamics(const FlowModel& model,
                                                            const Risk& risk, std::size_t nodes);
/// U V^T from an identity start, without noise [aim 75].
[[nodiscard]] std::unique_ptr<const Dynamics> untied_dynamics(const FlowModel& model,
                                                              const Risk& risk, std::size_t nodes);

}  // namespace onset::aim
