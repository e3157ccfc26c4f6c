#include "mha/verbs/certificate_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/printable.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {

Field::Field(const Json& json, const Field& parent, std::string name)
    : json_(json), path_(parent.path_), name_(std::move(name)) {}

void Field::fail(const std::string& message) const {
  throw IoError(path_, name_.empty() ? message : name_ + ": " + message);
}

Field Field::operator[](const char* key) const {
  if (!json_.is_object()) fail("is not an object");
  const auto entry = json_.find(key);
  const std::string name = name_.empty() ? key : fmt::format("{}.{}", name_, key);
  if (entry == json_.end()) fail(fmt::format("'{}' is missing", key));
  return {*entry, *this, name};
}

Field Field::at(std::size_t index) const {
  return {json_.at(index), *this, fmt::format("{}[{}]", name_, index)};
}

void Field::require_keys(std::initializer_list<const char*> keys) const {
  if (!json_.is_object()) fail("is not an object");
  for (const auto& entry : json_.items()) {
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const char* key) { return entry.key() == key; });
    if (!known) fail(fmt::format("{} is unknown", in_quotes(entry.key())));
  }
}

std::size_t Field::list_size() const {
  if (!json_.is_array()) fail("is not a list");
  return json_.size();
}

void Field::require_size(std::size_t size) const {
  if (list_size() != size) fail(fmt::format("has {} entries; allowed: {}", json_.size(), size));
}

std::string Field::text() const {
  if (!json_.is_string()) fail("is not a text");
  return json_.get<std::string>();
}

double Field::real() const {
  if (!json_.is_number()) fail("is not a number");
  return json_.get<double>();
}

std::uint64_t Field::digest() const {
  const std::string digits = text();
  constexpr std::string_view allowed = "0123456789abcdef";
  if (digits.size() != 16 || digits.find_first_not_of(allowed) != std::string::npos) {
    fail("allowed: sixteen hexadecimal digits");
  }
  return std::stoull(digits, nullptr, 16);
}

std::uint64_t Field::whole_up_to(std::uint64_t largest) const {
  if (!json_.is_number_unsigned() || json_.get<std::uint64_t>() > largest) {
    fail(fmt::format("{} is not allowed; allowed: whole numbers from 0 to {}",
                     printable(io::json_line(json_)), largest));
  }
  return json_.get<std::uint64_t>();
}

}  // namespace onset::mha
