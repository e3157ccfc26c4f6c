#pragma once

#include <string>

#include "onset/core/context.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// How the start is left: the risk falls like -coefficient r^order along the best direction, and
/// the gradient in the fields has the mean square V = `variance` there. Numbers of this size serve
/// to choose rates and to foresee times, not to be quoted: the variance is sampled.
struct Escape {
  int order = 0;
  double coefficient = 0.0;
  double variance = 0.0;
  std::string law;  ///< the growth of the number of samples with d: "d", "d log d" or "d^3"
};

/// Of a model with the loss |y - f|^2/2. Throws Refused, with the reason, where the start is never
/// left or this is not decided, and for untied students.
[[nodiscard]] Escape escape_of(const SequenceModel& model, const Context& context);

/// Roughly the core-seconds that this takes, for estimates only.
[[nodiscard]] double escape_seconds(const SequenceModel& model);

/// Half of the rate at which the pull -eta V/2 stops all motion at the overlap that noise brings
/// about, 2/sqrt(d) (at the level where the order is 1). It is of the order of the best one, and
/// falls like d^(-(order - 2)/2) for orders above 2. [ssi 38]
[[nodiscard]] double usual_rate(const Escape& escape, double dim, double level);

/// Roughly the steps until an overlap reaches the level, for estimates and bounds only.
[[nodiscard]] double typical_steps(const Escape& escape, double dim, double rate, double level);

}  // namespace onset::ssi
