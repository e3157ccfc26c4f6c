#pragma once

#include "values.hpp"

namespace onset::python {

/// Adds verbs(), the catalogue as plain values, and run() and explain() of a verb.
void add_catalogue(py::module_& module);

}  // namespace onset::python
