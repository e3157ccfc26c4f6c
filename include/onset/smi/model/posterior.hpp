#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"

namespace onset::smi {

/// Many questions at once: what is known of the fields z of a sample, given its label and the prior
/// z_l ~ N(omega_l, V_l I)? Arrays run over samples fastest: x[row * count + i].
struct PosteriorQuery {
  std::size_t count = 0;
  std::span<const double> label;     ///< h, one row per token
  std::span<const double> omega;     ///< row layer * tokens + token
  std::span<const double> variance;  ///< V_l in (0, 1], one per layer
  /// The samples' own numbers: they pick the integration nodes, so that distinct samples have
  /// independent integration errors and the same sample always has the same one.
  std::uint64_t first_sample = 0;
  std::uint64_t replicate = 0;
  /// Where the posterior is expected, laid out as omega: a point on or near h(z) = +-h, such as the
  /// true fields where they are known. It steers integration nodes only, not what they converge to.
  /// Empty: found from omega.
  std::span<const double> centre = {};
};

/// Moments of zeta_l = (z_l - omega_l) / sqrt(V_l) under the posterior, from two independent inner
/// estimates: a product of two expectations is unbiased only across the pair. Where the posterior
/// is a finite sum both are the same and exact.
struct PosteriorMoments {
  explicit PosteriorMoments(int layers, int tokens, std::size_t samples);

  struct Half {
    std::vector<double> log_z;   ///< log Z_out, density with respect to h
    std::vector<double> mean;    ///< <zeta>: row layer * tokens + token
    std::vector<double> second;  ///< <zeta zeta^T>: row layer * pairs + pair, lower triangle
  };
  std::size_t count;
  int pairs;  ///< tokens (tokens + 1) / 2
  Half half[2];
};

/// The posterior of a noiseless sequence model: one type-erased, batched call (256 samples or
/// more).
class Posterior {
 public:
  virtual ~Posterior() = default;
  virtual void moments(const PosteriorQuery& query, PosteriorMoments& out) const = 0;
  /// True when the moments carry no integration error.
  [[nodiscard]] virtual bool exact() const = 0;
};

/// Nodes of an inner integral, per half.
struct PosteriorOptions {
  int nodes = 256;  ///< a power of two, at least 16
  std::uint64_t seed = 1;
  void validate() const;
};

/// The posterior of deep attention: one layer and any number of tokens (exact), or two tokens and
/// any number of layers (importance sampling with three proposals [smi 29]). Throws Refused
/// otherwise.
[[nodiscard]] std::unique_ptr<Posterior> attention_posterior(const DeepAttention& model,
                                                             const PosteriorOptions& options);

}  // namespace onset::smi
