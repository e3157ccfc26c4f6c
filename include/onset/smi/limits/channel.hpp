#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// How finely a Channel is integrated.
struct ChannelOptions {
  std::size_t points = 1024;  ///< outer points per replicate; a power of two
  int replicates = numerics::default_replicates;
  int nodes = 256;  ///< inner nodes per half of the posterior
  std::uint64_t seed = 1;
  /// Psi where nothing is known, E log p(y), where that is known better than samples tell: log
  /// evidences are then sampled relative to the log density that the same label has there, at the
  /// price of a second posterior [links 19].
  std::optional<Estimate> label_law = {};
  void validate() const;
};

/// What one label tells about each block when the overlaps are Q_b = 1 - V_b [smi 13-16].
struct ChannelInformation {
  /// r_b = V_b E|g_b|^2 = E|<zeta_b>|^2 over the block's rank, between 0 and the number of tokens.
  /// State evolution is 1 - V_b = alpha r_b. Where V_b = 1 it is 0 unless the block is learned from
  /// the first sample on.
  std::vector<numerics::Replicates> gain;
  /// F_b = E ||<zeta_b zeta_b^T> - I||_F^2 over the rank, where V_b = 1: alpha F_b is the growth
  /// factor of a small overlap of a block that is not yet learned. Empty for the other blocks.
  std::vector<numerics::Replicates> growth;
  /// E<zeta_b> . zeta*_b over the rank: equal to the gain [smi 15] when the inner integrals are
  /// right everywhere, also where a proposal might miss a part of the posterior.
  std::vector<numerics::Replicates> agreement;
  /// C_bn = E sum_{st} tr(<zeta_b zeta_b^T>_c)_st tr(<zeta_n zeta_n^T> - I)_st over both ranks, for
  /// a learned block b and an even one n at overlap 0: alpha C_bn is the growth factor of an
  /// overlap across the two [smi 35]. cross[b * blocks + n]; empty for other pairs.
  std::vector<numerics::Replicates> cross;
  /// The log evidence Psi = E log Z_out.
  numerics::Replicates log_evidence;
  /// Bounds on the bias that the finite inner integration leaves in Psi, gain and growth.
  double log_evidence_bias = 0.0;
  /// The error of Psi that all overlaps have in common, and differences have not: that of the
  /// label_law.
  double log_evidence_shared = 0.0;
  std::vector<double> gain_bias;
  std::vector<double> growth_bias;
};

/// Expectations over the output channel at given overlaps. They do not depend on alpha, so that one
/// evaluation serves every sample ratio. Every call uses the same points: solvers see a smooth,
/// deterministic function, and the scatter of a solution over replicates is its error.
class Channel {
 public:
  /// `model` must outlive the channel.
  Channel(const SequenceModel& model, const ChannelOptions& options);
  Channel(const DeepAttention& model, const ChannelOptions& options);

  /// `variance`: V_b in (0, 1], one per block. Costs replicates x points x 2 posteriors.
  [[nodiscard]] ChannelInformation at(std::span<const double> variance,
                                      const Context& context) const;

  /// The same where every replicate has overlaps of its own: `variance[b][r]` is V_b of replicate
  /// r. A block has V_b = 1 in all replicates or in none.
  [[nodiscard]] ChannelInformation at(const std::vector<numerics::Replicates>& variance,
                                      const Context& context) const;

  [[nodiscard]] const SequenceModel& model() const { return *model_; }
  [[nodiscard]] const ChannelOptions& options() const { return options_; }

 private:
  /// `variance[r]` has V_b of every block in replicate r.
  [[nodiscard]] ChannelInformation evaluate(const std::vector<std::vector<double>>& variance,
                                            const Context& context) const;

  std::shared_ptr<const SequenceModel> model_;
  ChannelOptions options_;
  std::unique_ptr<Posterior> posterior_;
};

}  // namespace onset::smi
