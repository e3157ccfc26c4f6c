#include "values.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "core/field_names.hpp"
#include "onset/core/error.hpp"

namespace onset::python {

Value to_value(const std::string& field, const py::handle& object) {
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>();
  if (py::isinstance<py::int_>(object)) return object.cast<std::int64_t>();
  if (py::isinstance<py::float_>(object)) return object.cast<double>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  try {
    return object.cast<std::vector<double>>();
  } catch (const py::cast_error&) {
    throw InvalidArgument(field,
                          "cannot be read; allowed: a number, a text, a truth, a list of numbers");
  }
}

std::map<std::string, Value> to_values(const py::dict& given) {
  std::map<std::string, Value> values;
  for (const auto& [key, value] : given) {
    const auto field = key.cast<std::string>();
    values[parameter_name(field)] = to_value(field, value);
  }
  return values;
}

py::object to_python(const Value& value) {
  return std::visit(
      [](const auto& x) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) {
          return py::none();
        } else {
          return py::cast(x);
        }
      },
      value);
}

py::object to_python(const Cell& cell) {
  return std::visit(
      [](const auto& x) -> py::object {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return py::none();
        } else if constexpr (std::is_same_v<T, Estimate>) {
          return py::make_tuple(x.value, x.error);
        } else {
          return py::cast(x);
        }
      },
      cell);
}

py::list to_python(const std::vector<Column>& columns) {
  py::list out;
  for (const Column& column : columns) {
    out.append(py::make_tuple(column.name, column.meaning, column.unit, column.estimate));
  }
  return out;
}

py::dict to_python(const Table& table) {
  py::list rows;
  for (const auto& row : table.rows()) {
    py::list cells;
    for (const Cell& cell : row) cells.append(to_python(cell));
    rows.append(std::move(cells));
  }
  py::dict out;
  out["columns"] = to_python(table.columns());
  out["rows"] = rows;
  return out;
}

py::object to_python(const Artifact& artifact) {
  if (const auto* array = std::get_if<Array>(&artifact.content)) {
    return std::visit(
        [&](const auto& values) -> py::object {
          using T = typename std::decay_t<decltype(values)>::value_type;
          return py::array_t<T>(array->shape, values.data());
        },
        array->values);
  }
  if (const auto* table = std::get_if<Table>(&artifact.content)) return to_python(*table);
  return py::cast(std::get<std::string>(artifact.content));
}

py::dict to_python(const Parameters& parameters) {
  py::dict out;
  for (const auto& [name, value] : parameters.values()) {
    out[py::cast(field_name(name))] = to_python(value);
  }
  return out;
}

}  // namespace onset::python
