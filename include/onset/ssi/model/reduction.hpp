#pragma once

#include <string_view>

namespace onset::ssi {

/// Which part of the attention matrix is the output.
enum class Reduction {
  automatic,   ///< the trace for a target of one output, else the matrix
  none,        ///< the whole matrix, L^2 outputs, row by row
  trace,       ///< Tr
  trace_sqrt,  ///< Tr / sqrt(L)
  projection,  ///< left^T F right, unit vectors
};
[[nodiscard]] std::string_view to_string(Reduction reduction);

}  // namespace onset::ssi
