#pragma once

#include <cstdint>
#include <vector>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/numbers.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Online SGD at finite dimension: every step has a fresh batch [aim 61]. `rate` of the model is
/// eta d/batch, so that a step takes rate batch/d^2 of time.
struct OnlineOptions {
  std::size_t dim = 100;
  std::size_t batch = 100;
  TeacherSpectrum teacher = TeacherSpectrum::quantiles;
  std::vector<std::size_t> steps;   ///< after which a student is looked at; increasing
  std::size_t test_samples = 2000;  ///< fresh ones for its risk and disagreement
  std::uint64_t seed = 1;
  std::uint64_t run = 0;  ///< tells runs apart
  /// Throws InvalidArgument naming the wrong field.
  void validate() const;
};

/// What became of one student.
struct OnlineRun {
  std::vector<FlowNumbers> numbers;  ///< at the asked steps, up to the last one it survived
  bool diverged = false;             ///< left the finite numbers
};

/// One run, on one thread. Tokens are isotropic, so that everything happens in the teacher's
/// eigenbasis, where teacher scores cost T^2 d. Work: 4 T d k flops for a sample of a tied student
/// of width k, 8 T d k of an untied one, 4 T d^2 of a direct one.
[[nodiscard]] OnlineRun online_sgd(const FlowModel& model, const OnlineOptions& options,
                                   const Context& context);

}  // namespace onset::aim
