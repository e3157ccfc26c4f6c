#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>

#include "onset/core/verb.hpp"

/// Onset's values as plain ones of Python, and back.
namespace onset::python {

namespace py = pybind11;

/// The value of a field; throws InvalidArgument naming it.
[[nodiscard]] Value to_value(const std::string& field, const py::handle& object);
/// What a call gives, by the names that parameters have in the catalogue.
[[nodiscard]] std::map<std::string, Value> to_values(const py::dict& given);

[[nodiscard]] py::object to_python(const Value& value);
/// An estimate becomes a pair (value, error).
[[nodiscard]] py::object to_python(const Cell& cell);
/// Columns as (name, meaning, unit, whether it has errors).
[[nodiscard]] py::list to_python(const std::vector<Column>& columns);
[[nodiscard]] py::dict to_python(const Table& table);
[[nodiscard]] py::object to_python(const Artifact& artifact);
/// The fields of a call, by their names in Python.
[[nodiscard]] py::dict to_python(const Parameters& parameters);

}  // namespace onset::python
