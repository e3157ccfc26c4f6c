#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/ssi/learners/start.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// Steps are counted in 64 bits, which hold no more than this.
inline constexpr double max_counted_steps = 1e19;

struct SgdOptions {
  double dim = 1000;  ///< d, a whole number; up to 1e12 for the chain
  double rate = 0.05;
  std::uint64_t steps = 100'000;
  std::size_t batch = 1;  ///< fresh samples of a step, whose gradients are averaged
  double noise = 0.0;     ///< standard deviation of label noise, per output
  std::size_t runs = 64;
  Start start = Start::random;
  double level = 0.5;          ///< the value of max(|e|, |m|) whose first passage is recorded
  bool stop_at_level = false;  ///< a run may end once it has reached the level
  std::uint64_t seed = 1;
  std::vector<std::uint64_t> path_steps = {};  ///< steps at which a path is kept; increasing
  std::size_t paths = 0;                       ///< how many runs, from the first on, keep one
  /// Throws InvalidArgument naming the wrong field.
  void validate(const SequenceModel& model) const;
};

/// The overlaps of a run at one step.
struct Overlaps {
  double e = 0.0;
  double m = 0.0;
};

/// One run: its last overlaps (of an untied student: m = |(m_1, .., m_L)|/sqrt(L)) and the first
/// step after which max(|e|, |m|) >= level, 0 if there was none.
struct SgdRun {
  double e = 0.0;
  double m = 0.0;
  std::uint64_t first_passage = 0;
  std::vector<Overlaps> path = {};  ///< at the steps of a path, as far as the run went
};

/// The exact low-dimensional Markov chain of the overlaps: the law of online SGD at any d, at a
/// cost that does not depend on d. [ssi 29-33] Blocks of 64 runs advance together.
[[nodiscard]] std::vector<SgdRun> run_chain(const SequenceModel& model, const SgdOptions& options,
                                            const Context& context);

/// Throws InvalidArgument where the chain has one sample a step only: for untied students.
void require_batch(const SequenceModel& model, const SgdOptions& options);

/// Roughly the seconds that it takes on one core without a level to stop at, for estimates only.
[[nodiscard]] double chain_seconds(const SequenceModel& model, const SgdOptions& options);

/// The same process with all d dimensions, in single precision: for cross-checks.
inline constexpr double max_full_dim = 1e8;
[[nodiscard]] std::vector<SgdRun> run_full_dimension(const SequenceModel& model,
                                                     const SgdOptions& options,
                                                     const Context& context);

}  // namespace onset::ssi
