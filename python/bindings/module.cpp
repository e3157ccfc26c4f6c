// The module onset._onset: the catalogue, runs, studies and figures as plain Python values. The
// files of python/onset make what users see from them; no verb is named here.

#include <pybind11/pybind11.h>

#include "answer.hpp"
#include "catalogue.hpp"
#include "figures.hpp"
#include "onset/core/error.hpp"
#include "onset/version.hpp"
#include "own_link.hpp"
#include "studies.hpp"

PYBIND11_MODULE(_onset, module) {
  namespace python = onset::python;
  module.attr("version") = std::string(onset::version());
  pybind11::register_exception<onset::InvalidArgument>(module, "InvalidArgument", PyExc_ValueError);
  pybind11::register_exception<onset::IoError>(module, "IoError", PyExc_OSError);
  python::add_answer(module);
  python::add_own_link(module);
  python::add_catalogue(module);
  python::add_studies(module);
  python::add_figures(module);
}
