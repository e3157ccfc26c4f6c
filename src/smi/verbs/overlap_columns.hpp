#pragma once

#include <vector>

#include "onset/core/table.hpp"
#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Q11, Q22, .. for models whose blocks all have rank one; else Qb_11, Qb_12, .. for every block.
[[nodiscard]] std::vector<Column> overlap_columns(const FieldShape& shape);

/// The entries of these columns from one overlap per block: Q = q I within a block.
[[nodiscard]] std::vector<Estimate> overlap_entries(const FieldShape& shape,
                                                    const std::vector<Estimate>& overlap);

}  // namespace onset::smi
