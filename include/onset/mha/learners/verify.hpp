#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/mha/learners/six_phases.hpp"

namespace onset::mha {

/// What a learner claims about a layer and some examples. Every number here is checked by verify().
struct Certificate {
  Verdict verdict = Verdict::refused;
  std::string reason;
  std::size_t count = 0;  ///< of the examples, as their tokens, dim and digest_of()
  int tokens = 0;
  int dim = 0;
  std::uint64_t digest = 0;
  int heads = 0;
  std::uint64_t layer_digest = 0;
  std::uint64_t geometry_digest = 0;    ///< of the layer before the polish
  double residual = 0.0;                ///< relative, on the held-out examples
  double geometry_residual = 0.0;       ///< likewise, before the polish
  double residual_all = 0.0;            ///< on all examples
  int jacobian_rank = 0;                ///< of the Jacobian in theta, projected off w
  std::vector<std::uint32_t> held_out;  ///< examples that no phase looked at, increasing
  std::vector<CertifiedSlab> slabs;     ///< posterior slabs,
  int slabs_proved = 0;                 ///< how many of them are rigorous,
  int slabs_violated = 0;               ///< how many of those some head violates,
  double gap = 0.0;                     ///< and the singular gap behind the heads
  RejectedTuple rejected;
};

/// The certificate of what was learned from these examples.
[[nodiscard]] Certificate certificate_of(const Learned& learned, const Examples& examples);

/// 64 bits that change with any entry (FNV-1a).
[[nodiscard]] std::uint64_t digest_of(const Examples& examples);
[[nodiscard]] std::uint64_t digest_of(const Layer& layer);

/// One claim, checked.
struct Check {
  std::string name;
  double value = 0.0;
  double bound = 0.0;  ///< what the value is held against
  bool passed = false;
};

/// A model as its files give it.
struct Model {
  Layer layer;
  Layer geometry;  ///< before the polish
};

/// Checks a certificate against the examples with nothing but the forward map: that examples and
/// layers are the ones meant, that no held-out example was seen before, residuals, rank of the
/// Jacobian by finite differences, posterior slabs and their singular gap from its own least
/// squares, the proof of the rejected tuple. Examples of
/// another shape fail the first check, and nothing else is asked. Throws InvalidArgument naming the
/// field for a certificate that does not fit the layer or its own examples.
[[nodiscard]] std::vector<Check> verify(const Certificate& certificate, const Model& model,
                                        const Examples& examples, const Context& context);

}  // namespace onset::mha
