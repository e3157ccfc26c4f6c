#include "core/fields.hpp"

#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace onset::detail {
namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept List = std::same_as<T, std::vector<double>> || std::same_as<T, std::vector<int>>;

template <class T>
ParameterKind kind_of(const FieldRule& rule) {
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
Value to_value(const T& x) {
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
Value required_value(const T& x) {
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

template <class T>
class PlainAccess : public MemberAccess {
 public:
  explicit PlainAccess(bool required) : required_(required) {}

  [[nodiscard]] Value get(const void* member) const override {
    const T& x = *static_cast<const T*>(member);
    return required_ ? required_value(x) : to_value(x);
  }
  void set(const Value& value, void* member) const override {
    from_value(value, *static_cast<T*>(member));
  }

 private:
  bool required_;
};

}  // namespace

template <class T>
FieldType field_type(const FieldRule& rule) {
  return {kind_of<T>(rule), rule.whole || std::same_as<T, std::vector<int>>,
          std::make_shared<const PlainAccess<T>>(rule.required)};
}

// A field of another type asks the linker for one more line here.
template FieldType field_type<bool>(const FieldRule&);
template FieldType field_type<int>(const FieldRule&);
template FieldType field_type<std::int64_t>(const FieldRule&);
template FieldType field_type<std::uint64_t>(const FieldRule&);
template FieldType field_type<double>(const FieldRule&);
template FieldType field_type<std::string>(const FieldRule&);
template FieldType field_type<std::vector<double>>(const FieldRule&);
template FieldType field_type<std::vector<int>>(const FieldRule&);
template FieldType field_type<std::optional<int>>(const FieldRule&);
template FieldType field_type<std::optional<std::int64_t>>(const FieldRule&);
template FieldType field_type<std::optional<double>>(const FieldRule&);
template FieldType field_type<std::optional<std::string>>(const FieldRule&);

Parameter described(std::string_view name, const FieldRule& rule, std::string_view text) {
  Parameter p;
  p.name = name;
  p.required = rule.required;
  p.min = rule.min;
  p.max = rule.max;
  p.open_min = rule.open_min;
  p.operand = rule.operand;
  p.folder = rule.folder;
  p.words = rule.words;
  p.text = text;
  return p;
}

void FieldList::Field::set(const Value& value, void* request) const {
  // The request can be changed, so that its member can be.
  access->set(value, const_cast<void*>(place(request)));
}

void FieldList::add(Parameter parameter, FieldType type, Place place, const void* defaults) {
  parameter.kind = type.kind;
  parameter.whole = type.whole;
  if (!parameter.required) parameter.fallback = type.access->get(place(defaults));
  fields_.push_back({std::move(parameter), std::move(type.access), std::move(place)});
}

const FieldList::Field& FieldList::find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (field.parameter.name == name) return field;
  }
  throw std::logic_error("no field " + std::string(name));
}

Parameter& FieldList::edit(std::string_view name) {
  return const_cast<Field&>(find(name)).parameter;
}

Value FieldList::get(std::string_view name, const void* request) const {
  const Field& field = find(name);
  return field.access->get(field.place(request));
}

void FieldList::set(std::string_view name, const Value& value, void* request) const {
  find(name).set(value, request);
}

std::vector<Parameter> FieldList::parameters() const {
  std::vector<Parameter> out;
  for (const Field& field : fields_) out.push_back(field.parameter);
  return out;
}

Parameters FieldList::write(const void* request) const {
  Parameters out;
  for (const Field& field : fields_) {
    out.set(field.parameter.name, field.access->get(field.place(request)));
  }
  return out;
}

void FieldList::read(const Parameters& values, void* request) const {
  for (const Field& field : fields_) {
    const Value& value = values.values().at(field.parameter.name);
    const bool given = !std::holds_alternative<std::monostate>(value);
    if (given) field.set(value, request);
  }
}

}  // namespace onset::detail
