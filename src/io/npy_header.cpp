#include "io/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace onset::io::detail {
namespace {

/// Reads the few Python literals of a header from left to right. Each function takes what it names
/// from the front of the text and says whether it was there.
class Literals {
 public:
  explicit Literals(std::string_view text) : text_(text) {}

  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  bool take_string(std::string& out) {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const char quote = text_[0];
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] == quote) {
        text_.remove_prefix(i + 1);
        return true;
      }
      if (text_[i] == '\\' && ++i == text_.size()) break;
      out += text_[i];
    }
    return false;
  }

  bool take_truth(bool& out) {
    out = take("True");
    return out || take("False");
  }

  bool take_tuple(std::vector<std::size_t>& out) {
    if (!take("(")) return false;
    while (!take(")")) {
      std::size_t size = 0;
      if (!take_size(size)) return false;
      out.push_back(size);
      if (!take(",")) return take(")");
    }
    return true;
  }

  /// Skips a list, whose content does not matter.
  bool skip_list() {
    if (!take("[")) return false;
    std::string ignored;
    for (std::size_t open = 1; open > 0;) {
      skip_blanks();
      if (text_.empty()) return false;
      if (take_string(ignored)) continue;
      if (text_[0] == '[') ++open;
      if (text_[0] == ']') --open;
      text_.remove_prefix(1);
    }
    return true;
  }

  bool at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(first == std::string_view::npos ? text_.size() : first);
  }

  bool take_size(std::size_t& out) {
    skip_blanks();
    const char* begin = text_.data();
    const auto [end, error] = std::from_chars(begin, begin + text_.size(), out);
    if (error == std::errc::invalid_argument) return false;
    if (error != std::errc{}) out = std::numeric_limits<std::size_t>::max();
    text_.remove_prefix(static_cast<std::size_t>(end - begin));
    return true;
  }

  std::string_view text_;
};

/// The three entries of the dictionary, each of which must be there once, in any order.
struct Entries {
  NpyDescription description;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;

  bool read(Literals& in) {
    std::string key;
    if (!in.take_string(key) || !in.take(":")) return false;
    if (key == "descr" && !has_type) {
      return has_type = in.take_string(description.type) || in.skip_list();
    }
    if (key == "fortran_order" && !has_order) {
      return has_order = in.take_truth(description.fortran_order);
    }
    return key == "shape" && !has_shape && (has_shape = in.take_tuple(description.shape));
  }

  [[nodiscard]] bool complete() const { return has_type && has_order && has_shape; }
};

}  // namespace

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

std::optional<NpyDescription> read_npy_description(std::string_view text) {
  Literals in(text);
  Entries entries;
  if (!in.take("{")) return std::nullopt;
  while (!in.take("}")) {
    if (!entries.read(in)) return std::nullopt;
    if (in.take(",")) continue;
    if (!in.take("}")) return std::nullopt;
    break;
  }
  return entries.complete() && in.at_end() ? std::optional(entries.description) : std::nullopt;
}

}  // namespace onset::io::detail
