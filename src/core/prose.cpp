#include "core/prose.hpp"

#include <fmt/format.h>

namespace onset {

std::string prose(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  constexpr std::string_view breaks = " \t\n";
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos) {
      out += line;
      break;
    }
    const std::size_t last = line.find_last_not_of(blanks);
    line = last == std::string_view::npos ? std::string_view{} : line.substr(0, last + 1);
    const std::size_t next = text.find_first_not_of(breaks, end);
    text = next == std::string_view::npos ? std::string_view{} : text.substr(next);
    out += line;
    if (!out.empty() && !text.empty()) out += ' ';
  }
  return out;
}

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, several);
}

}  // namespace onset
