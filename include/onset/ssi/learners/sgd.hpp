#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// Where the student's weights are at first.
enum class Start {
  zero,        ///< no overlap with the teacher or the positional encoding: only noise starts a run
  random,      ///< uniform on the sphere: overlaps of order 1/sqrt(d)
  overlapped,  ///< m = 1/sqrt(d) exactly, e = 0
};

struct SgdOptions {
  double dim = 1000;  ///< d, a whole number; up to 1e12 for the chain
  double rate = 0.05;
  std::uint64_t steps = 100'000;
  std::size_t runs = 64;
  Start start = Start::random;
  double level = 0.5;          ///< of max(|e|, |m|), for first passages
  bool stop_at_level = false;  ///< a run may end once it has reached the level
  std::uint64_t seed = 1;
  /// Throws InvalidArgument naming the wrong field.
  void validate(const SequenceModel& model) const;
};

/// One run: its last overlaps (of an untied student: m = |(m_1, .., m_L)|/sqrt(L)) and the first
/// step after which max(|e|, |m|) >= level, 0 if there was none.
struct SgdRun {
  double e = 0.0;
  double m = 0.0;
  std::uint64_t first_passage = 0;
};

/// Mean and standard error over runs. Of a single run nothing is known of the scatter: its error is
/// the value itself. Nothing for no run.
[[nodiscard]] std::optional<Estimate> mean_over_runs(const std::vector<double>& values);

/// The exact low-dimensional Markov chain of the overlaps: the law of online SGD at any d, at a
/// cost that does not depend on d. [ssi 29-33] Blocks of 64 runs advance together.
[[nodiscard]] std::vector<SgdRun> run_chain(const SequenceModel& model, const SgdOptions& options,
                                            const Context& context);

/// The same process with all d dimensions, in single precision: for cross-checks.
[[nodiscard]] std::vector<SgdRun> run_full(const SequenceModel& model, const SgdOptions& options,
                                           const Context& context);

}  // namespace onset::ssi
