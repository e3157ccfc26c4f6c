#pragma once

#include <vector>

#include "smi/model/typed/normal_form.hpp"

namespace onset::smi {

/// The symmetries of a link that keep its label, as maps of the normals where nothing is known.
class LabelSymmetries {
 public:
  /// `matrix`: fields from normals; it is orthogonal.
  LabelSymmetries(const TypedLink& link, const FieldMatrix& matrix);

  /// Moments of a label, as if all images of its points had been met as well.
  [[nodiscard]] LevelMoments mean(const LevelMoments& found) const;

 private:
  std::vector<FieldMatrix> maps_;
};

}  // namespace onset::smi
