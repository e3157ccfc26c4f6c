#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Many questions at once: what is known of the fields z of a sample, given its label and the prior
/// z_b ~ N(omega_b, V_b I) in every block? Arrays run over samples fastest: x[row * count + i].
struct PosteriorQuery {
  std::size_t count = 0;
  std::span<const double> label;     ///< one row per number of the label
  std::span<const double> omega;     ///< one row per field
  std::span<const double> variance;  ///< V_b in (0, 1], one per block
  /// The samples' own numbers: they pick the integration nodes, so that distinct samples have
  /// independent integration errors and the same sample always has the same one.
  std::uint64_t first_sample = 0;
  std::uint64_t replicate = 0;
  /// Where integration may expect the posterior's mass, one row per field: the fields that made the
  /// label, where they are known. If it is empty, the place is found from omega and the label. It
  /// only helps accuracy.
  std::span<const double> centre = {};
  /// Multiplies the prior by exp(-zeta_t^T K zeta_t / 2) for every token t, K a symmetric matrix
  /// over all directions, row by row [smi 86]: a prior whose blocks depend on one another. Empty
  /// means no coupling. Only posteriors that are between_blocks(), and neither exact() nor
  /// any_covariance(), take it.
  std::span<const double> coupling = {};
  /// The covariance of the prior over all directions, the same for every token, row by row, instead
  /// of V_b I in every block. Only posteriors of any_covariance() take it.
  std::span<const double> covariance = {};
};

/// Moments of zeta_b = (z_b - omega_b) / sqrt(V_b) under the posterior, from two independent inner
/// estimates: a product of two expectations is unbiased only across the pair. Where the posterior
/// is a finite sum both are the same and exact.
struct PosteriorMoments {
  /// `between_blocks` asks for the moments between blocks, of a posterior that has them.
  PosteriorMoments(const FieldShape& of, std::size_t samples, bool between_blocks = false);

  struct Half {
    std::vector<double> log_z;   ///< log Z_out, density with respect to the label
    std::vector<double> mean;    ///< <zeta>: one row per field
    std::vector<double> second;  ///< <zeta zeta^T>: lower triangles, block after block
    /// sum_t <zeta_pt zeta_qt>: one row per pair of directions; pairs within a block stay 0. It is
    /// empty where these moments are not wanted.
    std::vector<double> cross;
    /// The leading-order bias of mean and second, which as ratios of sums over finitely many nodes
    /// are biased [smi 27]; 0 where they are exact.
    std::vector<double> mean_bias, second_bias;
  };
  FieldShape shape;
  std::size_t count;
  Half half[2];
};

/// The posterior of a sequence model, behind one type-erased, batched call (256 samples or more).
class Posterior {
 public:
  virtual ~Posterior() = default;
  virtual void moments(const PosteriorQuery& query, PosteriorMoments& out) const = 0;
  /// True when the moments carry no integration error.
  [[nodiscard]] virtual bool exact() const = 0;
  /// False when it is right only while all directions of a block are known equally well. It then
  /// serves state evolution, but not message passing on blocks of rank two or more.
  [[nodiscard]] virtual bool within_blocks() const { return true; }
  /// True when it can give moments between blocks.
  [[nodiscard]] virtual bool between_blocks() const { return false; }
  /// True when it answers for a prior of any covariance over the directions.
  [[nodiscard]] virtual bool any_covariance() const { return false; }
  /// True when a device answers: every call is a journey, and few samples are not worth one.
  [[nodiscard]] virtual bool on_device() const { return false; }
};

/// The number of nodes of an inner integral, per half.
struct PosteriorOptions {
  int nodes = 256;  ///< a power of two, at least 32
  std::uint64_t seed = 1;
  void validate() const;
};

/// The posterior of deep attention: one layer and any number of tokens (exact), or two tokens and
/// any number of layers (importance sampling [smi 29]). Throws Refused otherwise.
[[nodiscard]] std::unique_ptr<Posterior> attention_posterior(const DeepAttention& model,
                                                             const PosteriorOptions& options);

}  // namespace onset::smi
