#pragma once

#include <string>

#include "onset/core/table.hpp"

namespace onset::io {

/// The table as an NPY file (bytes) of one structured array: np.load gives named fields, pandas a
/// data frame. Whole numbers are int64, truths bool, text fixed-width unicode, all other numbers
/// float64, an estimate `x` is followed by `x_err`. No value is NaN among numbers and "" in text; a
/// column of whole numbers or truths with such a gap is float64.
[[nodiscard]] std::string to_npy(const Table& table);

}  // namespace onset::io
