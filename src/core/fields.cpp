#include "core/fields.hpp"

namespace onset::detail {

Parameter described(std::string_view name, const FieldRule& rule, std::string_view text) {
  Parameter p;
  p.name = name;
  p.required = rule.required;
  p.min = rule.min;
  p.max = rule.max;
  p.open_min = rule.open_min;
  p.operand = rule.operand;
  p.folder = rule.folder;
  p.words = rule.words;
  p.text = text;
  return p;
}

}  // namespace onset::detail
