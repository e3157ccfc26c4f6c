#pragma once

#include <span>
#include <vector>

#include "mha/verify/verify.hpp"

// The parts of verify(). Nothing here comes from the learner, so that a mistake there is not
// repeated here.

namespace onset::mha::verifier {

/// Throws InvalidArgument naming the field of a certificate that does not fit layer and examples.
void require_sense(const Certificate& certificate, const Model& model, const Examples& examples);

/// The root mean square of what the layer leaves of the labels, over the size of the labels.
[[nodiscard]] double relative_residual(const Layer& layer, const Examples& examples,
                                       const std::vector<std::uint32_t>& which);

/// These examples without those whose labels the layer misses by more than `times` what it misses
/// of the median one, and by more than `rounding` times its outputs; no more than one in twenty is
/// left out.
[[nodiscard]] std::vector<std::uint32_t> without_far_off(const Layer& layer,
                                                         const Examples& examples,
                                                         const std::vector<std::uint32_t>& which,
                                                         double times, double rounding);

/// How many examples have a label that the layer misses by more than `tolerance` times the root
/// mean square of its outputs: labels may have outliers, outputs have none.
[[nodiscard]] std::size_t labels_not_given(const Layer& layer, const Examples& examples,
                                           double tolerance);

/// Whether an example equals no earlier one up to sign and order of the tokens.
[[nodiscard]] std::vector<bool> first_of_orbits(const Examples& examples);

/// How many of these examples equal an earlier one up to sign and order of the tokens.
[[nodiscard]] int seen_before(const std::vector<bool>& first_of_orbits,
                              const std::vector<std::uint32_t>& which);

/// How many examples are held out and should not be, or the other way round. One in twenty of those
/// that repeat no other is due, up to 500, the last ones: which examples give slabs is no choice.
[[nodiscard]] int wrongly_held_out(const std::vector<bool>& first_of_orbits,
                                   const std::vector<std::uint32_t>& held_out);

/// The rank of the derivative with respect to theta, by central differences, after projecting off
/// what w can do, on some of the examples that are not held out.
[[nodiscard]] int jacobian_rank(const Layer& layer, const Examples& examples,
                                const std::vector<std::uint32_t>& held_out, const Context& context);

/// The smallest singular value of [Z_1 .. Z_m] with unit columns, over the largest; it is zero
/// where heads can be traded for one another, and w is not unique.
[[nodiscard]] double features_smallest(const Layer& layer, const Examples& examples);

/// Whether no head vanishes, no two are equal, and they come with the largest w first [mha 5].
[[nodiscard]] bool is_canonical(const Layer& layer);

/// How many heads of the rejected tuple are heads of the layer, each counted once.
[[nodiscard]] int heads_kept(const RejectedTuple& tuple, const Layer& layer);

/// The slabs that the examples give, and how a list of slabs differs from them.
struct SlabChoice {
  std::vector<CertifiedSlab> best;  ///< as they are found without the list
  bool same = false;                ///< whether the list has these and no others
  std::size_t lacking = 0;          ///< how many it lacks, whatever the rounding
  std::size_t wrong = 0;            ///< how many it has that no rounding can put there
};

/// Finds the 8 dim^2 slabs of smallest relative tolerance [mha 33] that the examples looked at give
/// with a sum of projections, dim x dim numbers. It costs a least squares for every example.
[[nodiscard]] SlabChoice slab_choice(const std::vector<CertifiedSlab>& listed,
                                     std::span<const double> w, const Examples& examples,
                                     const std::vector<bool>& looked_at, const Context& context);

/// The sum of the projections of all heads, dim x dim.
[[nodiscard]] std::vector<double> sum_of_projections(const Layer& layer);

/// Posterior slabs [mha 22] and the singular gap behind `layer.heads` of them [mha 15].
struct SlabFacts {
  int proved = 0;
  int violated = 0;
  double gap = 0.0;
  /// The smallest singular value of the slabs off the span of the heads, over the largest; it is
  /// zero where they leave more free than the heads.
  double off_the_heads = 0.0;
};
[[nodiscard]] SlabFacts slab_facts(const std::vector<CertifiedSlab>& slabs, const Layer& layer,
                                   const Examples& examples, const Context& context);

/// The singular gap behind the heads that were counted of slabs under the sum of projections with
/// which they were.
[[nodiscard]] double counted_gap(const CountedHeads& counted,
                                 const std::vector<CertifiedSlab>& slabs, const Examples& examples,
                                 const Context& context);

/// The root mean square residual per free coordinate, over the size of the labels, of the rows that
/// agree best with the sum of projections with which heads were counted, among examples that are
/// not held out. Label noise is not much above it.
[[nodiscard]] double noise_bound(const Certificate& certificate, const Examples& examples,
                                 const Context& context);

/// The norm of the sum of projections over the largest of theirs: near 0 where they cancel.
[[nodiscard]] double sum_over_largest(const Layer& layer);

/// What the multipliers prove about the rejected tuple: y . lambda over |lambda|_1, or 0 when they
/// are not orthogonal to its features and prove nothing.
[[nodiscard]] double proved_bound(const RejectedTuple& tuple, const Examples& examples);

/// One head with the identity as projection: its outputs are attention times tokens.
[[nodiscard]] Layer bare_head(std::span<const double> theta, int dim);

}  // namespace onset::mha::verifier
