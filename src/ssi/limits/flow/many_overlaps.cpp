#include "ssi/limits/flow/many_overlaps.hpp"

#include <algorithm>
#include <cmath>

#include "core/outcome.hpp"
#include "numerics/parallel.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "numerics/solvers/ode.hpp"
#include "onset/core/error.hpp"
#include "ssi/limits/landscape/diverging_slope.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"
#include "ssi/model/sample_slopes.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t points_of_replicate = 8192;
constexpr std::size_t points_of_batch = numerics::batch_size;
/// Closer to m = +-1 than this (in q = sqrt(1 - m^2)) the slope in m is that at this distance, with
/// the change from twice as far as its error.
constexpr double many_rim = 0.01;
/// The relative tolerance of the solver, far below the scatter of replicates.
constexpr double many_solver_tolerance = 1e-7;

double length_of(const OverlapList& x, std::size_t count) {
  double square = 0.0;
  for (std::size_t k = 0; k < count; ++k) square += x[k] * x[k];
  return std::sqrt(square);
}

double rest_of(const OverlapList& at) {
  return std::sqrt(std::max(0.0, 1.0 - at.back() * at.back()));
}

/// The ball is invariant; rounding, and a step that was too long, may leave it.
OverlapList into_ball(OverlapList x) {
  const double radius = length_of(x, x.size());
  if (radius > 1.0) {
    for (double& overlap : x) overlap /= radius;
  }
  return x;
}

}  // namespace

/// Means over points; both slopes of the risk and the flow are combinations of them.
struct ManyOverlaps::Averages {
  double loss = 0.0;
  double teacher = 0.0;     ///< sum_i delta_i (z*_i + tau_i)
  double zeta = 0.0;        ///< sum_i delta_i zeta_i
  double radial = 0.0;      ///< sum_i delta_i z_i
  double square = 0.0;      ///< |delta|^2
  std::vector<double> own;  ///< sum_i delta_i pi_ki
};

ManyOverlaps::ManyOverlaps(const SequenceModel& model, std::uint64_t seed, const Context& context)
    : model_(model), encodings_(model.all_encodings()) {
  if (model.student.jumps()) {
    throw Refused(
        "the student jumps: its derivatives miss the jumps, and neither the slope of the risk nor "
        "what SGD follows is an average of them");
  }
  require_square_integrable(model);
  numerics::ExpectationOptions options;
  const std::size_t tokens = model.tokens();
  options.dimensions = static_cast<int>(2 * tokens);
  options.points = points_of_replicate;
  options.seed = seed;
  const auto replicates = static_cast<std::size_t>(options.replicates);
  teacher_.assign(replicates, std::vector<double>(tokens * points_of_replicate));
  zeta_ = teacher_;
  (void)numerics::gaussian_expectation(
      options,
      [&](const numerics::NormalBatch& batch, std::span<double> out) {
        const auto half = static_cast<std::ptrdiff_t>(tokens * batch.count);
        const auto at = static_cast<std::ptrdiff_t>(tokens * batch.first);
        std::copy_n(batch.normals.begin(), half, teacher_[batch.replicate].begin() + at);
        std::copy_n(batch.normals.begin() + half, half, zeta_[batch.replicate].begin() + at);
        std::fill(out.begin(), out.end(), 0.0);
      },
      context);
}

void ManyOverlaps::add(const OverlapList& at, double sign, std::size_t replicate, std::size_t first,
                       Averages& sums) const {
  constexpr std::size_t count = points_of_batch;
  const std::size_t tokens = model_.tokens();
  const double* teacher = teacher_[replicate].data() + tokens * first;
  const double* zeta = zeta_[replicate].data() + tokens * first;
  const double m = at.back();
  const double q = sign * rest_of(at);
  std::vector<double> z(tokens * count);
  for (std::size_t i = 0; i < tokens; ++i) {
    double shift = m * encodings_.teacher[i];
    for (std::size_t k = 0; k < directions(); ++k) shift += at[k] * encodings_.own[k][i];
    for (std::size_t p = i * count; p < (i + 1) * count; ++p) {
      z[p] = m * teacher[p] + q * zeta[p] + shift;
    }
  }
  const auto [loss, delta] = sample_slopes(model_, count, teacher, z.data());
  constexpr double weight = 0.5 / static_cast<double>(points_of_replicate);  // of either sign
  for (const double x : loss) sums.loss += weight * x;
  for (std::size_t i = 0; i < tokens; ++i) {
    double token = 0.0;
    for (std::size_t p = i * count; p < (i + 1) * count; ++p) {
      const double d = weight * delta[p];
      token += d;
      sums.teacher += d * teacher[p];
      sums.zeta += d * sign * zeta[p];
      sums.radial += d * z[p];
      sums.square += d * delta[p];
    }
    sums.teacher += token * encodings_.teacher[i];
    for (std::size_t k = 0; k < directions(); ++k) sums.own[k] += token * encodings_.own[k][i];
  }
}

ManyOverlaps::Averages ManyOverlaps::averages(const OverlapList& at, std::size_t replicate) const {
  Averages sums;
  sums.own.resize(directions());
  for (std::size_t first = 0; first < points_of_replicate; first += points_of_batch) {
    add(at, 1.0, replicate, first, sums);
    add(at, -1.0, replicate, first, sums);
  }
  return sums;
}

/// dz_i/de_k = pi_ki and dz_i/dm = z*_i + tau_i - (m/q) zeta_i.
std::vector<double> ManyOverlaps::slopes(const OverlapList& at, const Averages& x) const {
  std::vector<double> out = x.own;
  const double q = rest_of(at);
  out.push_back(x.teacher - (q > 0.0 ? at.back() / q : 0.0) * x.zeta);
  return out;
}

ManySlopes ManyOverlaps::risk(const OverlapList& at, const Context& context) const {
  const bool rim = rest_of(at) < many_rim;
  const auto inside = [&](double distance) {
    OverlapList near = at;
    near.back() = std::copysign(std::sqrt(1.0 - distance * distance), at.back());
    return near;
  };
  std::vector<double> risks(replicates());
  std::vector<std::vector<double>> here(directions() + 1, std::vector<double>(replicates()));
  std::vector<double> further(replicates());
  numerics::parallel_for(context, replicates(), [&](std::size_t r) {
    const Averages own = averages(at, r);
    std::vector<double> found = slopes(at, own);
    if (rim) {
      const OverlapList near = inside(many_rim);
      const OverlapList far = inside(2.0 * many_rim);
      found.back() = slopes(near, averages(near, r)).back();
      further[r] = slopes(far, averages(far, r)).back();
    }
    risks[r] = own.loss;
    for (std::size_t k = 0; k < found.size(); ++k) here[k][r] = found[k];
  });
  ManySlopes out{numerics::reduce(risks), {}};
  for (const auto& slope : here) out.slopes.push_back(numerics::reduce(slope));
  if (rim && diverges(out.slopes.back(), numerics::reduce(further))) {
    out.slopes.assign(out.slopes.size(), no_estimate);
  } else if (rim) {
    Estimate& slope = out.slopes.back();
    slope.error = std::hypot(slope.error, slope.value - numerics::mean(further));
  }
  return out;
}

OverlapList ManyOverlaps::drift(const OverlapList& at, double rate, std::size_t replicate) const {
  const Averages x = averages(at, replicate);
  const double q = rest_of(at);
  const double pull = 0.5 * rate * x.square - x.radial;
  OverlapList out(at.size());
  for (std::size_t k = 0; k < directions(); ++k) {
    const double along = (q > 0.0 ? at[k] / q : 0.0) * x.zeta + x.own[k];
    out[k] = -along - at[k] * pull;
  }
  out.back() = -x.teacher - at.back() * pull;
  return out;
}

Estimate ManyOverlaps::variance_at_start() const {
  std::vector<double> squares(replicates());
  const OverlapList start(directions() + 1, 0.0);
  for (std::size_t r = 0; r < squares.size(); ++r) squares[r] = averages(start, r).square;
  return numerics::reduce(squares);
}

double ManyOverlaps::seconds(const SequenceModel& model) {
  constexpr double ns_per_token = 12.0;  // measured: what a token takes besides the links
  const Link& student = *model.student.link;
  const double point = model.target->value_ns() + student.value_ns() + student.pullback_ns() +
                       ns_per_token * static_cast<double>(model.tokens());
  constexpr double points =
      2.0 * numerics::default_replicates * static_cast<double>(points_of_replicate);
  return 1e-9 * points * point;
}

ManyFlowPath integrate_flow(const ManyOverlaps& field, const ManyFlowOptions& options,
                            const Context& context) {
  const std::size_t count = field.replicates();
  const std::size_t directions = field.directions();
  std::vector<numerics::OdeSolution> solutions(count);
  numerics::parallel_for(context, count, [&](std::size_t r) {
    const auto slope = [&](const numerics::OdeState& x) {
      return field.drift(into_ball(x), options.rate, r);
    };
    const auto escaped = [&](const numerics::OdeState& x) {
      return std::max(length_of(x, directions), std::abs(x.back())) - options.level;
    };
    solutions[r] = numerics::solve_ode(slope, options.start, options.times,
                                       {many_solver_tolerance, 1e-12, 200'000}, context, escaped);
  });
  ManyFlowPath path;
  path.status = solutions[0].status;
  std::size_t reached = options.times.size();
  std::vector<double> escapes;
  for (const auto& solution : solutions) {
    reached = std::min(reached, solution.states.size());
    if (!solution.status.converged()) path.status = solution.status;
    if (solution.event_time) escapes.push_back(*solution.event_time);
  }
  // The replicates of overlap k at a time; beyond the last, the length of e.
  const auto reduced = [&](std::size_t i, std::size_t k) {
    std::vector<double> values;
    for (const auto& solution : solutions) {
      const OverlapList x = into_ball(solution.states[i]);
      values.push_back(k < x.size() ? x[k] : length_of(x, directions));
    }
    return numerics::reduce(values, many_solver_tolerance * std::abs(values.front()));
  };
  for (std::size_t i = 0; i < reached; ++i) {
    ManyFlowRow row{.time = options.times[i]};
    row.m = reduced(i, directions);
    row.e = reduced(i, directions + 1);
    for (std::size_t k = 0; k < directions; ++k) row.each.push_back(reduced(i, k));
    if (row.time == 0.0) {
      row.m.error = row.e.error = 0.0;
      for (Estimate& x : row.each) x.error = 0.0;
    }
    path.rows.push_back(std::move(row));
  }
  path.integrations = count;
  path.escaped = escapes.size();
  if (escapes.size() == count) path.escape = numerics::reduce(escapes);
  return path;
}

}  // namespace onset::ssi
