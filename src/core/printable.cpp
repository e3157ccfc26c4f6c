#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/characters.hpp"

namespace onset {
namespace {

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// One string for each character as it is shown; `as_is` are control characters that may stay.
std::vector<std::string> shown_characters(std::string_view text, std::string_view as_is) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto [bytes, kind] = first_character(text);
    const bool stays = kind == CharacterKind::seen || (kind == CharacterKind::control &&
                                                       as_is.find(bytes) != std::string_view::npos);
    out.push_back(stays ? std::string(bytes) : escaped(bytes));
    text.remove_prefix(bytes.size());
  }
  return out;
}

std::string shown(std::string_view text, std::size_t most, std::string_view as_is) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (plain && text.size() <= most) return std::string(text);  // nearly every text, and many
  const std::vector<std::string> all = shown_characters(text, as_is);
  if (all.size() <= most) return fmt::format("{}", fmt::join(all, ""));
  const auto head = static_cast<std::ptrdiff_t>(most / 2);
  const auto tail = static_cast<std::ptrdiff_t>(most) - head;
  return fmt::format("{} .. ({} more) .. {}", fmt::join(all.begin(), all.begin() + head, ""),
                     all.size() - most, fmt::join(all.end() - tail, all.end(), ""));
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  return shown(text, most, "\n\t");
}

std::string one_line(std::string_view text, std::size_t most) {
  return shown(text, most, "");
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", one_line(text));
}

}  // namespace onset
