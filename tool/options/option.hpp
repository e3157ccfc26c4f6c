#pragma once

#include <string>
#include <utility>

#include "onset/core/parameters.hpp"

namespace onset::tool {

/// An option of the command itself; ranges and words are set by whoever wants them.
[[nodiscard]] inline Parameter option(std::string name, ParameterKind kind, Value fallback,
                                      std::string text) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = kind;
  parameter.fallback = std::move(fallback);
  parameter.text = std::move(text);
  return parameter;
}

}  // namespace onset::tool
