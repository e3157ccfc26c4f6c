#include "smi/learners/vocabulary.hpp"

#include "smi/learners/text_training.hpp"

namespace onset::smi {
namespace {

constexpr unsigned char times_sign = 0xd7;
constexpr unsigned char division_sign = 0xf7;

bool is_upper(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != times_sign);
}

bool is_word(unsigned char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         (c >= 0xdf && c != division_sign);
}

bool is_blank(unsigned char c) {
  constexpr unsigned char no_break_space = 0xa0;
  return c <= ' ' || c == no_break_space;
}

/// The lower case of a Latin-1 letter, and so of an ASCII one.
char lower(unsigned char c) {
  return static_cast<char>(is_upper(c) ? c + 0x20 : c);
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    if (is_word(c)) {
      if (!inside) words.emplace_back();
      words.back() += lower(c);
    } else if (!is_blank(c)) {
      words.emplace_back(1, character);
    }
    inside = is_word(c);
  }
  return words;
}

Vocabulary::Vocabulary(const std::vector<std::string>& texts, std::int64_t min_count) {
  std::unordered_map<std::string, std::int64_t> counts;
  std::vector<std::string> in_order;
  for (const std::string& text : texts) {
    for (std::string& word : split_words(text)) {
      if (++counts[word] == 1) in_order.push_back(std::move(word));
    }
  }
  for (const std::string& word : in_order) {
    if (counts[word] >= min_count) numbers_.emplace(word, size());
  }
}

std::vector<std::int64_t> Vocabulary::numbers(std::string_view text) const {
  std::vector<std::int64_t> list;
  for (const std::string& word : split_words(text)) {
    const auto found = numbers_.find(word);
    list.push_back(found == numbers_.end() ? unknown_word : found->second);
  }
  return list;
}

std::int64_t Vocabulary::size() const {
  return unknown_word + 1 + static_cast<std::int64_t>(numbers_.size());
}

}  // namespace onset::smi
