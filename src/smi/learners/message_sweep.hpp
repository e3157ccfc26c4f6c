#pragma once

#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/prior_covariance.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {

struct FieldMoments;

/// What one pass over the samples gives [smi 43, 44].
struct SweepSums {
  std::vector<double> push;             ///< sum_mu x_mu^T g_mu / sqrt(D): one row per direction
  DirectionMatrix curvature;            ///< A = -(1/D) sum dg/domega
  std::vector<double> squared_message;  ///< per block, sum of |<z> - omega|^2 over its mean V
  double squared_noise = 0.0;           ///< the same for half the difference of two inner estimates
  double squared_residual = 0.0;        ///< sum of |<z> - omega|^2
  double lost = 0.0;                    ///< the number of samples without a finite posterior
  double matrix_seconds = 0.0;
  double posterior_seconds = 0.0;
};

/// The passes of message passing over one dataset; keeps the messages g of the last pass. Samples
/// are worked on in blocks that stay in the cache: the inputs are read from memory once per pass,
/// for both products with them.
class MessageSweep {
 public:
  /// Model, posterior and data must outlive the sweep.
  MessageSweep(const SequenceModel& model, const Posterior& posterior, const Dataset& data);

  /// `covariance` is V of the posteriors and `precision` its inverse; `response` is dwhat/db, which
  /// is V too where nothing is damped.
  [[nodiscard]] SweepSums pass(std::span<const double> weights, const DirectionMatrix& covariance,
                               const DirectionMatrix& precision, const DirectionMatrix& response,
                               const Context& context);
  /// Forgets the messages.
  void restart();
  /// Begins with these messages: field * samples + sample.
  void restart(std::vector<double> messages) { messages_ = std::move(messages); }
  /// Multiplies the messages of a block, whose weights were multiplied.
  void scale(std::size_t block, double factor);

 private:
  struct Pass;
  struct Workspace;
  void block(const Pass& pass, std::size_t first, std::size_t count, Workspace& work,
             SweepSums& sums);
  void read_moments(const Pass& pass, std::size_t first, std::size_t count, Workspace& work,
                    SweepSums& sums);
  void add_statistics(const Pass& pass, const FieldMoments& moments, std::size_t count,
                      std::size_t i, SweepSums& sums) const;

  const SequenceModel& model_;
  const Posterior& posterior_;
  const Dataset& data_;
  std::size_t directions_;
  BetweenBlocks between_;
  std::vector<double> messages_;  // field * samples + i
};

}  // namespace onset::smi
