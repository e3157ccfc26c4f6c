#pragma once

#include <string>

#include "onset/ssi/model/model.hpp"

/// Models that several tests of the family use.
namespace onset::testing {

/// The positional-semantic model.
inline ssi::SequenceModel mixture(double a, double omega,
                                  ssi::SampleLoss loss = ssi::SampleLoss::half_squared) {
  ssi::SequenceModel model;
  model.target = ssi::mixture_link(a, omega);
  model.student = ssi::make_student("attention", {.reduction = ssi::Reduction::none});
  model.positional = true;
  model.loss = loss;
  return model;
}

/// A target and a student by their texts.
inline ssi::SequenceModel with_student(const std::string& target, std::size_t tokens,
                                       const std::string& student,
                                       ssi::SampleLoss loss = ssi::SampleLoss::half_squared) {
  ssi::SequenceModel model;
  model.target = ssi::read_target(target, tokens);
  model.student =
      ssi::make_student(student, {.tokens = tokens, .outputs = model.target->outputs()});
  model.loss = loss;
  return model;
}

}  // namespace onset::testing
