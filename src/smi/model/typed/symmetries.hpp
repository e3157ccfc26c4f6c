#pragma once

#include <Eigen/Core>
#include <vector>

#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// What becomes of the label under a symmetry of the fields.
enum class LabelUnder {
  same,     ///< it stays as it is
  renamed,  ///< outputs trade places, change sign and are shifted: another name for the same label
};

/// The signed permutations of the directions that leave the law of the link alone, as matrices:
/// those of a group, the identity first. Only the identity with more than four directions.
[[nodiscard]] std::vector<Eigen::MatrixXd> signed_symmetries(const TypedLink& link,
                                                             LabelUnder under);

/// The signed permutations that keep the label, as maps of the link's fields; noise stays as it is.
/// A posterior has all of them.
[[nodiscard]] std::vector<Eigen::MatrixXd> field_symmetries(const TypedLink& link);

}  // namespace onset::smi
