#pragma once

#include <vector>

#include "onset/core/table.hpp"
#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Q11, Q22, .. for models whose blocks all have rank one; else Qb_11, Qb_12, .. for every block.
[[nodiscard]] std::vector<Column> overlap_columns(const FieldShape& shape);

/// The entries of these columns from one number per block: Q = q I within a block.
template <class T>
[[nodiscard]] std::vector<T> overlap_entries(const FieldShape& shape, const std::vector<T>& overlap,
                                             const T& zero = {}) {
  std::vector<T> entries;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for (int p = 1; p <= shape.rank[b]; ++p) {
      entries.push_back(overlap[b]);
      entries.insert(entries.end(), static_cast<std::size_t>(shape.rank[b] - p), zero);
    }
  }
  return entries;
}

}  // namespace onset::smi
