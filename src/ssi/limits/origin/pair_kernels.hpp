#pragma once

#include <cstddef>
#include <vector>

namespace onset::ssi {

/// What expectations over independent fields (z*, z) are weighted with to give derivatives at
/// e = m = 0: the logarithmic derivatives of their joint density. [ssi 14, 21]
struct PairKernels {
  double along_m = 0.0;         ///< first in m
  double second_along_m = 0.0;  ///< second in m
  double second_along_e = 0.0;  ///< second in e
};

/// The components of the encodings along the teacher, and along P.
struct EncodingShifts {
  std::vector<double> teacher;
  std::vector<double> own;
};

/// The kernels at point p of `count`; fields are teacher[i * count + p] and z[i * count + p]. An
/// encoding that sees the teacher moves z by m times its component. [ssi 41]
inline PairKernels pair_kernels(const EncodingShifts& shifts, std::size_t count, std::size_t p,
                                const double* teacher, const double* z) {
  double dot = 0.0;
  double squares = 0.0;
  double shift = 0.0;
  double length = 0.0;
  for (std::size_t i = 0; i < shifts.own.size(); ++i) {
    const double a = teacher[i * count + p] + shifts.teacher[i];
    const double b = z[i * count + p];
    dot += a * b;
    squares += a * a + b * b;
    shift += shifts.own[i] * b;
    length += shifts.own[i] * shifts.own[i];
  }
  return {dot, dot * dot - squares + static_cast<double>(shifts.own.size()),
          shift * shift - length};
}

}  // namespace onset::ssi
