#include "smi/learners/overlaps.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/dense.hpp"

namespace onset::smi {
namespace {

std::vector<double> products(std::span<const double> a, std::span<const double> b,
                             std::size_t dimension) {
  const std::size_t rows = a.size() / dimension;
  const std::size_t columns = b.size() / dimension;
  std::vector<double> out(rows * columns);
  for (std::size_t p = 0; p < rows; ++p) {
    for (std::size_t q = 0; q < columns; ++q) {
      double sum = 0.0;
      for (std::size_t d = 0; d < dimension; ++d)
        sum += a[p * dimension + d] * b[q * dimension + d];
      out[p * columns + q] = sum / static_cast<double>(dimension);
    }
  }
  return out;
}

/// The sum of the singular values of a square matrix: its trace after the best rotation.
double nuclear_norm(const std::vector<double>& matrix, std::size_t size) {
  if (size == 1) return std::abs(matrix[0]);
  std::vector<double> square(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) {
        square[i * size + j] += matrix[i * size + k] * matrix[j * size + k];
      }
    }
  }
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, square, values);
  double sum = 0.0;
  for (const double x : values) sum += std::sqrt(std::max(x, 0.0));
  return sum;
}

}  // namespace

Overlaps overlaps(std::span<const double> student, std::span<const double> teacher,
                  std::size_t dimension) {
  return {student.size() / dimension, products(student, student, dimension),
          products(student, teacher, dimension), products(teacher, teacher, dimension)};
}

Overlaps nearest_image(Overlaps o, const std::vector<std::vector<double>>& symmetries) {
  const std::size_t size = o.directions;
  if (symmetries.empty() || o.cross.size() != size * size) return o;
  // The trace of R C is what the image shares with the teacher.
  const std::vector<double>* best = &symmetries.front();
  double most = 0.0;
  for (const std::vector<double>& r : symmetries) {
    double sum = 0.0;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = 0; q < size; ++q) sum += r[p * size + q] * o.cross[q * size + p];
    }
    if (sum > most) {
      most = sum;
      best = &r;
    }
  }
  const std::vector<double>& r = *best;
  Overlaps image = o;
  for (std::size_t p = 0; p < size; ++p) {
    for (std::size_t q = 0; q < size; ++q) {
      double cross = 0.0;
      double student = 0.0;
      for (std::size_t k = 0; k < size; ++k) {
        cross += r[p * size + k] * o.cross[k * size + q];
        for (std::size_t l = 0; l < size; ++l) {
          student += r[p * size + k] * o.student[k * size + l] * r[q * size + l];
        }
      }
      image.cross[p * size + q] = cross;
      image.student[p * size + q] = student;
    }
  }
  return image;
}

std::vector<Alignment> alignments(const FieldShape& shape, const Overlaps& o) {
  std::vector<Alignment> out;
  std::size_t first = 0;
  for (const int rank_of_block : shape.rank) {
    const auto rank = static_cast<std::size_t>(rank_of_block);
    std::vector<double> block(rank * rank);
    double student = 0.0;
    double teacher = 0.0;
    for (std::size_t p = 0; p < rank; ++p) {
      const std::size_t row = (first + p) * o.directions;
      student += o.student[row + first + p];
      if (o.teacher.empty()) continue;
      teacher += o.teacher[row + first + p];
      for (std::size_t q = 0; q < rank; ++q) block[p * rank + q] = o.cross[row + first + q];
    }
    const double sum = nuclear_norm(block, rank);
    const double scale = std::sqrt(student * teacher);
    const auto size = static_cast<double>(rank);
    out.push_back({student / size, sum / size, scale > 0.0 ? std::min(sum / scale, 1.0) : 0.0});
    first += rank;
  }
  return out;
}

}  // namespace onset::smi
