#pragma once

#include <cstdint>
#include <vector>

#include "mha/learners/sculpt/row_fit.hpp"
#include "numerics/linear_algebra/linear_program.hpp"

namespace onset::mha {

/// One constraint that every head obeys: |x_a^T theta (x_c - x_e) - centre| <= tolerance, up to one
/// common inflation [mha 10].
struct Slab {
  std::uint32_t example = 0;  ///< position in the sample
  std::uint16_t query = 0;
  std::uint16_t key = 0;
  std::uint16_t reference = 0;
  double centre = 0.0;
  double tolerance = 0.0;
};

/// Phase 2: the `count` slabs of smallest tolerance relative to their normal's norm, in increasing
/// order of it.
[[nodiscard]] std::vector<Slab> sculpt(const Subset& sample, const Matrix& w, std::size_t count,
                                       const Context& context);

/// Slabs as a convex body: |normals theta - centre| <= inflation tolerance, theta as a vector.
struct Body {
  Matrix normals;  ///< one slab per row, dim^2 columns
  Vector centre;
  Vector tolerance;
};

/// The body of the first `count` slabs.
[[nodiscard]] Body make_body(const Subset& sample, const std::vector<Slab>& slabs,
                             std::size_t count);

/// The body inflated by `inflation` as the bounds of a linear program in theta, without cost.
[[nodiscard]] numerics::LinearProgram body_program(const Body& body, double inflation);

/// x_a^T theta (x_c - x_e).
[[nodiscard]] double slab_value(const Subset& sample, const Slab& slab, const double* theta);

}  // namespace onset::mha
