#include "aim/limits/flow/solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/flow/matrix_path.hpp"
#include "aim/limits/flow/path.hpp"
#include "numerics/parallel.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The value of the finer rule, and how far the coarser one is from it.
Estimate from_rules(double fine, double coarse) {
  constexpr double rounding = 1e-15;
  return {fine, std::abs(fine - coarse) + rounding * std::abs(fine)};
}

std::optional<Estimate> from_rules(const std::optional<double>& fine,
                                   const std::optional<double>& coarse) {
  if (!fine || !coarse) return std::nullopt;
  return from_rules(*fine, *coarse);
}

FlowSolution closed_solution(const FlowModel& model, const std::vector<double>& times,
                             std::uint64_t seed, const Context& context) {
  const double last = times.back();
  const FlowPath coarse = FlowSolver(model, Precision::coarse, last, seed).path(times, context);
  const FlowPath fine = FlowSolver(model, Precision::fine, last, seed).path(times, context);
  FlowSolution out;
  out.status = fine.status.converged() ? coarse.status : fine.status;
  const std::size_t reached = std::min(fine.students.size(), coarse.students.size());
  for (std::size_t i = 0; i < reached; ++i) {
    const FlowNumbers a = flow_numbers(model, fine.students[i], fine.risks[i]);
    const FlowNumbers b = flow_numbers(model, coarse.students[i], coarse.risks[i]);
    FlowEstimates estimates;
    for (std::size_t k = 0; k < flow_number_count; ++k) {
      estimates.values[k] = from_rules(a.values[k], b.values[k]);
    }
    // The alignment is a difference of numbers as large as these.
    constexpr double rounding = 2e-15;
    estimates.values[static_cast<std::size_t>(FlowNumber::alignment)].error +=
        rounding * (1.0 + std::abs(a[FlowNumber::q]) + a[FlowNumber::p]);
    out.students.push_back(estimates);
  }
  out.escape = from_rules(fine.escape, coarse.escape);
  out.half = from_rules(fine.half, coarse.half);
  return out;
}

/// A model with a closed path, near to one without.
struct Twin {
  FlowModel model;
  double speed = 1.0;  ///< its time for one unit of the other's

  explicit Twin(const FlowModel& target) : model(target) {
    model.rate = 0.0;
    if (target.student == Student::untied && target.start == StudentStart::gaussian) {
      // With U = V = W an untied student is a tied one at half its speed; (U + V)/2 has half the
      // variance of U.
      model.student = Student::tied;
      model.scale *= 0.5;
      model.decay *= 2.0;
      speed = 0.5;
    }
  }

  /// The twin's start as weights of the other's kind.
  [[nodiscard]] MatrixWeights start_of(const MatrixWeights& target) const {
    MatrixWeights out = target;
    if (speed == 1.0) return out;
    for (std::size_t i = 0; i < out.u.size(); ++i) {
      out.u[i] = out.v[i] = 0.5 * (target.u[i] + target.v[i]);
    }
    return out;
  }
};

/// Target minus twin, for all numbers at all times, then the two marks.
using Differences = std::vector<double>;

/// Which matrices: their size and the key of their random numbers.
struct Draw {
  std::size_t size = 0;
  std::uint64_t seed = 1;
  std::uint64_t index = 0;
};

Differences differences(const FlowModel& target, const Twin& twin, const Risk& risk,
                        const std::vector<double>& times, const Draw& draw,
                        const Context& context) {
  const double step = matrix_step(target, risk);
  const MatrixWeights start = matrix_start(target, draw.size, draw.seed, draw.index);
  FlowModel quiet = target;
  quiet.rate = 0.0;
  const MatrixPath a =
      matrix_path(target, risk, start, times, step, {target.rate, draw.seed, draw.index}, context);
  const MatrixPath b = matrix_path(quiet, risk, twin.start_of(start), times, step, {}, context);
  Differences out;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t k = 0; k < flow_number_count; ++k) {
      out.push_back(a.numbers[i].values[k] - b.numbers[i].values[k]);
    }
  }
  out.push_back(a.escape && b.escape ? *a.escape - *b.escape : none);
  out.push_back(a.half && b.half ? *a.half - *b.half : none);
  return out;
}

/// Extrapolates each draw from two sizes, and reduces over draws.
std::vector<Estimate> reduce(const std::vector<Differences>& full,
                             const std::vector<Differences>& halved) {
  std::vector<Estimate> out;
  for (std::size_t k = 0; k < full.front().size(); ++k) {
    std::vector<double> extrapolated;
    std::vector<double> change;
    for (std::size_t draw = 0; draw < full.size(); ++draw) {
      change.push_back(full[draw][k] - halved[draw][k]);
      extrapolated.push_back(full[draw][k] + change.back());
    }
    const Estimate mean = numerics::mean_over_runs(extrapolated);
    out.push_back({mean.value, std::hypot(mean.error, 0.5 * numerics::mean(change))});
  }
  return out;
}

Estimate sum(const Estimate& exact, const Estimate& difference) {
  return {exact.value + difference.value, std::hypot(exact.error, difference.error)};
}

FlowSolution paired_solution(const FlowModel& model, const std::vector<double>& times,
                             const FlowOptions& options, const Context& context) {
  const Twin twin(model);
  std::vector<double> twin_times;
  for (const double time : times) twin_times.push_back(twin.speed * time);
  FlowSolution out = closed_solution(twin.model, twin_times, options.seed, context);
  const auto risk = make_risk(model, Precision::coarse, options.seed);
  std::vector<Differences> found(2 * options.draws);
  numerics::parallel_for(context, found.size(), [&](std::size_t task) {
    const Draw draw{task % 2 == 0 ? options.size : options.size / 2, options.seed, task};
    found[task] = differences(model, twin, *risk, times, draw, context);
  });
  std::vector<Differences> full;
  std::vector<Differences> halved;
  for (std::size_t draw = 0; draw < options.draws; ++draw) {
    full.push_back(found[2 * draw]);
    halved.push_back(found[2 * draw + 1]);
  }
  const std::vector<Estimate> mean = reduce(full, halved);
  for (std::size_t i = 0; i < out.students.size(); ++i) {
    for (std::size_t k = 0; k < flow_number_count; ++k) {
      Estimate& value = out.students[i].values[k];
      value = sum(value, mean[i * flow_number_count + k]);
    }
  }
  const auto shift = [&](std::optional<Estimate>& time, const Estimate& difference) {
    if (!time || !std::isfinite(difference.value)) {
      time.reset();
      return;
    }
    time = sum({time->value / twin.speed, time->error / twin.speed}, difference);
  };
  shift(out.escape, mean[mean.size() - 2]);
  shift(out.half, mean[mean.size() - 1]);
  return out;
}

}  // namespace

bool has_closed_path(const FlowModel& model) {
  switch (model.student) {
    case Student::direct: return true;
    case Student::tied: return model.rate == 0.0;
    case Student::untied: break;
  }
  return model.rate == 0.0 && model.start == StudentStart::identity;
}

FlowSolution solve_flow(const FlowModel& model, const std::vector<double>& times,
                        const FlowOptions& options, const Context& context) {
  return has_closed_path(model) ? closed_solution(model, times, options.seed, context)
                                : paired_solution(model, times, options, context);
}

}  // namespace onset::aim
