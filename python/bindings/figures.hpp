#pragma once

#include "values.hpp"

namespace onset::python {

/// Adds figures to the module.
void add_figures(py::module_& module);

}  // namespace onset::python
