#pragma once

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/risk.hpp"
#include "aim/model/channels.hpp"

/// Models that tests of the flow share.
namespace onset::aim {

inline FlowModel flow_model(const Channel& channel, SgdLoss loss, int tokens, double rho = 0.5,
                            double beta = 1.0) {
  FlowModel model;
  model.labels.channel = &channel;
  model.labels.tokens = tokens;
  model.labels.rho = rho;
  model.labels.beta = beta;
  model.loss = loss;
  return model;
}

inline ScoreMoments score_moments(const FlowModel& model, double p, double q, double anti = 0.0) {
  return {p, anti, q, p - 2.0 * q + model.teacher_norm()};
}

}  // namespace onset::aim
