#include "core/suggestion.hpp"

#include <algorithm>
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

/// The number of edits (insertions, deletions, replacements, swaps of neighbours) that turn a into
/// b. A swap counts as one, since swapped letters are the commonest typing error.
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

/// Whether only letters are missing: `whole` has those of `word` in their order.
bool is_abbreviation(std::string_view word, std::string_view whole) {
  std::size_t found = 0;
  for (const char letter : whole) {
    if (found < word.size() && word[found] == letter) ++found;
  }
  return found == word.size();
}

/// Longer input is no typing error, and comparing it would take quadratic time.
constexpr std::size_t longest_word = 64;

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > longest_word) return {};
  const std::string given = lower(word);
  std::string best;
  std::size_t least_cost = 2 * (longest_word + 1);
  for (const std::string& candidate : candidates) {
    const std::string wanted = lower(candidate);
    std::size_t distance = edit_distance(given, wanted);
    // About a third of the letters may be wrong, one of four; the beginning of a word is near
    // however much is missing.
    const bool beginning = given.size() >= 3 && wanted.starts_with(given);
    const std::size_t allowed = (std::max(given.size(), wanted.size()) + 1) / 3;
    if (distance > allowed && !beginning) continue;
    if (beginning) distance = std::min<std::size_t>(distance, 1);
    // Of words as near as each other, one that lacks letters is meant: sgn is sign, not sin.
    const std::size_t cost = 2 * distance + (is_abbreviation(given, wanted) ? 0 : 1);
    if (cost < least_cost) {
      best = candidate;
      least_cost = cost;
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

}  // namespace onset
