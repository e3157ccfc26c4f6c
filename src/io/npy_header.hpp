#pragma once

#include <string>

namespace onset::io::detail {

/// The start of an NPY file: magic, version 3 (UTF-8 names), and the description padded to a
/// multiple of 64 bytes. `type` and `shape` are Python literals.
[[nodiscard]] std::string npy_header(const std::string& type, const std::string& shape);

}  // namespace onset::io::detail
