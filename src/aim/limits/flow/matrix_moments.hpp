#pragma once

#include <span>

#include "aim/limits/flow/dynamics.hpp"

namespace onset::aim {

/// What a student's matrix M (d x d, in the teacher's eigenbasis) is beside a teacher with these
/// eigenvalues: symmetric and antisymmetric parts, overlap, trace and error.
[[nodiscard]] StudentMoments matrix_moments(std::span<const double> teacher,
                                            std::span<const double> matrix);

}  // namespace onset::aim
