#pragma once

#include <string_view>

namespace onset::ssi {

/// Where the student's weights are at first.
enum class Start {
  zero,        ///< no overlap with the teacher or the positional encoding: only noise starts a run
  random,      ///< uniform on the sphere: overlaps of order 1/sqrt(d)
  overlapped,  ///< m = 1/sqrt(d) exactly, e = 0
};
[[nodiscard]] std::string_view to_string(Start start);

}  // namespace onset::ssi
