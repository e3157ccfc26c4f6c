#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "onset/core/artifact.hpp"
#include "onset/core/table.hpp"

namespace onset::io {

/// The table as an NPY file (bytes) of one structured array: np.load gives named fields, pandas a
/// data frame. Whole numbers are int64, Booleans bool, text fixed-width Unicode and all other
/// numbers float64; an estimate `x` is followed by `x_err`. A missing value is NaN among numbers
/// and "" in text; a column of whole numbers or Booleans in which one is missing is float64.
[[nodiscard]] std::string to_npy(const Table& table);

/// The same for rows that are seen one after the other, twice: see() finds the types and the widths
/// of text, then header() settles them, and bytes() writes.
class NpyRows {
 public:
  explicit NpyRows(const std::vector<Column>& columns);
  void see(const std::vector<Cell>& row);
  [[nodiscard]] std::string header();
  [[nodiscard]] std::string bytes(const std::vector<Cell>& row) const;

 private:
  struct Seen {
    bool truths = true;  ///< nothing but Booleans
    bool wholes = true;  ///< nothing but whole numbers
    bool text = false;   ///< some text
    std::size_t width = 1;
  };
  struct Fields;
  std::vector<Column> columns_;
  std::vector<Seen> seen_;
  std::size_t rows_ = 0;
  std::shared_ptr<const Fields> fields_;
};

/// The array as an NPY file (bytes), in C order.
[[nodiscard]] std::string to_npy(const Array& array);

/// Reads an NPY file of float64, float32, int8 or int64 (versions 1 to 3, C or Fortran order;
/// float32 becomes float64). Throws IoError naming the path, what it holds and what is allowed:
/// all of these types, or `allowed` where the caller wants fewer.
[[nodiscard]] Array read_npy(const std::filesystem::path& path, std::string allowed = {});

/// The shape that the file's header states, without reading the numbers; the file must have as many
/// as that. Throws IoError likewise.
[[nodiscard]] std::vector<std::size_t> read_npy_shape(const std::filesystem::path& path);

}  // namespace onset::io
