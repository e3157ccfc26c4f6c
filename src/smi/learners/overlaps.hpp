#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// All that test errors and cosines depend on: scalar products of the rows of a student's and a
/// teacher's weights, over the dimension. Matrices are square, directions x directions, row by row.
struct Overlaps {
  std::size_t directions = 0;
  std::vector<double> student;  ///< What What^T / D
  std::vector<double> cross;    ///< What W*^T / D: a row per student direction
  std::vector<double> teacher;  ///< W* W*^T / D
};

/// Both arguments have one row of weights per direction, `dimension` numbers each.
[[nodiscard]] Overlaps overlaps(std::span<const double> student, std::span<const double> teacher,
                                std::size_t dimension);

/// The overlaps of the image of the student under one of the symmetries (SequenceModel::symmetries)
/// that comes nearest to the teacher.
[[nodiscard]] Overlaps nearest_image(Overlaps overlaps,
                                     const std::vector<std::vector<double>>& symmetries);

/// How well one block is aligned, whatever symmetry the label leaves: a sign at rank one, a
/// rotation of the directions beyond [smi 41].
struct Alignment {
  double norm = 0.0;     ///< |What_b|^2 / (D rank)
  double overlap = 0.0;  ///< |What_b . W*_b| / (D rank) with the best rotation, never negative
  double cosine = 0.0;   ///< overlap over the norms of both
  /// What_b What_b^T / D and What_b W*_b^T / D with the best rotation, entries (1,1), (1,2), ..,
  /// (2,2), .. [smi 95]. Their mean diagonals are norm and overlap. Where there is no teacher the
  /// rotation makes the first one diagonal, and the second is empty.
  std::vector<double> norm_matrix = {}, overlap_matrix = {};
};

[[nodiscard]] std::vector<Alignment> alignments(const FieldShape& shape, const Overlaps& overlaps);

}  // namespace onset::smi
