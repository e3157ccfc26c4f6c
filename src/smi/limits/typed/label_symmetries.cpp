#include "smi/limits/typed/label_symmetries.hpp"

#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {

LabelSymmetries::LabelSymmetries(const TypedLink& link, const FieldMatrix& matrix) {
  // One normal has one line, which is its own image.
  if (matrix.cols() == 1) return;
  for (const Eigen::MatrixXd& map : field_symmetries(link)) {
    maps_.emplace_back(matrix.transpose() * map * matrix);
  }
}

LevelMoments LabelSymmetries::mean(const LevelMoments& found) const {
  if (maps_.size() < 2) return found;
  LevelMoments mean = found;
  mean.mean.setZero();
  mean.second.setZero();
  for (const FieldMatrix& map : maps_) {
    mean.mean += map * found.mean;
    mean.second += map * found.second * map.transpose();
  }
  mean.mean /= static_cast<double>(maps_.size());
  mean.second /= static_cast<double>(maps_.size());
  return mean;
}

}  // namespace onset::smi
