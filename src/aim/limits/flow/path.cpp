#include "aim/limits/flow/path.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "aim/limits/flow/teacher_law.hpp"
#include "numerics/roots.hpp"

namespace onset::aim {
namespace {

constexpr double escape_level = 0.5;

/// Nodes of the teacher's law. A student narrower than the teacher learns the top of its spectrum
/// only: m(lambda) becomes a step of width 1/(4 Theta), which the nodes have to resolve.
std::size_t law_nodes(const FlowModel& model, const Risk& risk, Precision precision, double last) {
  constexpr double max_nodes = 6000.0;
  const double usual = precision == Precision::fine ? 320.0 : 200.0;
  const double rho = model.labels.rho;
  const bool narrow = model.student == Student::tied && model.start == StudentStart::gaussian &&
                      model.width_ratio < std::min(1.0, rho);
  if (!narrow) return static_cast<std::size_t>(usual);
  const double norm = model.teacher_norm();
  const double speed = risk.drift({.error = norm}).teacher;
  const double width = max_teacher_eigenvalue(rho) - min_teacher_eigenvalue(rho);
  const double steps = (precision == Precision::fine ? 6.0 : 4.0) * speed * last * width;
  return static_cast<std::size_t>(std::clamp(steps, usual, max_nodes));
}

/// Softmax of three tokens and more with a squared loss takes milliseconds for a slope.
bool slow(const FlowModel& model) {
  return model.labels.channel != &linear_channel() && model.labels.tokens > 2;
}

numerics::OdeOptions ode_options(const FlowModel& model, Precision precision) {
  numerics::OdeOptions options;
  const double fine = slow(model) ? 1e-7 : 1e-11;
  options.relative_tolerance = precision == Precision::fine ? fine : 30.0 * fine;
  options.absolute_tolerance = 1e-2 * options.relative_tolerance;
  return options;
}

/// How far a student is from a mark: negative before it, 0 at it.
double past_half(const StudentMoments& at, double first_error) {
  return 0.5 * first_error - at.mse();
}

}  // namespace

/// A state that marks are searched from.
struct FlowSolver::Checkpoint {
  double time = 0.0;
  numerics::OdeState state;
  StudentMoments student;
};

FlowSolver::FlowSolver(const FlowModel& model, Precision precision, double last, std::uint64_t seed,
                       std::size_t min_nodes)
    : model_(model), ode_(ode_options(model, precision)), risk_(make_risk(model, precision, seed)) {
  const std::size_t nodes = std::max(min_nodes, law_nodes(model, *risk_, precision, last));
  switch (model.student) {
    case Student::direct: dynamics_ = direct_dynamics(model, *risk_); break;
    case Student::tied: dynamics_ = tied_dynamics(model, *risk_, nodes); break;
    case Student::untied: dynamics_ = untied_dynamics(model, *risk_, nodes); break;
  }
}

numerics::OdeSolution FlowSolver::solve(const numerics::OdeState& start,
                                        const std::vector<double>& times,
                                        const Context& context) const {
  return numerics::solve_ode(
      [this](const numerics::OdeState& state) { return dynamics_->slope(state); }, start, times,
      ode_, context);
}

std::vector<numerics::OdeState> FlowSolver::states(const std::vector<double>& times,
                                                   const Context& context) const {
  if (!dynamics_->closed(0.0)) return solve(dynamics_->start(), times, context).states;
  std::vector<numerics::OdeState> out;
  for (const double time : times) out.push_back(*dynamics_->closed(time));
  return out;
}

FlowPath FlowSolver::path(const std::vector<double>& times, const Context& context) const {
  FlowPath out;
  out.status.reason = StopReason::converged;
  const bool closed = dynamics_->closed(0.0).has_value();
  // Between the asked times, so that a mark is searched for in a short interval.
  std::vector<double> all(times);
  constexpr int extra = 24;
  constexpr double ratio = 0.75;
  double between = times.empty() ? 0.0 : times.back();
  for (int i = 0; i < extra; ++i) all.push_back(between *= ratio);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());

  std::vector<numerics::OdeState> found;
  if (closed) {
    found = states(all, context);
  } else {
    numerics::OdeSolution solution = solve(dynamics_->start(), all, context);
    found = std::move(solution.states);
    out.status = solution.status;
  }
  std::vector<Checkpoint> checkpoints{
      {0.0, dynamics_->start(), dynamics_->moments(dynamics_->start())}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const StudentMoments student = dynamics_->moments(found[i]);
    if (std::binary_search(times.begin(), times.end(), all[i])) {
      out.students.push_back(student);
      out.risks.push_back(risk_->drift(student.scores).risk);
    }
    if (all[i] > 0.0) checkpoints.push_back({all[i], found[i], student});
  }

  const auto passage =
      [&](const std::function<double(const StudentMoments&)>& mark) -> std::optional<double> {
    if (mark(checkpoints.front().student) >= 0.0) return 0.0;
    for (std::size_t i = 1; i < checkpoints.size(); ++i) {
      if (mark(checkpoints[i].student) < 0.0) continue;
      const Checkpoint& before = checkpoints[i - 1];
      const auto distance = [&](double time) {
        if (time <= before.time) return mark(before.student);
        if (closed) return mark(dynamics_->moments(*dynamics_->closed(time)));
        const auto there = solve(before.state, {time - before.time}, context);
        return there.states.empty() ? mark(before.student)
                                    : mark(dynamics_->moments(there.states.front()));
      };
      numerics::RootOptions options;
      options.tolerance = 0.1 * ode_.relative_tolerance;
      return numerics::bracketed_root(distance, before.time, checkpoints[i].time, options).x;
    }
    return std::nullopt;
  };
  // A start at a multiple of the identity has no direction, and the first step gives it one.
  const auto undirected = [&](const StudentMoments& at) { return !alignment(model_, at); };
  const bool at_once = undirected(checkpoints.front().student) && checkpoints.size() > 1 &&
                       alignment(model_, checkpoints[1].student).value_or(0.0) >= escape_level;
  out.escape = at_once ? std::optional(0.0) : passage([&](const StudentMoments& at) {
    return alignment(model_, at).value_or(0.0) - escape_level;
  });
  const double first_error = checkpoints.front().student.mse();
  out.half = passage([&](const StudentMoments& at) { return past_half(at, first_error); });
  return out;
}

}  // namespace onset::aim
