#include "io/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"

namespace onset::io {

std::string Place::text() const {
  return fmt::format("{}:{}:{}", file, line, column);
}

void complain(const Place& place, const std::string& message) {
  throw InvalidArgument(place.text(), message);
}

Place TomlReader::place_of(const toml::source_region& source) const {
  return {file_, source.begin.line, source.begin.column};
}

Place TomlReader::place_of(std::string_view key) const {
  const toml::node* node = find(key);
  return node ? place_of(node->source()) : place();
}

Place TomlReader::place_of_key(std::string_view key) const {
  const auto entry = table_->find(key);
  return entry == table_->end() ? place() : place_of(entry->first.source());
}

void TomlReader::allow_only(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, node] : *table_) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    const std::vector<std::string> words(known.begin(), known.end());
    const std::string nearest = suggestion(key.str(), words);
    complain(place_of(key.source()),
             fmt::format("unknown key {}{}", in_quotes(key.str()),
                         nearest.empty() ? fmt::format("; known are {}", fmt::join(words, ", "))
                                         : nearest));
  }
}

void TomlReader::wrong_kind(std::string_view key, std::string_view wanted) const {
  complain(place_of(key), fmt::format("{} must be {}", in_quotes(key), wanted));
}

std::string TomlReader::text(std::string_view key) const {
  if (!has(key)) complain(place(), fmt::format("'{}' is missing here", key));
  return text_or(key, {});
}

std::string TomlReader::text_or(std::string_view key, std::string fallback) const {
  const toml::node* node = find(key);
  if (!node) return fallback;
  if (!node->is_string()) wrong_kind(key, "a string");
  return node->as_string()->get();
}

std::optional<double> TomlReader::number(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  if (!node->is_number()) wrong_kind(key, "a number");
  return *node->value<double>();
}

bool TomlReader::flag(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return false;
  if (!node->is_boolean()) wrong_kind(key, "true or false");
  return node->as_boolean()->get();
}

std::size_t TomlReader::word(std::string_view key, std::span<const std::string> words,
                             std::size_t fallback) const {
  if (!has(key)) return fallback;
  const std::string given = text(key);
  const auto found = std::find(words.begin(), words.end(), given);
  if (found == words.end()) {
    complain(place_of(key),
             fmt::format("'{}' must be one of {}, not {}{}", key, fmt::join(words, ", "),
                         in_quotes(given), suggestion(given, words)));
  }
  return static_cast<std::size_t>(found - words.begin());
}

std::vector<double> TomlReader::number_list(std::string_view key, const toml::array& list) const {
  std::vector<double> out;
  for (const toml::node& item : list) {
    if (!item.is_number()) wrong_kind(key, "a list of numbers");
    out.push_back(*item.value<double>());
  }
  return out;
}

std::vector<double> TomlReader::grid(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return {};
  if (const toml::array* list = node->as_array()) return number_list(key, *list);
  if (!node->is_string()) wrong_kind(key, "a list of numbers or a grid such as \"0.1:0.5:0.1\"");
  Parameter points;
  points.name = std::string(key);
  points.kind = ParameterKind::grid;
  try {
    return std::get<std::vector<double>>(parse_value(points, node->as_string()->get()));
  } catch (const InvalidArgument& error) {
    complain(place_of(key), error.what());
  }
}

Value TomlReader::value_of(std::string_view key, const toml::node& node) const {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* list = node.as_array()) return number_list(key, *list);
  wrong_kind(key, "a string, a number, true or false, or a list of numbers");
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<const toml::key*> found;
  for (const auto& [key, node] : *table_) found.push_back(&key);
  std::sort(found.begin(), found.end(), [](const toml::key* a, const toml::key* b) {
    return a->source().begin < b->source().begin;
  });
  std::vector<std::string> out;
  for (const toml::key* key : found) out.emplace_back(key->str());
  return out;
}

bool TomlReader::is_text(std::string_view key) const {
  return has(key) && find(key)->is_string();
}

bool TomlReader::is_list(std::string_view key) const {
  return has(key) && find(key)->is_array();
}

std::vector<TomlReader::Item> TomlReader::items(std::string_view key) const {
  if (!is_list(key)) wrong_kind(key, "a list");
  std::vector<Item> out;
  for (const toml::node& node : *find(key)->as_array()) {
    out.push_back({value_of(key, node), place_of(node.source())});
  }
  return out;
}

Value TomlReader::value(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) complain(place(), fmt::format("'{}' is missing here", key));
  return value_of(key, *node);
}

std::map<std::string, Value> TomlReader::values(std::string_view key) const {
  std::map<std::string, Value> out;
  const std::optional<TomlReader> inner = table(key);
  if (!inner) return out;
  for (const auto& [name, node] : *inner->table_) {
    out[std::string(name.str())] = inner->value_of(name.str(), node);
  }
  return out;
}

std::optional<TomlReader> TomlReader::table(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  if (!node->is_table()) wrong_kind(key, "a table");
  return TomlReader(*node->as_table(), file_);
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) const {
  std::vector<TomlReader> out;
  const toml::node* node = find(key);
  if (!node) return out;
  const std::string wanted = fmt::format("written as [[{}]]", key);
  if (!node->is_array()) wrong_kind(key, wanted);
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_table()) wrong_kind(key, wanted);
    out.emplace_back(*item.as_table(), file_);
  }
  return out;
}

}  // namespace onset::io
