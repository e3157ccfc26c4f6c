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

/// A singular value decomposition, matrix = sum_k value_k left_k right_k^T with decreasing values;
/// rows of `left` and `right` are orthonormal.
struct SingularValues {
  std::vector<double> values, left, right;
};

/// Makes row k of the matrix a unit vector that is orthogonal to the rows before it: what is left
/// of it, or of the first unit vector that is not spanned by them.
void orthonormalise_row(std::size_t k, std::size_t size, double least, std::vector<double>& rows) {
  double* row = rows.data() + k * size;
  for (std::size_t next = 0;; ++next) {
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < k; ++j) {
        double product = 0.0;
        for (std::size_t i = 0; i < size; ++i) product += row[i] * rows[j * size + i];
        for (std::size_t i = 0; i < size; ++i) row[i] -= product * rows[j * size + i];
      }
    }
    double norm = 0.0;
    for (std::size_t i = 0; i < size; ++i) norm += row[i] * row[i];
    norm = std::sqrt(norm);
    if (norm > least || next == size) {
      for (std::size_t i = 0; i < size; ++i) row[i] /= norm;
      return;
    }
    for (std::size_t i = 0; i < size; ++i) row[i] = i == next ? 1.0 : 0.0;
    // Of `size` unit vectors one at least has this much outside of fewer directions.
    least = 0.5 / std::sqrt(static_cast<double>(size));
  }
}

SingularValues singular_values(const std::vector<double>& matrix, std::size_t size) {
  constexpr double lost_in_rounding = 1e-12;
  std::vector<double> square(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) {
        square[i * size + j] += matrix[k * size + i] * matrix[k * size + j];
      }
    }
  }
  std::vector<double> squares(size);
  numerics::symmetric_eigen(size, square, squares);
  SingularValues out{{}, std::vector<double>(size * size, 0.0), {}};
  const double largest = std::sqrt(std::max(squares.back(), 0.0));
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t from = size - 1 - k;  // eigenvalues increase
    out.values.push_back(std::sqrt(std::max(squares[from], 0.0)));
    for (std::size_t i = 0; i < size; ++i) {
      out.right.push_back(square[from * size + i]);
      for (std::size_t j = 0; j < size; ++j) {
        out.left[k * size + j] += matrix[j * size + i] * square[from * size + i];
      }
    }
    orthonormalise_row(k, size, lost_in_rounding * largest, out.left);
  }
  return out;
}

/// Upper triangle of sum_kl right_k (left_k . matrix left_l) right_l^T.
std::vector<double> rotated(const std::vector<double>& matrix, const std::vector<double>& left,
                            const std::vector<double>& right, std::size_t size) {
  std::vector<double> inner(size * size, 0.0), out;
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t l = 0; l < size; ++l) {
      for (std::size_t e = 0; e < size * size; ++e) {
        inner[k * size + l] += left[k * size + e / size] * matrix[e] * left[l * size + e % size];
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j) {
      double sum = 0.0;
      for (std::size_t e = 0; e < size * size; ++e) {
        sum += right[e / size * size + i] * inner[e] * right[e % size * size + j];
      }
      out.push_back(sum);
    }
  }
  return out;
}

/// Fills the matrices of a block: `student` and `cross` are those of its directions alone.
void set_matrices(const std::vector<double>& student, const std::vector<double>& cross,
                  std::size_t rank, Alignment& block) {
  if (rank == 1) {
    block.norm_matrix = {block.norm};
    if (!cross.empty()) block.overlap_matrix = {block.overlap};
    return;
  }
  std::vector<double> identity(rank * rank, 0.0);
  for (std::size_t p = 0; p < rank; ++p) identity[p * rank + p] = 1.0;
  const SingularValues svd = singular_values(cross.empty() ? student : cross, rank);
  block.norm_matrix = rotated(student, svd.left, cross.empty() ? identity : svd.right, rank);
  if (cross.empty()) return;
  std::vector<double> values(rank * rank, 0.0);
  for (std::size_t k = 0; k < rank; ++k) values[k * rank + k] = svd.values[k];
  block.overlap_matrix = rotated(values, identity, svd.right, rank);
}

/// The sum of the singular values of a square matrix: its trace after the best rotation.
double nuclear_norm(const std::vector<double>& matrix, std::size_t size) {
  if (size == 1) return std::abs(matrix[0]);
  double sum = 0.0;
  for (const double value : singular_values(matrix, size).values) sum += value;
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
    std::vector<double> block(rank * rank), inside(rank * rank);
    double student = 0.0;
    double teacher = 0.0;
    for (std::size_t p = 0; p < rank; ++p) {
      const std::size_t row = (first + p) * o.directions;
      student += o.student[row + first + p];
      for (std::size_t q = 0; q < rank; ++q) inside[p * rank + q] = o.student[row + first + q];
      if (o.teacher.empty()) continue;
      teacher += o.teacher[row + first + p];
      for (std::size_t q = 0; q < rank; ++q) block[p * rank + q] = o.cross[row + first + q];
    }
    const double sum = nuclear_norm(block, rank);
    const double scale = std::sqrt(student * teacher);
    const auto size = static_cast<double>(rank);
    out.push_back({student / size, sum / size, scale > 0.0 ? std::min(sum / scale, 1.0) : 0.0});
    set_matrices(inside, o.teacher.empty() ? std::vector<double>{} : block, rank, out.back());
    first += rank;
  }
  return out;
}

}  // namespace onset::smi
