#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/io/place.hpp"

namespace onset::io {

/// A TOML table that knows where it is: every error is reported with its place.
class TomlReader {
 public:
  /// The table of a whole file. `file` is what errors call it.
  TomlReader(std::string_view text, const std::string& file);

  [[nodiscard]] Place place() const;
  [[nodiscard]] Place place_of(std::string_view key) const;  ///< the place of its value
  [[nodiscard]] Place place_of_key(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;

  /// Complains about the first key that is not among `known`, with the nearest that is.
  void allow_only(std::initializer_list<std::string_view> known) const;

  [[nodiscard]] std::string text(std::string_view key) const;  ///< required
  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;  ///< false when absent
  /// Index of the word in `words`, or `fallback` when absent.
  [[nodiscard]] std::size_t word(std::string_view key, std::span<const std::string> words,
                                 std::size_t fallback) const;
  /// A list of numbers, or a grid such as "0.1:0.5:0.1"; empty when absent.
  [[nodiscard]] std::vector<double> grid(std::string_view key) const;
  /// The keys as they stand in the file (the table itself sorts them).
  [[nodiscard]] std::vector<std::string> keys() const;
  /// A value with its place.
  struct Item {
    Value value;
    Place place;
  };
  /// The items of a list, each a string, a number, true or false, or a list of numbers; throws for
  /// anything else.
  [[nodiscard]] std::vector<Item> items(std::string_view key) const;
  /// Whether the key has text.
  [[nodiscard]] bool is_text(std::string_view key) const;
  /// Whether the key has a list.
  [[nodiscard]] bool is_list(std::string_view key) const;
  [[nodiscard]] Value value(std::string_view key) const;  ///< required, of any kind
  /// A table of parameter values; empty when absent.
  [[nodiscard]] std::map<std::string, Value> values(std::string_view key) const;

  [[nodiscard]] std::optional<TomlReader> table(std::string_view key) const;
  /// The tables of [[key]]; empty when absent.
  [[nodiscard]] std::vector<TomlReader> tables(std::string_view key) const;

 private:
  /// The parser's table. Its headers are dear to compile, so that one source includes them.
  struct Parsed;
  explicit TomlReader(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace onset::io
