#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/numbers.hpp"
#include "aim/limits/flow/risk.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Weights of a tied (u alone) or an untied student, size x width, in the teacher's eigenbasis.
struct MatrixWeights {
  std::size_t size = 0;
  std::size_t width = 0;
  std::vector<double> u;
  std::vector<double> v;
};

/// A draw of the model's start at this size [aim 61].
[[nodiscard]] MatrixWeights matrix_start(const FlowModel& model, std::size_t size,
                                         std::uint64_t seed, std::uint64_t draw);

/// The path of one such student.
struct MatrixPath {
  std::vector<FlowNumbers> numbers;  ///< at the asked times
  std::optional<double> escape;
  std::optional<double> half;
};

/// How the noise of SGD is drawn; none at rate 0.
struct MatrixNoise {
  double rate = 0.0;
  std::uint64_t seed = 1;
  std::uint64_t index = 0;
};

/// Integrates [aim 67] with the noise of [aim 68] for matrices of finite size, whose teacher has
/// the quantiles of its law: midpoint steps of `step` or less for the drift, and the noise added in
/// Ito's sense. Times increase. Work: some 10 size^2 width flops for a step.
[[nodiscard]] MatrixPath matrix_path(const FlowModel& model, const Risk& risk,
                                     MatrixWeights weights, const std::vector<double>& times,
                                     double step, const MatrixNoise& noise, const Context& context);

/// A step that is short beside the fastest motion of the model.
[[nodiscard]] double matrix_step(const FlowModel& model, const Risk& risk);

}  // namespace onset::aim
