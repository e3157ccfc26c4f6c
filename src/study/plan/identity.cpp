#include <fmt/format.h>

#include "onset/study/study.hpp"
#include "study/store/sha256.hpp"

namespace onset::study {
namespace {

constexpr std::size_t key_digits = 32;

/// Writes a number so that -0.0 and 0.0 are the same.
std::string canonical(double x) {
  return fmt::format("{}", x == 0.0 ? 0.0 : x);
}

/// A letter for the kind and a text that no other value of that kind has.
std::string canonical(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool flag) const { return flag ? "b1" : "b0"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("i{}", whole); }
    std::string operator()(double real) const { return "r" + canonical(real); }
    std::string operator()(const std::vector<double>& list) const {
      std::string out = "l";
      for (const double x : list) out += canonical(x) + ",";
      return out;
    }
    // The length is included, so that no text can look like the beginning of the next parameter.
    std::string operator()(const std::string& text) const {
      return fmt::format("t{}:{}", text.size(), text);
    }
  };
  return std::visit(Writer{}, value);
}

}  // namespace

std::string identity(const Verb& verb, const Parameters& parameters) {
  std::string text = fmt::format("{}\nmethod {}\n", verb.full_name(), verb.method);
  for (const auto& [name, value] : parameters.values()) {
    // Parameters without a value are left out, so that a verb may get another option without losing
    // its old results.
    if (std::holds_alternative<std::monostate>(value)) continue;
    text += fmt::format("{}={}\n", name, canonical(value));
  }
  return sha256(text).substr(0, key_digits);
}

}  // namespace onset::study
