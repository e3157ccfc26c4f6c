#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aim/limits/prior.hpp"
#include "aim/model/attention_indexed.hpp"
#include "aim/model/channel.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// The Bayes-optimal fixed point at one sample ratio. In the limit of small widths alpha is n/(d r)
/// and q_hat is q_hat / rho.
struct CurvePoint {
  double alpha = 0.0;
  Estimate overlap;    ///< q
  Estimate conjugate;  ///< q_hat; infinite at perfect recovery
  Estimate mmse;       ///< exactly 0 at perfect recovery
  Status status;
  /// Per d^2 (per d r in the limit of small widths), counted from nothing known [aim 39]; none at
  /// perfect recovery, where it is infinite, and for an output function that is not Bayes-optimal.
  std::optional<Estimate> free_entropy = {};
};

/// The free entropy at some overlap, with the conjugate that belongs to it.
struct PotentialPoint {
  double overlap = 0.0;
  double mmse = 0.0;
  Estimate free_entropy;
  Estimate slope;  ///< d free_entropy / d q: 0 at a fixed point
};

/// State evolution solved for its own noise: alpha(delta) = mmse / (2 delta E_hat) is explicit and
/// falls strictly [aim 7], so that a fixed point is one bracketed root, without iteration of the
/// map.
class StateEvolution {
 public:
  /// Throws InvalidArgument for a wrong field and Refused where the equations do not close.
  StateEvolution(const AttentionIndexed& model, std::uint64_t seed, const Context& context);

  /// The alpha at which the noise on the matrix is delta.
  [[nodiscard]] Estimate sample_ratio(double delta) const;
  /// The alpha at which recovery becomes perfect [aim 27]; infinite when it never does.
  [[nodiscard]] double perfect_recovery() const;
  /// The fixed point at alpha >= 0. It takes about ten evaluations of the spectrum.
  [[nodiscard]] CurvePoint at(double alpha) const;
  /// The free entropy at overlap q, known() <= q < Q_0 [aim 39]. Throws Refused for labels of the
  /// sum of several layers and for an output function that is not Bayes-optimal.
  [[nodiscard]] PotentialPoint potential(double alpha, double overlap) const;
  /// The smallest overlap, of nothing learned, and the largest, Q_0.
  [[nodiscard]] double known() const { return prior_->known(); }
  [[nodiscard]] double second_moment() const { return prior_->second_moment(); }

 private:
  struct Evaluation {
    Estimate mmse;
    Estimate alpha;
  };
  [[nodiscard]] Evaluation evaluate(double delta) const;
  [[nodiscard]] CurvePoint point(double alpha, double delta, const Status& status) const;
  [[nodiscard]] CurvePoint per_layer(CurvePoint point) const;
  [[nodiscard]] Estimate shown_by_labels(double mmse) const;
  [[nodiscard]] Estimate free_entropy(double alpha, double delta, double mmse) const;
  [[nodiscard]] double delta_of(double mmse) const;

  AttentionIndexed model_;
  std::unique_ptr<Prior> prior_;
  std::unique_ptr<const Information> information_;
};

/// The fixed point at every alpha, in parallel.
[[nodiscard]] std::vector<CurvePoint> bayes_curve(const AttentionIndexed& model,
                                                  std::span<const double> alphas,
                                                  std::uint64_t seed, const Context& context);

}  // namespace onset::aim
