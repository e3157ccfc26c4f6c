#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// Vectors and matrices over the fields of one sample: few enough to live on the stack.
using FieldVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_typed_fields, 1>;
using FieldMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, max_typed_fields, max_typed_fields>;

/// A typed link as a function of standard normals: f(xi) = g(origin + matrix xi).
struct NormalForm {
  FieldVector origin;  ///< one per field of the link
  FieldMatrix matrix;  ///< fields x normals

  [[nodiscard]] std::size_t normals() const { return static_cast<std::size_t>(matrix.cols()); }
  /// Whether f does not change with the normals where the link has this gradient: on a flat piece,
  /// or where it depends on fields that are known exactly alone. The label is an atom then.
  [[nodiscard]] bool is_flat(const double* gradient) const;
  /// The outputs whose values together have a density where the link has these gradients, one after
  /// the other: a largest set of outputs that change independently with the normals, as bits. The
  /// others follow from them; 0: the label is an atom.
  [[nodiscard]] unsigned independent_outputs(const double* gradients, std::size_t outputs) const;
  /// Whether such points may be met.
  [[nodiscard]] bool may_be_flat(const TypedLink& link) const;
};

/// Unnormalised moments of xi given a label: integrals over its level set, or over the region of an
/// atom.
struct LevelMoments {
  explicit LevelMoments(std::size_t normals);

  double z = 0.0;
  FieldVector mean;
  FieldMatrix second;
  std::size_t roots = 0;  ///< points or intervals that were found

  void add(double weight, const FieldVector& xi);
  LevelMoments& operator+=(const LevelMoments& other);
  LevelMoments& operator-=(const LevelMoments& other);
  LevelMoments& operator*=(double factor);
};

[[nodiscard]] inline double mass_of(const LevelMoments& moments) {
  return moments.z;
}

/// The density of standard normals at a squared distance from 0.
[[nodiscard]] double normal_density(double squared_norm, std::size_t dimensions);

}  // namespace onset::smi
