#include "onset/core/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <vector>

namespace onset {
namespace {

std::string lower(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Edits (insert, delete, replace, swap of neighbours) that turn a into b. A swap counts as one,
/// since swapped letters are the commonest slip of the hand.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) cell(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cell(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cell(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
      }
    }
  }
  return cell(a.size(), b.size());
}

/// Longer input is not a slip of the hand, and comparing it would be quadratic work.
constexpr std::size_t longest_word = 64;

/// Bytes of the UTF-8 character that the text begins with; 0 when it begins with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int ones = std::countl_one(byte(0));
  if (ones == 0) return 1;
  const auto length = static_cast<std::size_t>(ones);
  if (length == 1 || length > 4 || length > text.size()) return 0;
  char32_t point = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < smallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

/// Of Unicode's first or second set of control characters, which terminals obey.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// One string for each character as it is shown; `as_is` are control characters that may stay.
std::vector<std::string> shown_characters(std::string_view text, std::string_view as_is) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const bool stays =
        length > 0 && (!is_control(character) || as_is.find(character) != std::string_view::npos);
    out.push_back(stays ? std::string(character) : escaped(character));
    text.remove_prefix(character.size());
  }
  return out;
}

std::string shown(std::string_view text, std::size_t most, std::string_view as_is) {
  const std::vector<std::string> all = shown_characters(text, as_is);
  if (all.size() <= most) return fmt::format("{}", fmt::join(all, ""));
  const auto head = static_cast<std::ptrdiff_t>(most / 2);
  const auto tail = static_cast<std::ptrdiff_t>(most) - head;
  return fmt::format("{} .. ({} more) .. {}", fmt::join(all.begin(), all.begin() + head, ""),
                     all.size() - most, fmt::join(all.end() - tail, all.end(), ""));
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > longest_word) return {};
  const std::string given = lower(word);
  std::string best;
  std::size_t best_distance = longest_word + 1;
  for (const std::string& candidate : candidates) {
    const std::string wanted = lower(candidate);
    std::size_t distance = edit_distance(given, wanted);
    // A third of the letters may be wrong; a beginning of a word is near however much is missing.
    const bool beginning = given.size() >= 3 && wanted.starts_with(given);
    const std::size_t allowed = (std::max(given.size(), wanted.size()) + 2) / 3;
    if (distance > allowed && !beginning) continue;
    if (beginning) distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? std::string{} : "; did you mean '" + nearest + "'?";
}

std::string option_suggestion(std::string_view option, std::span<const std::string> names) {
  const std::size_t first = option.find_first_not_of('-');
  if (first == std::string_view::npos) return {};
  const std::string nearest = nearest_word(option.substr(first), names);
  return nearest.empty() ? std::string{} : "; did you mean '--" + nearest + "'?";
}

std::string printable(std::string_view text, std::size_t most) {
  return shown(text, most, "\n\t");
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", shown(text, longest_shown, ""));
}

}  // namespace onset
