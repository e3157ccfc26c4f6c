#include "aim/limits/flow/matrix_moments.hpp"

namespace onset::aim {

StudentMoments matrix_moments(std::span<const double> teacher, std::span<const double> matrix) {
  const std::size_t size = teacher.size();
  StudentMoments out;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double forth = matrix[i * size + j];
      const double back = matrix[j * size + i];
      const double even = 0.5 * (forth + back);
      const double odd = 0.5 * (forth - back);
      const double missing = even - (i == j ? teacher[i] : 0.0);
      out.scores.p += even * even;
      out.scores.anti += odd * odd;
      out.scores.error += missing * missing;
    }
    out.scores.q += matrix[i * size + i] * teacher[i];
    out.trace += matrix[i * size + i];
  }
  for (double* x :
       {&out.scores.p, &out.scores.anti, &out.scores.error, &out.scores.q, &out.trace}) {
    *x /= static_cast<double>(size);
  }
  return out;
}

}  // namespace onset::aim
