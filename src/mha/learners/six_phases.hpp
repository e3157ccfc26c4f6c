#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mha/model/certificate.hpp"
#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// Largest number of heads that the singular gap is searched for.
inline constexpr int max_heads_found = 6;

struct LearnOptions {
  int heads = 0;       ///< 0: found from the singular gap
  bool polish = true;  ///< false: stop at what the geometry gives

  /// Throws InvalidArgument naming the field.
  void validate() const;
};

/// What is known after a phase, from labels alone; what a phase does not touch is left out.
struct PhaseReport {
  int phase = 0;
  std::string name;
  std::size_t rows = 0;                ///< rows, slabs, tuples or examples that it worked with
  std::optional<double> score{};       ///< n_f-th smallest residual over pivot: how well rows agree
  std::optional<double> inflation{};   ///< least inflation of the body
  std::optional<double> violations{};  ///< share of slabs that what is known violates
  std::optional<double> gap{};         ///< singular gap behind the heads
  std::optional<double> residual{};    ///< relative residual on held-out examples
};

/// The numbers behind a verdict.
struct Evidence {
  double gap = 0.0;                       ///< of the affine hull, phase 4
  std::vector<CertifiedSlab> hull_slabs;  ///< that it is of, sculpted with the refined w
  std::vector<double> ratios;
  double inflation = 0.0;
  double hull_bound = 0.0;  ///< distance from the hull of any theta in the body, lifted
  double support_along = 0.0;
  double support_across = 0.0;
  double support_sine = 0.0;
  double tuple_tau = 0.0;  ///< what the linear program leaves of the geometry's tuple
  RejectedTuple rejected;
  int jacobian_rank = 0;
  double jacobian_smallest = 0.0;    ///< singular value relative to the largest
  double features_smallest = 0.0;    ///< of [Z_1 .. Z_m], relative to the largest
  std::vector<CertifiedSlab> slabs;  ///< posterior: sculpted with the found projections
  int slabs_proved = 0;              ///< of them, by [mha 22]
  int slabs_violated = 0;            ///< of those proved, by some head
  double posterior_gap = 0.0;        ///< singular gap of the posterior slabs
  /// Smallest singular value of these slabs off the span of the heads, over the largest.
  double off_the_heads = 0.0;
};

/// What was known along the way, for comparison with a truth.
struct Knowledge {
  std::vector<double> crude_w;          ///< dim x dim
  std::vector<double> refined_w;        ///< dim x dim
  std::vector<double> proxy;            ///< dim x dim
  std::vector<double> hull_base;        ///< dim^2
  std::vector<double> hull_directions;  ///< (heads - 1) x dim^2, orthonormal rows
};

struct Learned {
  Verdict verdict = Verdict::refused;
  std::string reason;        ///< empty when certified
  bool interrupted = false;  ///< stopped on request: what the finished phases found is there
  std::vector<PhaseReport> phases;
  int heads = 0;                   ///< 0 when refused before they were found
  Layer geometry;                  ///< before the polish, canonical
  Layer layer;                     ///< the answer, canonical
  double geometry_residual = 0.0;  ///< relative, held-out examples
  double residual = 0.0;
  double residual_all = 0.0;    ///< on all examples, repeats included
  std::size_t disagreeing = 0;  ///< examples whose label the layer does not give
  std::size_t first_disagreeing = 0;
  std::vector<std::uint32_t> held_out;  ///< examples that no phase looked at
  Evidence evidence;
  Knowledge knowledge;
};

/// The six phases [mha 9-23]: crude sum of projections, sculpting, minimum-norm proxy and large
/// margins with resculpting, affine hull, net and tuples, least squares and polish. Never guesses:
/// the verdict says what was certified. The same bits for any number of threads. A run that is
/// asked to stop ends as refused, with the phases that it finished. Throws InvalidArgument for
/// shapes that do not fit.
[[nodiscard]] Learned learn(const Examples& examples, const LearnOptions& options,
                            const Context& context);

/// The certificate of what was learned from these examples.
[[nodiscard]] Certificate certificate_of(const Learned& learned, const Examples& examples);

}  // namespace onset::mha
