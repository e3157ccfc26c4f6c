#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "onset/core/table.hpp"

namespace onset {

/// Numbers in row-major order with their shape: what an NPY file holds.
struct Array {
  std::vector<std::size_t> shape;
  std::variant<std::vector<double>, std::vector<std::int8_t>, std::vector<std::int64_t>> values;

  /// Number of elements; the product of the shape.
  [[nodiscard]] std::size_t size() const;
};

/// A file that a run leaves in its --out folder besides the table: data, a trajectory, a
/// certificate. An Array becomes NPY, a Table CSV, a string is written as it is.
struct Artifact {
  std::string path;  ///< relative to the folder, with forward slashes and its extension
  std::variant<Array, Table, std::string> content;
};

}  // namespace onset
