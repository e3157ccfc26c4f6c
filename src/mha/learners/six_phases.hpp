#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mha/model/certificate.hpp"
#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// The largest number of heads for which the singular gap is searched.
inline constexpr int max_heads_found = 6;

struct Learned;

struct LearnOptions {
  int heads = 0;       ///< 0 means that it is found from the singular gap
  bool polish = true;  ///< false stops at what the geometry gives
  /// Sees what is known whenever a phase is finished; may be empty.
  std::function<void(const Learned& so_far)> watch = {};

  /// Throws InvalidArgument naming the field.
  void validate() const;
};

/// What is known after a phase, from labels alone; what a phase does not touch is left out.
struct PhaseReport {
  int phase = 0;
  std::string name;
  std::size_t rows = 0;           ///< the number of rows, slabs, tuples or examples that it used
  std::optional<double> score{};  ///< n_f-th smallest residual over pivot: how well rows agree
  std::optional<double> inflation{};   ///< least inflation of the body
  std::optional<double> violations{};  ///< the share of slabs that the present estimate violates
  std::optional<double> gap{};         ///< singular gap behind the heads
  std::optional<double> residual{};    ///< relative residual on held-out examples
};

/// The numbers behind a verdict.
struct Evidence {
  double gap = 0.0;                       ///< the singular gap by which heads were counted,
  std::vector<CertifiedSlab> hull_slabs;  ///< its slabs,
  std::vector<double> hull_w;             ///< and the sum of projections they were sculpted with
  std::vector<double> ratios;
  double inflation = 0.0;
  double hull_bound = 0.0;  ///< distance from the hull of any theta in the body, lifted
  double support_along = 0.0;
  double support_across = 0.0;
  double support_sine = 0.0;
  double tuple_tau = 0.0;  ///< the bound that the linear program finds for the geometry's tuple
  RejectedTuple rejected;
  int jacobian_rank = 0;
  double jacobian_smallest = 0.0;    ///< the smallest singular value relative to the largest
  double features_smallest = 0.0;    ///< the same for [Z_1 .. Z_m]
  std::vector<CertifiedSlab> slabs;  ///< posterior slabs, sculpted with the found projections
  int slabs_proved = 0;              ///< how many of them [mha 22] proves
  int slabs_violated = 0;            ///< how many of those some head violates
  double posterior_gap = 0.0;        ///< singular gap of the posterior slabs
  /// The smallest singular value of these slabs off the span of the heads, over the largest.
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
  bool interrupted = false;  ///< stopped on request; what the finished phases found is there
  std::vector<PhaseReport> phases;
  int heads = 0;                   ///< 0 when refused before they were found
  Layer geometry;                  ///< the layer before the polish, canonical
  Layer layer;                     ///< the answer, canonical
  double geometry_residual = 0.0;  ///< the relative residual on held-out examples
  double residual = 0.0;
  double residual_all = 0.0;    ///< on all examples, repeats included
  std::size_t disagreeing = 0;  ///< examples whose label the layer does not give
  std::size_t first_disagreeing = 0;
  /// Evaluations of the layer, in examples; a gradient counts as two. Phases 1 to 4 make none.
  std::size_t evaluations = 0;
  std::vector<std::uint32_t> held_out;  ///< examples that no phase looked at
  Evidence evidence;
  Knowledge knowledge;
};

/// The six phases [mha 9-23]: crude sum of projections, sculpting, minimum-norm proxy and large
/// margins with resculpting, affine hull, net and tuples, least squares and polish. It never
/// guesses: the verdict says what was certified. The bits are the same for any number of threads. A
/// run that is asked to stop ends as refused, with the phases that it finished. Throws
/// InvalidArgument for shapes that do not fit.
[[nodiscard]] Learned learn(const Examples& examples, const LearnOptions& options,
                            const Context& context);

/// The certificate of what was learned from these examples.
[[nodiscard]] Certificate certificate_of(const Learned& learned, const Examples& examples);

}  // namespace onset::mha
