#include "aim/verbs/flow_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/flow/matrix_path.hpp"
#include "aim/limits/flow/risk.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/channel.hpp"

namespace onset::aim {
namespace {

/// Measured seconds for a unit of time, once a student has settled: steps are then as long as
/// stability allows, in inverse proportion to the teacher's largest eigenvalue where weights are
/// factors.
double path_seconds(const FlowModel& model) {
  if (model.labels.channel == &linear_channel()) return 0.0;
  const double largest = max_teacher_eigenvalue(model.labels.rho);
  switch (model.student) {
    case Student::direct: return 2e-5;
    case Student::untied: return 1e-4 * largest;
    case Student::tied: return (model.loss == SgdLoss::squared ? 0.004 : 0.0085) * largest;
  }
  return 0.0;
}

/// Measured seconds before that. The risk of steep labels takes more nodes, and their students move
/// fast at first, in short steps.
double first_seconds(const FlowModel& model, double last) {
  constexpr double least = 0.25;
  if (model.labels.channel == &linear_channel()) return least;
  const bool squared = model.loss == SgdLoss::squared;
  if (squared && model.labels.tokens > 2) return 10.0;
  return least + (squared ? 0.12 : 0.01) * std::pow(model.labels.beta, 1.5) *
                     std::sqrt(std::min(last, 1.0));
}

/// About the time from which on a student is the teacher to rounding; infinite where it never is.
/// It was measured for the teacher's slowest direction lambda: 200 for cross-entropy and 500 for
/// the squared loss at lambda = 0.09.
double learned_by(const FlowModel& model) {
  const double slowest = min_teacher_eigenvalue(model.labels.rho);
  // Directions that the teacher has not are forgotten like 1/time.
  const double width = model.start == StudentStart::gaussian ? model.width_ratio : 1.0;
  const bool never = model.labels.channel != &softmax_channel() || model.decay > 0.0 ||
                     model.rate > 0.0 || model.labels.noise_variance > 0.0 || slowest <= 0.0 ||
                     (model.labels.rho < 1.0 && width > model.labels.rho);
  constexpr double first_look = 50.0;  // nobody looks sooner
  const double learned = (model.loss == SgdLoss::squared ? 45.0 : 18.0) / slowest;
  return never ? std::numeric_limits<double>::infinity() : std::max(first_look, learned);
}

}  // namespace

double flow_seconds(const FlowModel& model, double last, const FlowOptions& options) {
  const double followed = std::min(last, learned_by(model));
  const double closed = first_seconds(model, last) + path_seconds(model) * followed;
  if (has_closed_path(model)) return closed;
  const auto risk = make_risk(model, Precision::coarse, options.seed);
  const double steps = last / matrix_step(model, *risk);
  const auto size = static_cast<double>(options.size);
  const double width = std::max(model.width_ratio, 1.0) * size;
  constexpr double flops_per_second = 2.5e10;  // of small products
  constexpr double risk_seconds = 1e-4;
  return closed + static_cast<double>(options.draws) * steps *
                      (2.0 * risk_seconds + 24.0 * size * size * width / flops_per_second);
}

}  // namespace onset::aim
