#pragma once

#include "numerics/linear_algebra/linear_program.hpp"

namespace onset::testing {

/// min -3x - 5y with x <= 4, 2y <= 12, 3x + 2y <= 18: the optimum is (2, 6).
inline numerics::LinearProgram textbook() {
  using numerics::unbounded;
  return {{-3, -5},
          {0, 0},
          {unbounded, unbounded},
          {1, 0, 0, 2, 3, 2},
          {-unbounded, -unbounded, -unbounded},
          {4, 12, 18}};
}

}  // namespace onset::testing
