#pragma once

#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"

/// Random models for properties of the flow.
namespace onset::aim {

/// Uniform in the logarithm.
inline double random_between(numerics::Stream& stream, double low, double high) {
  return low * std::pow(high / low, stream.uniform());
}

/// Two tokens, or linear labels of up to four; a tied student from a gaussian start.
inline std::vector<FlowModel> random_models(int count, std::uint64_t seed) {
  numerics::Stream stream(seed, "test models");
  std::vector<FlowModel> out;
  for (int i = 0; i < count; ++i) {
    FlowModel model;
    switch (i % 4) {
      case 0: model = flow_model(softmax_channel(), SgdLoss::squared, 2); break;
      case 1: model = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2); break;
      case 2: model = flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2); break;
      default: model = flow_model(linear_channel(), SgdLoss::squared, 1 + (i / 4) % 4); break;
    }
    model.labels.rho = random_between(stream, 0.1, 4.0);
    model.labels.beta = random_between(stream, 0.5, 2.0);
    model.student = Student::tied;
    model.start = StudentStart::gaussian;
    model.width_ratio = random_between(stream, 0.1, 4.0);
    model.scale = random_between(stream, 0.01, 1.0);
    model.decay = stream.uniform() < 0.5 ? 0.0 : random_between(stream, 0.01, 0.5);
    out.push_back(model);
  }
  return out;
}

}  // namespace onset::aim
