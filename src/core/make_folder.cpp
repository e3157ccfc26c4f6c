#include "onset/core/make_folder.hpp"

#include <utility>

namespace onset {

Parameter make_folder(std::string name, bool operand, std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::text;
  p.required = true;
  p.operand = operand;
  p.folder = true;
  p.text = std::move(text);
  return p;
}

}  // namespace onset
