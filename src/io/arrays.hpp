#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onset/core/artifact.hpp"

/// Arrays of a data folder. Whatever is wrong with a file is an IoError that names it, what it has
/// and what is needed.
namespace onset::io {

/// One axis of a wanted shape.
struct Extent {
  std::string name;      ///< say "samples"
  std::size_t size = 0;  ///< 0 means any size from 1 on
};
using Extents = std::vector<Extent>;

template <class T>
struct ArrayOf {
  std::vector<std::size_t> shape;
  std::vector<T> values;  ///< in row-major order
};

/// The shape that the file's header says, which must be as wanted; the numbers are not read.
[[nodiscard]] std::vector<std::size_t> read_shape(const std::filesystem::path& path,
                                                  const Extents& wanted);

/// Finite numbers of the wanted shape; whole numbers are read as reals.
[[nodiscard]] ArrayOf<double> read_reals(const std::filesystem::path& path, const Extents& wanted);

/// Entries 1 and -1 of the wanted shape; any type that has these two values will do. `allowed` is
/// what a message about others says.
[[nodiscard]] ArrayOf<std::int8_t> read_signs(const std::filesystem::path& path,
                                              const Extents& wanted,
                                              const char* allowed = "1 and -1");

/// The shape as text, say "3 x 2 x 100".
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);

/// Where an entry lies, as NumPy writes it: "[0, 1, 5]".
[[nodiscard]] std::string entry_text(std::size_t index, const std::vector<std::size_t>& shape);

}  // namespace onset::io
