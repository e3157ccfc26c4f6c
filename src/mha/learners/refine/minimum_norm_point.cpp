#include "mha/learners/refine/minimum_norm_point.hpp"

#include "numerics/linear_algebra/interior_point.hpp"

namespace onset::mha {

Vector minimum_norm_point(const Body& body, double inflation, const Context& context) {
  const numerics::LinearSolution nearest =
      numerics::nearest_to_zero(body_program(body, inflation), context);
  if (!nearest.optimal) return {};
  return Eigen::Map<const Vector>(nearest.x.data(), body.normals.cols());
}

}  // namespace onset::mha
