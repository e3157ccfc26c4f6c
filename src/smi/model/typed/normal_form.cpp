#include "smi/model/typed/normal_form.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

/// Rows of fields that are known exactly are zero up to this.
constexpr double rounding_of_rows = 1e-12;
/// An output whose gradient leaves less than this part of itself beside those of others follows
/// from them; variances down to 1e-12 leave parts of 1e-6.
constexpr double dependent = 1e-9;

}  // namespace

bool NormalForm::is_flat(const double* gradient) const {
  double largest = 0.0;
  for (Eigen::Index f = 0; f < matrix.rows(); ++f) {
    largest = std::max(largest, std::abs(gradient[f]));
  }
  for (Eigen::Index k = 0; k < matrix.cols(); ++k) {
    double along = 0.0;
    for (Eigen::Index f = 0; f < matrix.rows(); ++f) along += matrix(f, k) * gradient[f];
    if (!(std::abs(along) <= rounding_of_rows * largest)) return false;
  }
  return true;
}

unsigned NormalForm::independent_outputs(const double* gradients, std::size_t outputs) const {
  const auto rows = matrix.rows();
  const auto columns = matrix.cols();
  unsigned found = 0;
  // Unit vectors along which the outputs found so far change.
  FieldMatrix basis = FieldMatrix::Zero(columns, static_cast<Eigen::Index>(max_outputs));
  Eigen::Index size = 0;
  for (std::size_t k = 0; k < outputs; ++k) {
    const double* own = gradients + k * static_cast<std::size_t>(rows);
    if (is_flat(own)) continue;
    FieldVector along = FieldVector::Zero(columns);
    for (Eigen::Index f = 0; f < rows; ++f) along += own[f] * matrix.row(f).transpose();
    const double length = along.norm();
    // Twice, since once leaves rounding of the part that is taken away.
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index b = 0; b < size; ++b) along -= basis.col(b) * basis.col(b).dot(along);
    }
    if (size > 0 && !(along.norm() > dependent * length)) continue;
    found |= 1U << k;
    basis.col(size++) = along.normalized();
  }
  return found;
}

bool NormalForm::may_be_flat(const TypedLink& link) const {
  // With fewer normals than fields some combination of fields is known exactly.
  if (link.has_atoms() || matrix.cols() < matrix.rows()) return true;
  for (Eigen::Index f = 0; f < matrix.rows(); ++f) {
    if (matrix.row(f).norm() <= rounding_of_rows) return true;
  }
  return false;
}

double normal_density(double squared_norm, std::size_t dimensions) {
  constexpr double one = 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2;
  double peak = 1.0;
  for (std::size_t k = 0; k < dimensions; ++k) peak *= one;
  return peak * std::exp(-0.5 * squared_norm);
}

LevelMoments::LevelMoments(std::size_t normals)
    : mean(FieldVector::Zero(static_cast<Eigen::Index>(normals))),
      second(FieldMatrix::Zero(static_cast<Eigen::Index>(normals),
                               static_cast<Eigen::Index>(normals))) {}

void LevelMoments::add(double weight, const FieldVector& xi) {
  z += weight;
  mean += weight * xi;
  second += weight * xi * xi.transpose();
  ++roots;
}

LevelMoments& LevelMoments::operator+=(const LevelMoments& other) {
  z += other.z;
  mean += other.mean;
  second += other.second;
  roots += other.roots;
  return *this;
}

LevelMoments& LevelMoments::operator-=(const LevelMoments& other) {
  z -= other.z;
  mean -= other.mean;
  second -= other.second;
  roots -= other.roots;
  return *this;
}

LevelMoments& LevelMoments::operator*=(double factor) {
  z *= factor;
  mean *= factor;
  second *= factor;
  return *this;
}

}  // namespace onset::smi
