#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// Relative held-out residuals up to this count as a success.
inline constexpr double solved_residual = 1e-6;

/// Plain optimisation from random starts, for comparison with the six phases.
struct BaselineOptions {
  int heads = 2;
  int starts = 8;           ///< restarts of each method
  double scale = 3.0;       ///< Frobenius norm of a random theta
  int lm_steps = 60;        ///< Jacobians per start
  int adam_steps = 2500;    ///< minibatches per start; 0 leaves Adam out
  int adam_batch = 64;      ///< examples of a minibatch
  double adam_rate = 0.02;  ///< the first learning rate, which falls to 1 % as a cosine
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming the field.
  void validate() const;
};

struct BaselineRun {
  std::string method;  ///< "lm" or "adam"
  int start = 0;
  std::size_t evaluations = 0;  ///< evaluations of the layer, in examples; gradients count as two
  double residual = 0.0;        ///< the relative residual on held-out examples
  bool solved = false;          ///< whether that is small; false where it is not a number
  double seconds = 0.0;         ///< wall clock; the only number that is not the same every time
  Layer layer;
};

/// Called with every run when it is finished.
using BaselineDone = std::function<void(const BaselineRun&)>;

/// Runs variable-projection Levenberg-Marquardt and Adam on theta and w, `starts` times each, and
/// returns the runs in order. Throws InvalidArgument for options or shapes that are not allowed,
/// and Refused for examples that the six phases refuse without looking at them.
[[nodiscard]] std::vector<BaselineRun> run_baseline(const Examples& examples,
                                                    const BaselineOptions& options,
                                                    const Context& context,
                                                    const BaselineDone& done = {});

}  // namespace onset::mha
