#pragma once

#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "smi/learners/overlaps.hpp"
#include "smi/learners/sample_loss.hpp"

namespace onset::smi {

/// Stochastic gradient descent of all directions together on the SampleLoss of a model [smi 50],
/// whose labels may be noisy: a sample has the same noise whenever it is used. A
/// step on a batch of B samples is
///   w <- (1 - rate decay / D) w - rate s sum_batch (d loss / d z) x / sqrt(D),
/// with s = 1/D where samples are used again and again (sgd_batch) and s = 1/B in one pass
/// (sgd_online, sgd_chain, sgd_flow), where steps then have a limit as D grows.
struct SgdOptions {
  std::size_t dimension = 500;
  std::size_t batch = 200;
  double rate = 15.0;
  double decay = 0.07;
  double init = 0.9;          ///< the standard deviation of the student's initial weights
  double start_cosine = 0.0;  ///< planted in every direction, up to the 1/sqrt(D) of random weights
  double time = 1700.0;       ///< epochs (sgd_batch), or samples over dimension
  std::size_t records = 200;  ///< evenly spaced, besides the start
  double alpha = 15.0;        ///< samples over dimension (sgd_batch only)
  int reuse = 3;              ///< consecutive steps on each batch (sgd_batch only)
  std::uint64_t seed = 1;
  void validate() const;
};

struct SgdRecord {
  double time = 0.0;
  std::vector<double> cosine;  ///< of every direction with the teacher's; never negative
  double loss = 0.0;           ///< on fresh samples, whose labels have no noise
  double noisy_loss = 0.0;     ///< the same with noisy labels
};

struct SgdRun {
  std::vector<SgdRecord> records;
  /// Whether the run diverged: the weights became useless, or the loss, that with noisy labels, far
  /// exceeds that of knowing nothing, because the learning rate is too large. Records end there.
  bool diverged = false;
  bool interrupted = false;  ///< stopped on request; records end there
};

/// Makes many epochs over alpha D samples in a fixed order (the experiment of figure 2). Time
/// counts epochs.
[[nodiscard]] SgdRun sgd_batch(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                               const Context& context);

/// Makes one pass over fresh samples in full dimension. Time counts samples over dimension.
[[nodiscard]] SgdRun sgd_online(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                                const Context& context);

/// The same law, as a Markov chain of overlaps whose cost does not depend on the dimension [smi
/// 51-53]. It needs at least 3 dimensions per direction.
[[nodiscard]] SgdRun sgd_chain(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                               const Context& context);

struct SgdFlowPoint {
  double time = 0.0;
  std::vector<Estimate> cosine;
};

struct SgdFlow {
  std::vector<SgdFlowPoint> points;
  bool diverged = false;     ///< as in SgdRun, but judged by the weights alone
  bool unresolved = false;   ///< it took too many steps between two records
  bool interrupted = false;  ///< as in SgdRun
};

/// The most directions of sgd_flow(), where every point is used with all signs of the teacher's
/// fields that the label does not show.
inline constexpr int max_flow_layers = 6;

/// The limit of one pass as the dimension grows: an ordinary differential equation for the overlaps
/// [smi 54]. Without a planted start its cosines would be 0 forever, so it starts from the typical
/// 1/sqrt(D) in every direction. `points` is the number of random fields behind each right-hand
/// side, per replicate.
[[nodiscard]] SgdFlow sgd_flow(const SgdModel& model, const SgdOptions& options, std::size_t points,
                               const Context& context);

}  // namespace onset::smi
