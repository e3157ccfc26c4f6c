#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/mha/learners/six_phases.hpp"

namespace onset::mha {

/// What a learner claims about a layer and some examples.
struct Certificate {
  Verdict verdict = Verdict::refused;
  std::string reason;
  std::uint64_t digest = 0;  ///< of the examples, from digest_of()
  int heads = 0;
  double residual = 0.0;                ///< relative, on the held-out examples
  std::vector<std::uint32_t> held_out;  ///< examples that no phase looked at
  std::vector<CertifiedRow> rows;       ///< rows whose posterior slabs every head obeys
  RejectedTuple rejected;
};

/// The certificate of what was learned from these examples.
[[nodiscard]] Certificate certificate_of(const Learned& learned, const Examples& examples);

/// 64 bits that change with any entry of the examples (FNV-1a).
[[nodiscard]] std::uint64_t digest_of(const Examples& examples);

/// One claim, checked.
struct Check {
  std::string name;
  double value = 0.0;
  double bound = 0.0;  ///< what the value is held against
  bool passed = false;
};

/// Checks a certificate against the examples with nothing but the forward map: residuals on
/// held-out and on all examples, rank of the Jacobian by finite differences, posterior slabs from
/// its own least squares, the proof of the rejected tuple. Throws InvalidArgument for a layer that
/// does not fit the examples.
[[nodiscard]] std::vector<Check> verify(const Certificate& certificate, const Layer& layer,
                                        const Examples& examples, const Context& context);

}  // namespace onset::mha
