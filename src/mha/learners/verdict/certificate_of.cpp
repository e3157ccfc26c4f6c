#include "mha/learners/six_phases.hpp"

namespace onset::mha {

Certificate certificate_of(const Learned& learned, const Examples& examples) {
  const Evidence& evidence = learned.evidence;
  Certificate out;
  out.verdict = learned.verdict;
  out.reason = learned.reason;
  out.count = examples.count;
  out.tokens = examples.tokens;
  out.dim = examples.dim;
  out.digest = digest_of(examples);
  out.inputs = examples.inputs();
  if (learned.verdict == Verdict::refused) return out;  // a refusal claims nothing
  out.heads = learned.layer.heads;
  out.layer_digest = digest_of(learned.layer);
  out.geometry_digest = digest_of(learned.geometry);
  out.residual = learned.residual;
  out.geometry_residual = learned.geometry_residual;
  out.residual_all = learned.residual_all;
  out.disagreeing = learned.disagreeing;
  out.jacobian_rank = evidence.jacobian_rank;
  out.held_out = learned.held_out;
  out.counted = {learned.heads, evidence.gap, evidence.hull_w, evidence.hull_slabs};
  out.slabs = evidence.slabs;
  out.slabs_proved = evidence.slabs_proved;
  out.slabs_violated = evidence.slabs_violated;
  out.gap = evidence.posterior_gap;
  out.rejected = evidence.rejected;
  return out;
}

}  // namespace onset::mha
