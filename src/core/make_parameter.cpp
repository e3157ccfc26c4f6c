#include "onset/core/make_parameter.hpp"

#include <utility>

namespace onset {

Parameter make_parameter(std::string name, ParameterKind kind, Value fallback, double min,
                         double max, std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = kind;
  p.fallback = std::move(fallback);
  p.min = min;
  p.max = max;
  p.text = std::move(text);
  return p;
}

Parameter make_word(std::string name, std::vector<std::string> words, std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::word;
  p.fallback = words.front();
  p.words = std::move(words);
  p.text = std::move(text);
  return p;
}

}  // namespace onset
