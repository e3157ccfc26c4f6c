#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onset::io::detail {

/// The start of an NPY file: magic, version 3 (UTF-8 names), and the description padded to a
/// multiple of 64 bytes. `type` and `shape` are Python literals.
[[nodiscard]] std::string npy_header(const std::string& type, const std::string& shape);

/// What the description in the header of an NPY file says.
struct NpyDescription {
  std::string type;  ///< the type of plain numbers, say "<f8"; empty when the file holds records
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// Reads the description, a Python dictionary; returns nothing when it is not that of an NPY file.
/// Sizes that no memory could hold become the largest number.
[[nodiscard]] std::optional<NpyDescription> read_npy_description(std::string_view text);

}  // namespace onset::io::detail
