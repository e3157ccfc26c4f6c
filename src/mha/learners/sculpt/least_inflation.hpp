#pragma once

#include "mha/learners/sculpt/slabs.hpp"

namespace onset::mha {

/// The least inflation at which the body is not empty, and a point of it there [mha 11]: the linear
/// program min c with |normals theta - centre| <= c tolerance. It is negative when there are no
/// slabs, when none has a width, or when the program could not be solved.
struct Inflation {
  double least = -1.0;
  Vector point;
};

[[nodiscard]] Inflation least_inflation(const Body& body, const Context& context);

}  // namespace onset::mha
