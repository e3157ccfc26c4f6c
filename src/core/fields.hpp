#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// How a member becomes the value of a parameter and back; it knows the type of the member, which
/// must be the one that it is given, and nothing of the request around it.
class MemberAccess {
 public:
  virtual ~MemberAccess() = default;
  [[nodiscard]] virtual Value get(const void* member) const = 0;
  virtual void set(const Value& value, void* member) const = 0;
};

/// What the type of a member says of its field.
struct FieldType {
  ParameterKind kind = ParameterKind::real;
  bool whole = false;
  std::shared_ptr<const MemberAccess> access;
};

/// The types that a field may have are listed in fields.cpp, where this is compiled: it is the same
/// for every request.
template <class T>
[[nodiscard]] FieldType field_type(const FieldRule& rule);

/// A member of an enumeration, or an optional one, given by words.
template <class Member, class Enum>
class WordAccess : public MemberAccess {
 public:
  explicit WordAccess(std::vector<Enum> choices) : choices_(std::move(choices)) {}

  [[nodiscard]] Value get(const void* member) const override {
    const Member& x = *static_cast<const Member*>(member);
    if constexpr (std::same_as<Member, Enum>) {
      return std::string(to_string(x));
    } else {
      return x ? Value(std::string(to_string(*x))) : Value{};
    }
  }
  void set(const Value& value, void* member) const override {
    for (const Enum choice : choices_) {
      if (std::get<std::string>(value) == to_string(choice)) {
        *static_cast<Member*>(member) = choice;
      }
    }
  }

 private:
  std::vector<Enum> choices_;
};

/// The fields of a request whose type is known to others: Fields keeps it, so that a request meets
/// its own fields only.
class FieldList {
 public:
  /// Where a field's member lies in a request.
  using Place = std::function<const void*(const void* request)>;

  /// The default is that of the member of `defaults`, a request that nobody has touched.
  void add(Parameter parameter, FieldType type, Place place, const void* defaults);

  [[nodiscard]] Parameter& edit(std::string_view name);
  [[nodiscard]] Value get(std::string_view name, const void* request) const;
  void set(std::string_view name, const Value& value, void* request) const;
  [[nodiscard]] std::vector<Parameter> parameters() const;
  [[nodiscard]] Parameters write(const void* request) const;
  /// Into a new request, of values that complete() has checked; fields without a value stay at "not
  /// given".
  void read(const Parameters& values, void* request) const;

 private:
  struct Field {
    Parameter parameter;
    std::shared_ptr<const MemberAccess> access;
    Place place;

    void set(const Value& value, void* request) const;
  };
  [[nodiscard]] const Field& find(std::string_view name) const;

  std::vector<Field> fields_;
};

/// All that a field's name, rule and sentence say of it; its kind and default are left open.
[[nodiscard]] Parameter described(std::string_view name, const FieldRule& rule,
                                  std::string_view text);

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
    return add_member(member, detail::described(name, rule, text), detail::field_type<T>(rule));
  }

  /// A member of an enumeration, given by the words that to_string() has for its values.
  template <class Enum>
  Fields& add_word(std::string_view name, Enum Request::*member, std::vector<Enum> choices,
                   std::string_view text) {
    return add_choice(name, member, std::move(choices), text);
  }
  template <class Enum>
  Fields& add_word(std::string_view name, std::optional<Enum> Request::*member,
                   std::vector<Enum> choices, std::string_view text) {
    return add_choice(name, member, std::move(choices), text);
  }

  /// Changes what is said of a field that another description added.
  Parameter& edit(std::string_view name) { return list_.edit(name); }

  /// The value of one field; std::monostate where it was not given.
  [[nodiscard]] Value get(std::string_view name, const Request& request) const {
    return list_.get(name, &request);
  }
  void set(std::string_view name, const Value& value, Request& request) const {
    list_.set(name, value, &request);
  }

  [[nodiscard]] std::vector<Parameter> parameters() const { return list_.parameters(); }

  [[nodiscard]] Parameters write(const Request& request) const { return list_.write(&request); }

  /// The same fields without the type of the request, for what is compiled once for all of them.
  [[nodiscard]] const detail::FieldList& untyped() const { return list_; }

 private:
  static const Request& defaults() {
    static const Request request;
    return request;
  }

  template <class T>
  Fields& add_member(T Request::*member, Parameter parameter, detail::FieldType type) {
    list_.add(
        std::move(parameter), std::move(type),
        [member](const void* request) -> const void* {
          return &(static_cast<const Request*>(request)->*member);
        },
        &defaults());
    return *this;
  }

  template <class Member, class Enum>
  Fields& add_choice(std::string_view name, Member Request::*member, std::vector<Enum> choices,
                     std::string_view text) {
    Parameter p = detail::described(name, {}, text);
    for (const Enum choice : choices) p.words.emplace_back(to_string(choice));
    using Access = detail::WordAccess<Member, Enum>;
    return add_member(
        member, std::move(p),
        {ParameterKind::word, false, std::make_shared<const Access>(std::move(choices))});
  }

  detail::FieldList list_;
};

}  // namespace onset
