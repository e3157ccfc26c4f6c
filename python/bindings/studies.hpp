#pragma once

#include "values.hpp"

namespace onset::python {

/// Adds studies and their stores to the module.
void add_studies(py::module_& module);

}  // namespace onset::python
