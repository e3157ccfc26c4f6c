#include "aim/verbs/student_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aim/limits/flow/stability.hpp"
#include "aim/model/channel.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

constexpr double usual_scale = 0.3;
constexpr int max_sampled_tokens = 13;  ///< T (T + 1) dimensions of low-discrepancy points

bool linear(const AttentionIndexed& labels) {
  return labels.channel == &linear_channel();
}

void check_loss(const AttentionIndexed& labels, SgdLoss loss) {
  const bool hardmax = labels.channel == &hardmax_channel();
  if (!linear(labels) && labels.noise_variance > 0.0) {
    throw Refused(prose(R"(
        noise on the scores behind softmax labels is not worked out for online learning; possible:
        labels without noise (neither `noise_variance` nor `noise`), or `channel = linear`)"));
  }
  if (!linear(labels) && !hardmax && labels.channel != &softmax_channel()) {
    throw Refused("online learning is known for linear, softmax and hardmax labels only, not for " +
                  std::string(labels.channel->name()));
  }
  if (hardmax && loss == SgdLoss::squared) {
    throw Refused(
        "hardmax labels with a squared loss: the drift has no closed form and no advantage over "
        "cross-entropy; possible is `loss = cross-entropy`");
  }
  if (linear(labels) && loss == SgdLoss::cross_entropy) {
    throw InvalidArgument("loss", prose(R"(
        cross-entropy with linear labels, which are scores and not probabilities; allowed: squared)"));
  }
}

/// Whether the antisymmetric part of an untied student stays 0.
void check_tokens_of(const FlowModel& model) {
  const bool antisymmetric = model.student == Student::untied &&
                             (model.start == StudentStart::gaussian || model.rate > 0.0);
  if (!antisymmetric || linear(model.labels) || model.labels.tokens == 2) return;
  throw Refused(fmt::format(
      "an untied student of {} tokens whose scores are not symmetric: its risk depends on two "
      "variances in a way that is worked out for two tokens and for linear labels only; possible "
      "are `tokens = 2`, `student = tied`, and `start = identity` without a rate",
      model.labels.tokens));
}

/// Scores so steep in a softmax that rules of integration, which resolve them, would take for ever.
void check_steepness(const FlowModel& model) {
  if (linear(model.labels)) return;
  const double limit = max_steepness(model.loss, model.labels.tokens);
  const double beta = model.labels.beta;
  const double start =
      model.scale *
      std::sqrt(model.start == StudentStart::gaussian ? 1.0 + model.width_ratio : 1.0);
  const double teacher = std::sqrt(model.teacher_norm());
  if (beta * std::max(start, teacher) <= limit) return;
  throw Refused(
      fmt::format("scores times beta have a standard deviation of {:.3g}{}, so that labels are "
                  "those of hardmax nearly everywhere and the integrals of the flow are out of "
                  "reach; possible are up to {:g} with this loss and number of tokens: a smaller "
                  "`beta`, `rho` or `scale`",
                  beta * std::max(start, teacher), start > teacher ? " at the start" : "", limit));
}

}  // namespace

FlowModel settle_student(const AttentionIndexed& labels, Student student,
                         std::optional<SgdLoss>& loss, std::optional<StudentStart>& start,
                         std::optional<double>& scale, std::optional<double>& width_ratio,
                         double decay) {
  const bool hardmax = labels.channel == &hardmax_channel();
  if (!loss) loss = hardmax ? SgdLoss::cross_entropy : SgdLoss::squared;
  if (!start) start = student == Student::direct ? StudentStart::zero : StudentStart::gaussian;
  check_loss(labels, *loss);
  if (*start == StudentStart::zero && student != Student::direct) {
    throw Refused(
        "weights that are all 0 stay there: the gradient of W W^T and of U V^T vanishes with them; "
        "possible are `start = gaussian` and `start = identity`");
  }
  if (*start == StudentStart::zero && scale) {
    throw InvalidArgument("scale",
                          "has no meaning with `start = zero`; allowed: leaving it out, or another "
                          "`start`");
  }
  if (*start != StudentStart::gaussian && width_ratio) {
    throw InvalidArgument("width_ratio",
                          "has a meaning only with `start = gaussian`; allowed: leaving it out");
  }
  if (*start != StudentStart::zero && !scale) scale = usual_scale;
  if (*start == StudentStart::gaussian && !width_ratio) width_ratio = labels.rho;
  FlowModel model;
  model.labels = labels;
  model.student = student;
  model.loss = *loss;
  model.start = *start;
  model.scale = scale.value_or(0.0);
  model.width_ratio = width_ratio.value_or(1.0);
  model.decay = decay;
  check_tokens_of(model);
  check_steepness(model);
  return model;
}

bool has_noise(const AttentionIndexed& labels) {
  return linear(labels) || labels.tokens <= max_sampled_tokens;
}

void check_rate(const FlowModel& model, const Risk& risk) {
  check_tokens_of(model);
  if (!has_noise(model.labels)) {
    throw Refused(fmt::format(
        "the noise of SGD with {} tokens: it is an integral over T (T + 1) normals, and only up to "
        "{} tokens have low-discrepancy points for it; possible is leaving out the rate",
        model.labels.tokens, max_sampled_tokens));
  }
  const double limit = max_stable_rate(model, risk);
  if (model.rate < limit) return;
  throw Refused(fmt::format(
      "`rate = {:.6g}` is beyond stability: from {:.6g} on, the noise of SGD makes a small error "
      "next to the teacher grow, whatever the start, so that nothing is learned; possible are "
      "smaller rates (a larger batch or a smaller step)",
      model.rate, limit));
}

}  // namespace onset::aim
