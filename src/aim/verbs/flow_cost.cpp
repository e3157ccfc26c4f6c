#include "aim/verbs/flow_cost.hpp"

#include <algorithm>
#include <limits>

#include "aim/limits/flow/matrix_path.hpp"
#include "aim/limits/flow/risk.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/channel.hpp"

namespace onset::aim {
namespace {

/// Measured seconds for a unit of time, once a student has settled: steps are then as long as
/// stability allows.
double path_seconds(const FlowModel& model) {
  if (model.labels.channel == &linear_channel()) return 0.0;
  switch (model.student) {
    case Student::direct: return 2e-5;
    case Student::untied: return 4e-4;
    case Student::tied: return model.loss == SgdLoss::squared ? 0.01 : 0.03;
  }
  return 0.0;
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
  const double learned = (model.loss == SgdLoss::squared ? 45.0 : 18.0) / slowest;
  return never ? std::numeric_limits<double>::infinity() : learned;
}

}  // namespace

double flow_seconds(const FlowModel& model, double last, const FlowOptions& options) {
  const bool squared = model.loss == SgdLoss::squared && model.labels.tokens > 2 &&
                       model.labels.channel != &linear_channel();
  const double followed = std::min(last, learned_by(model));
  const double closed = (squared ? 10.0 : 0.5) + path_seconds(model) * followed;
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
