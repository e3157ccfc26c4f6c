#include "io/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "io/toml.hpp"
#include "onset/core/error.hpp"

namespace onset::io {

std::string Place::text() const {
  return fmt::format("{}:{}:{}", file, line, column);
}

void complain(const Place& place, const std::string& message) {
  throw InvalidArgument(place.text(), message);
}

/// A table of a file, which keeps the whole of it.
struct TomlReader::Parsed {
  std::shared_ptr<const toml::table> whole;
  const toml::table* table;
  std::string file;

  [[nodiscard]] const toml::node* find(std::string_view key) const { return table->get(key); }
  [[nodiscard]] Place place(const toml::source_region& source) const {
    return {file, source.begin.line, source.begin.column};
  }
  [[nodiscard]] Place place(std::string_view key) const {
    const toml::node* node = find(key);
    return place(node ? node->source() : table->source());
  }
  [[nodiscard]] TomlReader inner(const toml::node& node) const {
    return TomlReader(std::make_shared<const Parsed>(Parsed{whole, node.as_table(), file}));
  }

  [[noreturn]] void wrong_kind(std::string_view key, std::string_view wanted) const {
    complain(place(key), fmt::format("{} must be {}", in_quotes(key), wanted));
  }

  [[nodiscard]] std::vector<double> number_list(std::string_view key,
                                                const toml::array& list) const {
    std::vector<double> out;
    for (const toml::node& item : list) {
      if (!item.is_number()) wrong_kind(key, "a list of numbers");
      out.push_back(*item.value<double>());
    }
    return out;
  }

  [[nodiscard]] Value value(std::string_view key, const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    if (const auto* list = node.as_array()) return number_list(key, *list);
    wrong_kind(key, "a string, a number, true or false, or a list of numbers");
  }
};

namespace {

std::shared_ptr<const toml::table> parse_toml(std::string_view text, const std::string& file) {
  try {
    return std::make_shared<const toml::table>(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    complain({file, at.line, at.column}, std::string(error.description()));
  }
}

}  // namespace

TomlReader::TomlReader(std::string_view text, const std::string& file) {
  const auto whole = parse_toml(text, file);
  parsed_ = std::make_shared<const Parsed>(Parsed{whole, whole.get(), file});
}

Place TomlReader::place() const {
  return parsed_->place(parsed_->table->source());
}

bool TomlReader::has(std::string_view key) const {
  return parsed_->table->contains(key);
}

Place TomlReader::place_of(std::string_view key) const {
  return parsed_->place(key);
}

Place TomlReader::place_of_key(std::string_view key) const {
  const toml::table& table = *parsed_->table;
  const auto entry = table.find(key);
  return entry == table.end() ? place() : parsed_->place(entry->first.source());
}

void TomlReader::allow_only(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, node] : *parsed_->table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    const std::vector<std::string> words(known.begin(), known.end());
    const std::string nearest = suggestion(key.str(), words);
    complain(parsed_->place(key.source()),
             fmt::format("unknown key {}{}", in_quotes(key.str()),
                         nearest.empty() ? fmt::format("; known are {}", fmt::join(words, ", "))
                                         : nearest));
  }
}

std::string TomlReader::text(std::string_view key) const {
  if (!has(key)) complain(place(), fmt::format("'{}' is missing here", key));
  return text_or(key, {});
}

std::string TomlReader::text_or(std::string_view key, std::string fallback) const {
  const toml::node* node = parsed_->find(key);
  if (!node) return fallback;
  if (!node->is_string()) parsed_->wrong_kind(key, "a string");
  return node->as_string()->get();
}

std::optional<double> TomlReader::number(std::string_view key) const {
  const toml::node* node = parsed_->find(key);
  if (!node) return std::nullopt;
  if (!node->is_number()) parsed_->wrong_kind(key, "a number");
  return *node->value<double>();
}

bool TomlReader::flag(std::string_view key) const {
  const toml::node* node = parsed_->find(key);
  if (!node) return false;
  if (!node->is_boolean()) parsed_->wrong_kind(key, "true or false");
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

std::vector<double> TomlReader::grid(std::string_view key) const {
  const toml::node* node = parsed_->find(key);
  if (!node) return {};
  if (const toml::array* list = node->as_array()) return parsed_->number_list(key, *list);
  if (!node->is_string())
    parsed_->wrong_kind(key, "a list of numbers or a grid such as \"0.1:0.5:0.1\"");
  Parameter points;
  points.name = std::string(key);
  points.kind = ParameterKind::grid;
  try {
    return std::get<std::vector<double>>(parse_value(points, node->as_string()->get()));
  } catch (const InvalidArgument& error) {
    complain(place_of(key), error.what());
  }
}

std::vector<std::string> TomlReader::keys() const {
  std::vector<const toml::key*> found;
  for (const auto& [key, node] : *parsed_->table) found.push_back(&key);
  std::sort(found.begin(), found.end(), [](const toml::key* a, const toml::key* b) {
    return a->source().begin < b->source().begin;
  });
  std::vector<std::string> out;
  for (const toml::key* key : found) out.emplace_back(key->str());
  return out;
}

bool TomlReader::is_text(std::string_view key) const {
  return has(key) && parsed_->find(key)->is_string();
}

bool TomlReader::is_list(std::string_view key) const {
  return has(key) && parsed_->find(key)->is_array();
}

std::vector<TomlReader::Item> TomlReader::items(std::string_view key) const {
  if (!is_list(key)) parsed_->wrong_kind(key, "a list");
  std::vector<Item> out;
  for (const toml::node& node : *parsed_->find(key)->as_array()) {
    out.push_back({parsed_->value(key, node), parsed_->place(node.source())});
  }
  return out;
}

Value TomlReader::value(std::string_view key) const {
  const toml::node* node = parsed_->find(key);
  if (!node) complain(place(), fmt::format("'{}' is missing here", key));
  return parsed_->value(key, *node);
}

std::map<std::string, Value> TomlReader::values(std::string_view key) const {
  std::map<std::string, Value> out;
  const std::optional<TomlReader> inner = table(key);
  if (!inner) return out;
  for (const auto& [name, node] : *inner->parsed_->table) {
    out[std::string(name.str())] = inner->parsed_->value(name.str(), node);
  }
  return out;
}

std::optional<TomlReader> TomlReader::table(std::string_view key) const {
  const toml::node* node = parsed_->find(key);
  if (!node) return std::nullopt;
  if (!node->is_table()) parsed_->wrong_kind(key, "a table");
  return parsed_->inner(*node);
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) const {
  std::vector<TomlReader> out;
  const toml::node* node = parsed_->find(key);
  if (!node) return out;
  const std::string wanted = fmt::format("written as [[{}]]", key);
  if (!node->is_array()) parsed_->wrong_kind(key, wanted);
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_table()) parsed_->wrong_kind(key, wanted);
    out.push_back(parsed_->inner(item));
  }
  return out;
}

}  // namespace onset::io
