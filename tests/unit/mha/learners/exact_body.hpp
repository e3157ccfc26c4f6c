#pragma once

#include <algorithm>

#include "mha/learners/sculpt/slabs.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha::testing {

/// Slabs with centres that a known hull gives exactly, and tolerances of our choice.
inline Body exact_body(const Drawn& drawn, double tolerance) {
  // Rows whose centre is the same for both heads: a slab normal orthogonal to their difference.
  const Vector first = theta_vector(drawn.truth, 0);
  const Vector apart = theta_vector(drawn.truth, 1) - first;
  std::vector<Slab> slabs;
  for (std::uint32_t n = 0; slabs.size() < 200; ++n) {
    const Matrix tokens = tokens_of(drawn.sample, n, n + 1);
    const double* x = tokens.data();
    const bool same_tokens = std::equal(x, x + drawn.sample.dim(), x + drawn.sample.dim());
    if (!same_tokens) slabs.push_back({n, 0, 1, 0, 0.0, tolerance});
  }
  Body body = make_body(drawn.sample, slabs, slabs.size());
  body.normals -= (body.normals * apart) * apart.transpose() / apart.squaredNorm();
  body.centre = body.normals * first;
  return body;
}

}  // namespace onset::mha::testing
