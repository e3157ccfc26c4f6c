#include "smi/model/typed/typed_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

constexpr std::size_t max_switches = 6;
constexpr std::size_t max_index = 64;

/// A name of the text: its letter and its one or two numbers, as in z2_1.
struct Name {
  char letter = 0;
  std::size_t first = 0;
  std::size_t second = 0;  ///< 0: none
  friend auto operator<=>(const Name&, const Name&) = default;
};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t read_index(std::string_view text, std::size_t& at) {
  std::size_t index = 0;
  while (at < text.size() && is_digit(text[at])) {
    index = std::min(max_index + 1, 10 * index + static_cast<std::size_t>(text[at] - '0'));
    ++at;
  }
  return index;
}

/// The names of fields in the text. What else it says is left to the parser.
std::set<Name> names_in(std::string_view text) {
  std::set<Name> names;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_digit(text[at]) || text[at] == '.') {
      // A number, with its exponent: 2e1 is no field.
      while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
      if (at + 1 < text.size() && text[at] == 'e' && is_digit(text[at + 1])) {
        ++at;
        (void)read_index(text, at);
      }
      continue;
    }
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    Name name{text[at++], 0, 0};
    name.first = read_index(text, at);
    if (at < text.size() && text[at] == '_') {
      ++at;
      name.second = read_index(text, at);
    }
    const bool ends = at == text.size() || (!is_letter(text[at]) && !is_digit(text[at]));
    if (ends && name.first > 0 && (name.letter == 'z' || name.letter == 'e')) {
      names.insert(name);
    } else {
      at = std::max(at, begin + 1);
      while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) ++at;
    }
  }
  return names;
}

std::string text_of(const Name& name) {
  return name.second > 0 ? fmt::format("{}{}_{}", name.letter, name.first, name.second)
                         : fmt::format("{}{}", name.letter, name.first);
}

[[noreturn]] void complain(const std::string& message) {
  throw InvalidArgument("link", message);
}

void check_name(const Name& name, bool has_tokens) {
  const std::string text = text_of(name);
  if (name.first > max_index || name.second > max_index) {
    complain(fmt::format("{} has an index above {}", text, max_index));
  }
  if (name.letter == 'e') {
    if (name.second > 0) complain(text + " has two numbers; noise fields are e1, e2, ..");
  } else if (has_tokens && name.second == 0) {
    complain(fmt::format(
        "{0} does not say its token, as others do: write {0}_1, {0}_2, .. (direction_token)",
        text));
  }
}

/// Whether a comma parts outputs: those inside parentheses part arguments.
bool has_several_outputs(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (c == ',' && depth == 0) return true;
  }
  return false;
}

}  // namespace

TypedLink::TypedLink(std::string_view text, double noise) {
  if (has_several_outputs(text)) {
    throw Refused(
        "the link has several outputs, of which the posterior is not offered; one output is");
  }
  std::set<Name> names = names_in(text);
  const bool has_tokens = std::any_of(names.begin(), names.end(), [](const Name& name) {
    return name.letter == 'z' && name.second > 0;
  });
  std::size_t noises = 0;
  for (const Name& name : names) {
    check_name(name, has_tokens);
    if (name.letter == 'e') noises = std::max(noises, name.first);
  }
  std::string whole(text);
  numerics::ExpressionNames known;
  try {
    if (noise > 0.0) {
      // The text by itself first, so that a caret points into what was typed.
      for (const Name& name : names) known.variables.push_back(text_of(name));
      (void)numerics::Expression(text, known);
      known.variables.clear();
      const Name added{'e', noises + 1, 0};
      names.insert(added);
      whole = fmt::format("({})+{:.17g}*{}", text, noise, text_of(added));
    }
    for (const Name& name : names) {
      known.variables.push_back(text_of(name));
      TypedField field;
      if (name.letter == 'z') {
        field.direction = name.first - 1;
        field.token = name.second > 0 ? name.second - 1 : 0;
        directions_ = std::max(directions_, name.first);
        tokens_ = std::max(tokens_, field.token + 1);
      }
      fields_.push_back(field);
    }
    // A text without fields is read all the same, for the mistakes that it may have besides.
    if (known.variables.empty()) known.variables.emplace_back("z1");
    expression_.emplace(whole, known);
  } catch (const numerics::SyntaxError& error) {
    complain(std::string(error.what()) +
             "\n  Fields are z1, z2, .. or, with tokens, z1_1, z1_2, .. (direction_token); noise "
             "fields are e1, e2, ..");
  }
  if (directions_ == 0) complain("depends on no field z1, z2, ..");
  if (expression_->used().size() < fields_.size()) {
    complain("some field of " + std::string(text) + " cancels; leave it out");
  }
  if (fields_.size() > max_typed_fields) {
    throw Refused("the link has " + std::to_string(fields_.size()) +
                  " fields, noise included; its posterior is an integral over them that is " +
                  "accurate up to " + std::to_string(max_typed_fields));
  }
  if (switches() > max_switches) {
    throw Refused("the link has " + std::to_string(switches()) +
                  " kinks and jumps (abs, sign, step, relu, min, max); at most " +
                  std::to_string(max_switches) + " are offered");
  }
  look_for_atoms();
}

void TypedLink::values(std::size_t count, const double* inputs, double* out) const {
  expression_->values(count, inputs, out);
}
void TypedLink::gradient(std::size_t count, const double* inputs, double* out,
                         double* derivatives) const {
  expression_->gradient(count, inputs, out, derivatives);
}
void TypedLink::along(std::size_t count, const double* inputs, const double* direction, double* out,
                      double* slope) const {
  expression_->along(count, inputs, direction, out, slope);
}
void TypedLink::switch_values(std::size_t count, const double* inputs, double* out) const {
  expression_->switch_values(count, inputs, out);
}

bool TypedLink::is_flat(const double* gradient, std::size_t size) {
  return std::all_of(gradient, gradient + size, [](double d) { return d == 0.0; });
}

bool TypedLink::same_atom(double a, double b) {
  // Rounding makes 0.1 + 0.2 of one piece differ from 0.3 of another.
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

void TypedLink::look_for_atoms() {
  constexpr std::size_t count = 4096;
  const std::size_t size = fields_.size();
  std::vector<double> inputs(size * count);
  numerics::Stream(1, "typed link").normal(inputs);
  std::vector<double> value(count);
  std::vector<double> slopes(size * count);
  gradient(count, inputs.data(), value.data(), slopes.data());
  std::vector<double> one(size);
  std::size_t flat = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < size; ++f) one[f] = slopes[f * count + i];
    if (!std::isfinite(value[i])) {
      throw Refused("the link is not finite at a random point: its label is no number there");
    }
    if (is_flat(one.data(), size)) ++flat;
  }
  const bool is_constant = std::all_of(value.begin(), value.end(),
                                       [&](double v) { return same_atom(v, value.front()); });
  if (is_constant) complain("is the same number for all fields: it depends on none of them");
  has_atoms_ = flat > 0;
  is_discrete_ = flat == count;
}

}  // namespace onset::smi
