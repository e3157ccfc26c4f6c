#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <regex>

#include "io/npy_header.hpp"
#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {
namespace detail {

std::string npy_header(const std::string& type, const std::string& shape) {
  constexpr std::size_t alignment = 64;
  std::string text =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}", type, shape);
  std::string out("\x93NUMPY\x03\x00", 8);
  const std::size_t before = out.size() + sizeof(std::uint32_t);
  while ((before + text.size() + 1) % alignment != 0) text += ' ';
  text += '\n';
  const auto length = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  return out + text;
}

}  // namespace detail

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

/// What the header of an NPY file says.
struct Description {
  std::string type;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// An open NPY file; every complaint names its path.
class NpyReader {
 public:
  NpyReader(std::filesystem::path path, std::string allowed)
      : path_(std::move(path)), allowed_(std::move(allowed)) {
    std::error_code error;
    if (std::filesystem::is_directory(path_, error)) fail("is a folder; allowed: an NPY file");
    file_.open(path_, std::ios::binary);
    if (!file_) fail("cannot be opened");
  }

  Array read() {
    const Description description = read_description();
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
    } else {
      fail(fmt::format("holds numbers of type '{}'; allowed: {}", description.type, allowed_));
    }
    return array;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw IoError(path_.string(), what); }

  void read_bytes(char* out, std::size_t count) {
    file_.read(out, static_cast<std::streamsize>(count));
    if (static_cast<std::size_t>(file_.gcount()) != count) fail("is cut short");
  }

  Description read_description() {
    char magic[8] = {};
    file_.read(magic, sizeof magic);
    if (file_.gcount() != sizeof magic || std::memcmp(magic, "\x93NUMPY", 6) != 0) {
      fail("is not an NPY file");
    }
    const int version = static_cast<unsigned char>(magic[6]);
    if (version < 1 || version > 3) fail(fmt::format("is of NPY version {}", version));
    unsigned char length_bytes[4] = {};
    read_bytes(reinterpret_cast<char*>(length_bytes), version == 1 ? 2 : 4);
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i) length = length << 8 | length_bytes[i];
    constexpr std::size_t longest = std::size_t{1} << 20;
    if (length > longest) fail("has a header of more than a megabyte");
    std::string text(length, '\0');
    read_bytes(text.data(), length);
    return parse(text);
  }

  [[nodiscard]] Description parse(const std::string& text) const {
    static const std::regex type_pattern(R"('descr'\s*:\s*'([^']*)')");
    static const std::regex order_pattern(R"('fortran_order'\s*:\s*(True|False))");
    static const std::regex shape_pattern(R"('shape'\s*:\s*\(([0-9,\s]*)\))");
    std::smatch type;
    std::smatch order;
    std::smatch shape;
    if (!std::regex_search(text, type, type_pattern)) {
      fail(fmt::format("holds records, not plain numbers; allowed: {}", allowed_));
    }
    if (!std::regex_search(text, order, order_pattern) ||
        !std::regex_search(text, shape, shape_pattern)) {
      fail("has a header that cannot be read");
    }
    Description out{type[1], order[1] == "True", {}};
    static const std::regex number("[0-9]+");
    const std::string sizes = shape[1];
    for (std::sregex_iterator it(sizes.begin(), sizes.end(), number), end; it != end; ++it) {
      out.shape.push_back(to_size(it->str()));
    }
    return out;
  }

  [[nodiscard]] std::size_t to_size(const std::string& digits) const {
    constexpr std::size_t most_digits = 15;
    if (digits.size() > most_digits) fail("has a shape that no memory holds");
    return std::stoull(digits);
  }

  /// The number of elements that the shape names, if the file has that many and no more.
  template <class T>
  std::size_t checked_count(const std::vector<std::size_t>& shape) {
    const std::streamoff here = file_.tellg();
    file_.seekg(0, std::ios::end);
    const auto bytes = static_cast<std::size_t>(file_.tellg() - here);
    file_.seekg(here);
    std::size_t count = 1;
    for (const std::size_t n : shape) {
      if (n != 0 && count > std::numeric_limits<std::size_t>::max() / sizeof(T) / n) {
        fail("has a shape that no memory holds");
      }
      count *= n;
    }
    if (count * sizeof(T) > bytes) fail("is cut short");
    if (count * sizeof(T) < bytes) fail("has more bytes than its shape says");
    return count;
  }

  template <class T>
  std::vector<T> read_values(const Description& description) {
    std::vector<T> values(checked_count<T>(description.shape));
    read_bytes(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
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

  std::filesystem::path path_;
  std::string allowed_;
  std::ifstream file_;
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

}  // namespace onset::io
