#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::testing {

/// Options of check_model().
struct ModelCheckOptions {
  /// Variances V at which every block is tested, each with all blocks alike and with one block at V
  /// and the others not learned (V = 1).
  std::vector<double> variances = {1.0, 0.3, 1e-3, 1e-6};
  std::size_t points = 1024;  ///< samples per replicate; a power of two
  int replicates = 32;        ///< their scatter gives the standard error; at least 8
  /// How many samples per setting have their moments compared with differences of log Z (exact
  /// posteriors only).
  std::size_t differences = 64;
  /// Probability that a consistent model is called inconsistent by chance, over all statistical
  /// tests of a call.
  double false_alarm = 1e-6;
  /// The largest deviation that is not a finding when the posterior is not exact, to allow for the
  /// bias of its inner integrals.
  double inner_bias = 0.02;
  std::uint64_t seed = 1;
  /// Throws InvalidArgument naming the wrong field and what is allowed.
  void validate() const;
};

/// What a label says about one block when nothing is learned (every V = 1) [smi 16].
struct BlockReport {
  /// Whether the posterior stays the same when all the fields that made the label change sign.
  bool sign_symmetric = false;
  Estimate gain;    ///< E |E[z_b | y]|^2 per direction; above 0: learned from the first sample on
  Estimate growth;  ///< E ||E[z_b z_b^T | y] - I||^2 per direction; weak recovery at 1 / growth
};

/// The outcome: `findings` are sentences, one per inconsistency; empty when all is well.
struct ModelReport {
  bool passed = true;
  std::vector<std::string> findings;
  std::vector<BlockReport> blocks;
  int statistical_tests = 0;
  double threshold = 0.0;  ///< the number of standard errors that a statistical finding exceeds
};

/// Is a model consistent with itself? The check tests, over samples of its own law,
///  - that log Z and all moments are finite, also at labels far from what omega predicts, and
///    that covariances are positive semidefinite;
///  - that means are derivatives of log Z in omega, and covariances, also those between blocks
///    where the posterior has them, those of the means;
///  - the Nishimori identities E <zeta>.zeta* = E |<zeta>|^2 and E <zeta zeta^T> = I [smi 15];
///  - that state evolution closes with one overlap per block: E <zeta><zeta>^T is a multiple of the
///    identity in every block and zero between blocks;
///  - that blocks which the model calls even() are even.
/// A posterior that is not exact is tested across its two halves, without derivatives, and with
/// options.inner_bias as allowance.
/// Costs replicates * points posteriors per setting. Throws InvalidArgument for wrong options.
[[nodiscard]] ModelReport check_model(const smi::SequenceModel& model,
                                      const ModelCheckOptions& options = {},
                                      const Context& context = {});

}  // namespace onset::testing
