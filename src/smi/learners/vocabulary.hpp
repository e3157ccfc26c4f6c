#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onset::smi {

/// The words of a Latin-1 text in lower case: runs of letters and digits; every other character
/// that is not a blank stands by itself.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

/// Numbers for words, in the order in which they first came (after padding_word and unknown_word).
class Vocabulary {
 public:
  /// Takes the words that occur at least `min_count` times in all the texts together.
  Vocabulary(const std::vector<std::string>& texts, std::int64_t min_count);

  [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view text) const;
  /// One more than the largest number.
  [[nodiscard]] std::int64_t size() const;

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

}  // namespace onset::smi
