#include "aim/limits/flow/path.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "aim/limits/flow/teacher_law.hpp"
#include "numerics/solvers/roots.hpp"

namespace onset::aim {
namespace {

constexpr double escape_level = 0.5;
/// The time before which no student is looked at for having learned all, and what a path errs by in
/// units of the relative tolerance of a step.
constexpr double soonest_learned = 50.0;
constexpr double tolerances_of_a_path = 300.0;
/// The factor between two times at which it is looked at.
constexpr double between_looks = 1.25;

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

/// The largest Tr S^2/d of a student that its integrals are asked about. Trial steps that are too
/// long lead to far larger ones, and no path does: students of softmax labels tend to the teacher,
/// which is less steep by this factor, and those of hardmax labels grow like the logarithm of time.
double largest_norm(const FlowModel& model) {
  if (model.labels.channel == &linear_channel()) return std::numeric_limits<double>::infinity();
  constexpr double beyond = 10.0;
  const double steepness = beyond * max_steepness(model.loss, model.labels.tokens);
  return std::pow(steepness / model.labels.beta, 2);
}

/// The asked times and some between them, so that a mark is searched for in a short interval.
std::vector<double> with_checkpoints(const std::vector<double>& times) {
  constexpr int extra = 24;
  constexpr double ratio = 0.75;
  constexpr double early = 0.05;  // marks are passed at times of order one, however long the path
  std::vector<double> all(times);
  double between = times.empty() ? 0.0 : times.back();
  for (int i = 0; i < extra || between > early; ++i) all.push_back(between *= ratio);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
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
  const double max_norm = largest_norm(model_);
  const auto slope = [&](const numerics::OdeState& state) {
    context.check();  // a slope of many tokens takes milliseconds
    if (!(dynamics_->moments(state).scores.p <= max_norm)) {
      return numerics::OdeState(state.size(), std::numeric_limits<double>::quiet_NaN());
    }
    return dynamics_->slope(state);
  };
  return numerics::solve_ode(slope, start, times, ode_, context);
}

/// Where labels have no noise and weights do not decay, the teacher has the least risk of all
/// students, and the risk only falls: a student that the solver cannot tell from the teacher stays
/// there. It need not be followed any further, which would take steps as short as stability allows
/// for as long as is asked.
numerics::OdeSolution FlowSolver::until_learned(const std::vector<double>& times,
                                                const Context& context) const {
  const bool may_be_learned = model_.labels.channel == &softmax_channel() && model_.decay == 0.0 &&
                              model_.rate == 0.0 && model_.labels.noise_variance == 0.0;
  const auto soon =
      std::upper_bound(times.begin(), times.end(), may_be_learned ? soonest_learned : times.back());
  numerics::OdeSolution out = solve(dynamics_->start(), {times.begin(), soon}, context);
  // From here on it looks now and then whether all is learned.
  numerics::OdeState state = out.states.empty() ? dynamics_->start() : out.states.back();
  double reached = out.states.empty() ? 0.0 : times[out.states.size() - 1];
  while (out.status.converged() && out.states.size() < times.size()) {
    const double next =
        std::min(times[out.states.size()],
                 between_looks * std::max(soonest_learned / between_looks, reached));
    const numerics::OdeSolution part = solve(state, {next - reached}, context);
    out.status = part.status;
    if (part.states.empty()) return out;
    state = part.states.front();
    reached = next;
    if (next == times[out.states.size()]) out.states.push_back(state);
    if (is_teacher(state)) out.states.resize(times.size(), state);
  }
  return out;
}

/// A path errs by some hundred times the relative tolerance of a step, and its squared distance by
/// the square of that.
bool FlowSolver::is_teacher(const numerics::OdeState& state) const {
  const double distance = tolerances_of_a_path * ode_.relative_tolerance;
  return dynamics_->moments(state).scores.error <= distance * distance * model_.teacher_norm();
}

numerics::OdeSolution FlowSolver::from_start(const std::vector<double>& times,
                                             const Context& context) const {
  if (!dynamics_->closed(0.0)) return until_learned(times, context);
  numerics::OdeSolution out;
  for (const double time : times) out.states.push_back(*dynamics_->closed(time));
  out.status.reason = StopReason::converged;
  return out;
}

std::vector<numerics::OdeState> FlowSolver::states(const std::vector<double>& times,
                                                   const Context& context) const {
  return from_start(times, context).states;
}

std::optional<double> FlowSolver::passage(const std::vector<Checkpoint>& checkpoints,
                                          const Mark& mark, const Context& context) const {
  if (mark(checkpoints.front().student) >= 0.0) return 0.0;
  const auto after = std::find_if(checkpoints.begin() + 1, checkpoints.end(),
                                  [&](const Checkpoint& at) { return mark(at.student) >= 0.0; });
  if (after == checkpoints.end()) return std::nullopt;
  const Checkpoint& before = *(after - 1);
  const auto distance = [&](double time) {
    if (time <= before.time) return mark(before.student);
    if (const auto state = dynamics_->closed(time)) return mark(dynamics_->moments(*state));
    const auto there = solve(before.state, {time - before.time}, context);
    return mark(there.states.empty() ? before.student : dynamics_->moments(there.states.front()));
  };
  numerics::RootOptions options;
  options.tolerance = 0.1 * ode_.relative_tolerance;
  return numerics::bracketed_root(distance, before.time, after->time, options).x;
}

void FlowSolver::add_marks(const std::vector<Checkpoint>& checkpoints, const Context& context,
                           FlowPath& path) const {
  const StudentMoments& first = checkpoints.front().student;
  const auto cosine = [this](const StudentMoments& at) {
    return alignment(model_, at).value_or(0.0);
  };
  // A start at a multiple of the identity has no direction, and the first step gives it one.
  const bool at_once = !alignment(model_, first) && checkpoints.size() > 1 &&
                       cosine(checkpoints[1].student) >= escape_level;
  path.escape =
      at_once ? std::optional(0.0)
              : passage(
                    checkpoints,
                    [&](const StudentMoments& at) { return cosine(at) - escape_level; }, context);
  path.half = passage(
      checkpoints, [&](const StudentMoments& at) { return 0.5 * first.mse() - at.mse(); }, context);
}

FlowPath FlowSolver::path(const std::vector<double>& times, const Context& context) const {
  const std::vector<double> all = with_checkpoints(times);
  const numerics::OdeSolution solution = from_start(all, context);
  FlowPath out;
  out.status = solution.status;
  std::vector<Checkpoint> checkpoints{
      {0.0, dynamics_->start(), dynamics_->moments(dynamics_->start())}};
  for (std::size_t i = 0; i < solution.states.size(); ++i) {
    const StudentMoments student = dynamics_->moments(solution.states[i]);
    if (std::binary_search(times.begin(), times.end(), all[i])) {
      out.students.push_back(student);
      out.risks.push_back(risk_->drift(student.scores).risk);
    }
    if (all[i] > 0.0) checkpoints.push_back({all[i], solution.states[i], student});
  }
  add_marks(checkpoints, context, out);
  return out;
}

}  // namespace onset::aim
