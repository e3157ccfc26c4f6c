#pragma once

#include "core/fields.hpp"
#include "core/prose.hpp"
#include "onset/mha/model/inputs.hpp"

/// The fields with which requests name the folders that they read.
namespace onset::mha {

template <class Request>
[[nodiscard]] Fields<Request> examples_field() {
  Fields<Request> fields;
  fields.add("examples", &Request::examples, {.required = true, .operand = true, .folder = true},
             "Folder with X.npy and Y.npy.");
  return fields;
}

/// Examples whose inputs may be of either kind; what was learned from them remembers which.
template <class Request>
[[nodiscard]] Fields<Request> examples_and_inputs_fields() {
  Fields<Request> fields = examples_field<Request>();
  fields.add_word("inputs", &Request::inputs, std::vector{Inputs::boolean, Inputs::gaussian},
                  prose(R"(
      Entries of X.npy: 1 and -1, or real numbers, as of standard normal tokens. If not given,
      what manifest.json of mha generate says; boolean without one.)"));
  return fields;
}

template <class Request>
[[nodiscard]] Fields<Request> model_fields() {
  Fields<Request> fields = examples_field<Request>();
  fields.add("model", &Request::model, {.required = true, .folder = true},
             "Folder that mha learn wrote.");
  return fields;
}

}  // namespace onset::mha
