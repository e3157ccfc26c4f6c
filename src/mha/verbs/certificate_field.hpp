#pragma once

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "io/json_text.hpp"

namespace onset::mha {

using io::Json;

/// A place in a JSON file that is read strictly: whole numbers are whole, objects have the keys
/// that they should have and no others. Throws IoError naming the file and the place.
class Field {
 public:
  Field(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[nodiscard]] Field operator[](const char* key) const;
  [[nodiscard]] Field at(std::size_t index) const;
  void require_keys(std::initializer_list<const char*> keys) const;
  void require_size(std::size_t size) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] std::uint64_t digest() const;  ///< sixteen hexadecimal digits
  /// A whole number from 0 to what the type holds.
  template <class Whole>
  [[nodiscard]] Whole whole() const {
    return static_cast<Whole>(whole_up_to(std::numeric_limits<Whole>::max()));
  }
  /// What `read` makes of every entry of a list.
  template <class T, class Read>
  [[nodiscard]] std::vector<T> each(const Read& read) const {
    std::vector<T> out;
    const std::size_t size = list_size();
    out.reserve(size);
    for (std::size_t i = 0; i < size; ++i) out.push_back(read(at(i)));
    return out;
  }

  [[noreturn]] void fail(const std::string& message) const;

 private:
  Field(const Json& json, const Field& parent, std::string name);
  [[nodiscard]] std::uint64_t whole_up_to(std::uint64_t largest) const;
  [[nodiscard]] std::size_t list_size() const;

  const Json& json_;
  std::string path_;
  std::string name_;
};

}  // namespace onset::mha
