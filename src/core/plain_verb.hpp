#pragma once

#include "onset/core/verb.hpp"

namespace onset {

/// A verb that reads its parameters by name.
struct PlainVerb {
  std::string family;
  std::string name;
  std::string summary;
  std::string details;
  std::vector<Parameter> parameters;
  std::vector<Column> columns;
  std::string primary;
  double default_tol = 0.0;
  bool needs_folder = false;
  std::function<void(Parameters&)> read_files;
  std::function<double(const Parameters&)> tol_for;
  int method = 1;
  std::vector<std::string> examples;
  std::function<Cost(const Parameters&)> cost;
  std::function<Result(const Parameters&, const Context&)> run;
};

[[nodiscard]] Verb to_verb(PlainVerb verb);

}  // namespace onset
