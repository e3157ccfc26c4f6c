#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/printable.hpp"
#include "io/input_file.hpp"
#include "io/npy_header.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {

using detail::NpyDescription;

namespace {

constexpr const char* allowed_types = "float64, float32, int8 or int64, little-endian";

std::string_view type_name(const std::vector<double>&) {
  return "'<f8'";
}
std::string_view type_name(const std::vector<std::int8_t>&) {
  return "'|i1'";
}
std::string_view type_name(const std::vector<std::int64_t>&) {
  return "'<i8'";
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0])
                           : fmt::format("({})", fmt::join(shape, ", "));
}

/// An open NPY file; every error names its path.
class NpyReader {
 public:
  NpyReader(const std::filesystem::path& path, std::string allowed)
      : file_(path), allowed_(std::move(allowed)) {}

  Array read() {
    const NpyDescription description = read_description();
    Array array;
    array.shape = description.shape;
    if (description.type == "<f8") {
      array.values = read_values<double>(description);
    } else if (description.type == "<f4") {
      const std::vector<float> narrow = read_values<float>(description);
      array.values = std::vector<double>(narrow.begin(), narrow.end());
    } else if (description.type == "|i1") {
      array.values = read_values<std::int8_t>(description);
    } else if (description.type == "<i8") {
      array.values = read_values<std::int64_t>(description);
    } else if (description.type.empty()) {
      file_.fail(fmt::format("holds records, not plain numbers; allowed: {}", allowed_));
    } else {
      file_.fail(fmt::format("holds numbers of type {}; allowed: {}", in_quotes(description.type),
                             allowed_));
    }
    return array;
  }

  /// The shape, which must be that of the file's bytes; numbers of types that we do not read are
  /// left to whoever reads them.
  std::vector<std::size_t> read_shape() {
    const NpyDescription description = read_description();
    if (description.type == "<f8") check_size<double>(description);
    if (description.type == "<f4") check_size<float>(description);
    if (description.type == "|i1") check_size<std::int8_t>(description);
    if (description.type == "<i8") check_size<std::int64_t>(description);
    return description.shape;
  }

 private:
  NpyDescription read_description() {
    char magic[8] = {};
    const std::size_t count = read_bytes(magic, sizeof magic);
    if (count != sizeof magic || std::memcmp(magic, "\x93NUMPY", 6) != 0) {
      file_.fail("is not an NPY file");
    }
    const int version = static_cast<unsigned char>(magic[6]);
    if (version < 1 || version > 3) file_.fail(fmt::format("is of NPY version {}", version));
    unsigned char length_bytes[4] = {};
    require_bytes(reinterpret_cast<char*>(length_bytes), version == 1 ? 2 : 4);
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | length_bytes[i];
    constexpr std::size_t longest = std::size_t{1} << 20;
    if (length > longest) file_.fail("has a header of more than a megabyte");
    std::string text(length, '\0');
    require_bytes(text.data(), length);
    const std::optional<NpyDescription> description = detail::read_npy_description(text);
    if (!description) file_.fail("has a header that cannot be read");
    return *description;
  }

  std::size_t read_bytes(char* out, std::size_t count) {
    const std::size_t got = file_.read(out, count);
    position_ += got;
    return got;
  }

  void require_bytes(char* out, std::size_t count) {
    if (read_bytes(out, count) != count) file_.fail("is cut short");
  }

  /// The number of elements that the shape implies, provided that the file has exactly that many of
  /// that size.
  [[nodiscard]] std::size_t checked_count(const std::vector<std::size_t>& shape,
                                          std::size_t element) const {
    const std::size_t bytes = std::max(file_.size(), position_) - position_;
    std::size_t count = 1;
    for (const std::size_t n : shape) {
      if (n != 0 && count > std::numeric_limits<std::size_t>::max() / element / n) {
        file_.fail("has a shape that no memory holds");
      }
      count *= n;
    }
    if (count * element > bytes) file_.fail("is cut short");
    if (count * element < bytes) file_.fail("has more bytes than its shape says");
    return count;
  }

  template <class T>
  void check_size(const NpyDescription& description) const {
    (void)checked_count(description.shape, sizeof(T));
  }

  template <class T>
  std::vector<T> read_values(const NpyDescription& description) {
    std::vector<T> values(checked_count(description.shape, sizeof(T)));
    require_bytes(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
    return description.fortran_order ? in_row_order(values, description.shape) : values;
  }

  template <class T>
  static std::vector<T> in_row_order(const std::vector<T>& values,
                                     const std::vector<std::size_t>& shape) {
    std::vector<T> out(values.size());
    std::vector<std::size_t> index(shape.size(), 0);
    for (T& value : out) {
      std::size_t at = 0;
      for (std::size_t k = shape.size(); k-- > 0;) at = at * shape[k] + index[k];
      value = values[at];
      for (std::size_t k = shape.size(); k-- > 0 && ++index[k] == shape[k];) index[k] = 0;
    }
    return out;
  }

  InputFile file_;
  std::size_t position_ = 0;
  std::string allowed_;
};

}  // namespace

std::string to_npy(const Array& array) {
  return std::visit(
      [&](const auto& values) {
        std::string out =
            detail::npy_header(std::string(type_name(values)), shape_text(array.shape));
        const std::size_t start = out.size();
        const std::size_t bytes = values.size() * sizeof(values[0]);
        out.resize(start + bytes);
        if (bytes != 0) std::memcpy(out.data() + start, values.data(), bytes);
        return out;
      },
      array.values);
}

Array read_npy(const std::filesystem::path& path, std::string allowed) {
  return NpyReader(path, allowed.empty() ? allowed_types : std::move(allowed)).read();
}

std::vector<std::size_t> read_npy_shape(const std::filesystem::path& path) {
  return NpyReader(path, allowed_types).read_shape();
}

}  // namespace onset::io
