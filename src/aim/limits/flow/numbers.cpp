#include "aim/limits/flow/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/model/channels/hardmax/disagreement.hpp"

namespace onset::aim {

FlowNumbers flow_numbers(const FlowModel& model, const StudentMoments& student, double risk) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const ScoreMoments& scores = student.scores;
  FlowNumbers out;
  out[FlowNumber::risk] = risk;
  out[FlowNumber::mse] = student.mse();
  out[FlowNumber::q] = scores.q;
  out[FlowNumber::p] = scores.p;
  out[FlowNumber::anti] = scores.anti;
  out[FlowNumber::trace] = student.trace;
  out[FlowNumber::alignment] = alignment(model, student).value_or(none);
  const double norm = (scores.p + scores.anti / 3.0) * model.teacher_norm();
  const bool known = model.labels.channel == &hardmax_channel() &&
                     (model.labels.tokens == 2 || scores.anti == 0.0);
  out[FlowNumber::disagreement] =
      known && norm > 0.0
          ? row_disagreement(std::acos(std::clamp(scores.q / std::sqrt(norm), -1.0, 1.0)),
                             model.labels.tokens)
          : none;
  return out;
}

}  // namespace onset::aim
