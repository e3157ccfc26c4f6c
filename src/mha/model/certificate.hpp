#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"

// What a learner claims and a judge checks: the vocabulary that both share, and nothing else.

namespace onset::mha {

enum class Verdict {
  certified,  ///< residual zero on held-out and all examples, locally unique, gap, slabs:
              ///< everything checks
  recovered,  ///< an answer that misses a certificate; the reason says which
  refused,    ///< no honest answer; the reason says why
};

[[nodiscard]] std::string to_string(Verdict verdict);

/// A query of an example.
struct CertifiedRow {
  std::uint32_t example = 0;
  int query = 0;
};

/// A slab of a row whose attention all heads share [mha 22]: a key against the most attended one.
struct CertifiedSlab {
  CertifiedRow row;
  int key = 0;
  int reference = 0;
};

/// A tuple that the linear program rejects, with the proof.
struct RejectedTuple {
  std::vector<double> thetas;  ///< heads x dim x dim
  int output = 0;
  double bound = 0.0;  ///< no w explains this output within less
  std::vector<CertifiedRow> rows;
  std::vector<double> multipliers;  ///< one per row
};

/// What the number of heads was read from: slabs sculpted with a sum of projections, and their
/// singular gap behind that many heads [mha 15].
struct CountedHeads {
  int heads = 0;
  double gap = 0.0;
  std::vector<double> w;  ///< dim x dim
  std::vector<CertifiedSlab> slabs;
};

/// What a learner claims about a layer and some examples. Every number here is checked by verify().
struct Certificate {
  Verdict verdict = Verdict::refused;
  std::string reason;
  std::size_t count = 0;  ///< of the examples, as are tokens, dim, digest and inputs
  int tokens = 0;
  int dim = 0;
  std::uint64_t digest = 0;
  Inputs inputs = Inputs::boolean;
  int heads = 0;
  std::uint64_t layer_digest = 0;
  std::uint64_t geometry_digest = 0;    ///< the digest of the layer before the polish
  double residual = 0.0;                ///< the relative residual on the held-out examples
  double geometry_residual = 0.0;       ///< likewise, before the polish
  double residual_all = 0.0;            ///< on all examples
  std::size_t disagreeing = 0;          ///< examples whose label the layer does not give
  int jacobian_rank = 0;                ///< the rank of the Jacobian in theta, projected off w
  std::vector<std::uint32_t> held_out;  ///< examples that no phase looked at, increasing
  CountedHeads counted;                 ///< before any layer was fitted
  std::vector<CertifiedSlab> slabs;     ///< posterior slabs,
  int slabs_proved = 0;                 ///< how many of them are rigorous,
  int slabs_violated = 0;               ///< how many of those some head violates,
  double gap = 0.0;                     ///< and the singular gap behind the heads
  RejectedTuple rejected;
};

/// 64 bits that change with any entry (FNV-1a).
[[nodiscard]] std::uint64_t digest_of(const Examples& examples);
[[nodiscard]] std::uint64_t digest_of(const Layer& layer);

}  // namespace onset::mha
