#pragma once

#include "core/fields.hpp"

/// The fields with which requests name the folders that they read.
namespace onset::mha {

template <class Request>
[[nodiscard]] Fields<Request> examples_field() {
  Fields<Request> fields;
  fields.add("examples", &Request::examples, {.required = true, .operand = true, .folder = true},
             "Folder with X.npy and Y.npy.");
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
