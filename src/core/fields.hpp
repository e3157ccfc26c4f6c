#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onset/core/parameters.hpp"

/// The description of a request: which of its members are parameters, what they are called and what
/// they may be. Written once per verb; everything that reads or shows parameters is made from it.
namespace onset {

/// What a field may be, besides what its type says.
struct FieldRule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;  ///< min itself is not allowed
  bool required = false;
  bool whole = false;    ///< a real, or a list of them, that must be whole
  bool grid = false;     ///< a list that may be given as start:stop:step
  bool operand = false;  ///< may be given as a bare word
  bool folder = false;   ///< names a folder
  /// A text that is one of a few words (an enumeration lists its own in Fields::add_word).
  std::vector<std::string> words = {};
};

namespace detail {

/// All that a field's name, rule and sentence say of it; its kind and default are left open.
[[nodiscard]] Parameter described(std::string_view name, const FieldRule& rule,
                                  std::string_view text);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept List = std::same_as<T, std::vector<double>> || std::same_as<T, std::vector<int>>;

template <class T>
[[nodiscard]] ParameterKind kind_of(const FieldRule& rule) {
  if constexpr (IsOptional<T>::value) {
    return kind_of<typename T::value_type>(rule);
  } else if constexpr (std::same_as<T, bool>) {
    return ParameterKind::flag;
  } else if constexpr (Whole<T>) {
    return ParameterKind::integer;
  } else if constexpr (std::same_as<T, double>) {
    return ParameterKind::real;
  } else if constexpr (List<T>) {
    return rule.grid ? ParameterKind::grid : ParameterKind::reals;
  } else {
    static_assert(std::same_as<T, std::string>);
    return rule.words.empty() ? ParameterKind::text : ParameterKind::word;
  }
}

/// An optional without a value and an empty list are "not given".
template <class T>
[[nodiscard]] Value to_value(const T& x) {
  if constexpr (IsOptional<T>::value) {
    return x ? to_value(*x) : Value{};
  } else if constexpr (Whole<T>) {
    return static_cast<std::int64_t>(x);
  } else if constexpr (List<T>) {
    return x.empty() ? Value{} : Value(std::vector<double>(x.begin(), x.end()));
  } else {
    return x;
  }
}

/// An empty text that must be given is not, as that of a request which names no folder.
template <class T>
[[nodiscard]] Value required_value(const T& x) {
  if constexpr (std::same_as<T, std::string>) {
    if (x.empty()) return {};
  }
  return to_value(x);
}

template <class T>
void from_value(const Value& value, T& x) {
  if constexpr (IsOptional<T>::value) {
    x.reset();
    if (!std::holds_alternative<std::monostate>(value)) from_value(value, x.emplace());
  } else if constexpr (Whole<T>) {
    x = static_cast<T>(std::get<std::int64_t>(value));
  } else if constexpr (List<T>) {
    x.clear();
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
      for (const double item : *list) x.push_back(static_cast<typename T::value_type>(item));
    }
  } else {
    x = std::get<T>(value);
  }
}

}  // namespace detail

/// The fields of a request, in the order of the help.
template <class Request>
class Fields {
 public:
  /// A member whose type says what kind of value it has: truth, whole number, number, list, text,
  /// or an optional one of these. Its default is the member's own.
  template <class T>
  Fields& add(std::string_view name, T Request::*member, const FieldRule& rule,
              std::string_view text) {
    Parameter p = detail::described(name, rule, text);
    p.kind = detail::kind_of<T>(rule);
    p.whole = rule.whole || std::same_as<T, std::vector<int>>;
    if (!rule.required) p.fallback = detail::to_value(Request{}.*member);
    fields_.push_back({std::move(p),
                       [member, required = rule.required](const Request& request) {
                         return required ? detail::required_value(request.*member)
                                         : detail::to_value(request.*member);
                       },
                       [member](const Value& value, Request& request) {
                         detail::from_value(value, request.*member);
                       }});
    return *this;
  }

  /// A member of an enumeration, given by the words that to_string() has for its values.
  template <class Enum>
  Fields& add_word(std::string_view name, Enum Request::*member, std::vector<Enum> choices,
                   std::string_view text) {
    return add_choice(
        name, std::move(choices), text, to_string_value(Request{}.*member),
        [member](const Request& request) { return to_string_value(request.*member); },
        [member](Enum choice, Request& request) { request.*member = choice; });
  }
  template <class Enum>
  Fields& add_word(std::string_view name, std::optional<Enum> Request::*member,
                   std::vector<Enum> choices, std::string_view text) {
    return add_choice(
        name, std::move(choices), text, Value{},
        [member](const Request& request) {
          return request.*member ? to_string_value(*(request.*member)) : Value{};
        },
        [member](Enum choice, Request& request) { request.*member = choice; });
  }

  /// Changes what is said of a field that another description added.
  Parameter& edit(std::string_view name) { return const_cast<Field&>(find(name)).parameter; }

  /// The value of one field; std::monostate where it was not given.
  [[nodiscard]] Value get(std::string_view name, const Request& request) const {
    return find(name).get(request);
  }
  void set(std::string_view name, const Value& value, Request& request) const {
    find(name).set(value, request);
  }

  [[nodiscard]] std::vector<Parameter> parameters() const {
    std::vector<Parameter> out;
    for (const Field& field : fields_) out.push_back(field.parameter);
    return out;
  }

  [[nodiscard]] Parameters write(const Request& request) const {
    Parameters out;
    for (const Field& field : fields_) out.set(field.parameter.name, field.get(request));
    return out;
  }

  /// The request of values that complete() has checked; fields without a value stay at "not given".
  [[nodiscard]] Request read(const Parameters& values) const {
    Request request;
    for (const Field& field : fields_) {
      const Value& value = values.values().at(field.parameter.name);
      const bool given = !std::holds_alternative<std::monostate>(value);
      if (given) field.set(value, request);
    }
    return request;
  }

 private:
  struct Field {
    Parameter parameter;
    std::function<Value(const Request&)> get;
    std::function<void(const Value&, Request&)> set;
  };

  [[nodiscard]] const Field& find(std::string_view name) const {
    for (const Field& field : fields_) {
      if (field.parameter.name == name) return field;
    }
    throw std::logic_error("no field " + std::string(name));
  }

  template <class Enum>
  static Value to_string_value(Enum choice) {
    return std::string(to_string(choice));
  }

  template <class Enum, class Get, class Set>
  Fields& add_choice(std::string_view name, std::vector<Enum> choices, std::string_view text,
                     Value fallback, Get get, Set set) {
    Parameter p = detail::described(name, {}, text);
    p.kind = ParameterKind::word;
    p.fallback = std::move(fallback);
    for (const Enum choice : choices) p.words.emplace_back(to_string(choice));
    fields_.push_back({std::move(p), std::move(get),
                       [set, choices = std::move(choices)](const Value& value, Request& request) {
                         for (const Enum choice : choices) {
                           if (std::get<std::string>(value) == to_string(choice)) {
                             set(choice, request);
                           }
                         }
                       }});
    return *this;
  }

  std::vector<Field> fields_;
};

}  // namespace onset
