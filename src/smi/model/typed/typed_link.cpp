#include "smi/model/typed/typed_link.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <set>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/model/typed/link_probe.hpp"
#include "smi/model/typed/normal_form.hpp"

namespace onset::smi {
namespace {

/// Reading a text takes longer than its length, and nobody types a longer one.
constexpr std::size_t longest_text = 4096;
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
  if (name.first > max_index || name.second > max_index) {
    complain(fmt::format("has a field {}.. with a number above {}; allowed: 1 to {}", name.letter,
                         max_index, max_index));
  }
  const std::string text = text_of(name);
  if (name.letter == 'e') {
    if (name.second > 0) complain(text + " has two numbers; noise fields are e1, e2, ..");
  } else if (has_tokens && name.second == 0) {
    complain(fmt::format(
        "{0} does not say its token, as others do: write {0}_1, {0}_2, .. (direction_token)",
        text));
  }
}

/// An output of the text: where it begins, and how long it is.
struct Part {
  std::size_t begin;
  std::size_t size;
};

/// The outputs, parted by commas outside of parentheses: those inside part arguments.
std::vector<Part> outputs_in(std::string_view text) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : (text[at] == ')' ? -1 : 0);
    if (text[at] != ',' || depth != 0) continue;
    parts.push_back({begin, at - begin});
    begin = at + 1;
  }
  parts.push_back({begin, text.size() - begin});
  return parts;
}

/// The text with blanks in place of the other outputs: places of mistakes stay what they are.
std::string alone(std::string_view text, const Part& part) {
  std::string out(text.size(), ' ');
  text.copy(out.data() + part.begin, part.size, part.begin);
  return out.substr(0, part.begin + part.size);
}

/// Reads one output. A mistake is shown in the whole text.
numerics::Expression read_output(std::string_view text, const Part& part,
                                 const numerics::ExpressionNames& names) {
  const std::string own = alone(text, part);
  try {
    return numerics::Expression(own, names);
  } catch (const numerics::SyntaxError& error) {
    std::string message = error.what();
    // The line of the message that shows the text: all of it is shown, whichever output is meant.
    const std::string line = fmt::format("\n  {}\n", own);
    const std::size_t shown = message.find(line);
    if (shown != std::string::npos)
      message.replace(shown, line.size(), fmt::format("\n  {}\n", text));
    complain(message +
             "\n  Fields are z1, z2, .. or, with tokens, z1_1, z1_2, .. (direction_token); noise "
             "fields are e1, e2, ..");
  }
}

/// What is offered of links of several outputs: the reason where it is not. A posterior looks for
/// common roots in slices, those of every set of as many fields as there are equations: six sets
/// with 530 slices of 37^2 points for two equations in four fields, and four with 26 of 37^3 for
/// three, twice; with three fields 3 sets of 26 slices, and one of one.
void refuse_outputs(std::size_t fields, std::size_t rank) {
  if (rank < 2 || fields < max_typed_fields) return;
  throw Refused(fmt::format(
      "the link has {} outputs with a density of {} fields together, noise included: one posterior "
      "would take about {} million values of the link, {} times as many as with {} fields, and a "
      "first threshold thousands of posteriors; allowed: up to {} fields",
      rank, fields, rank == 2 ? 9 : 11, rank == 2 ? 40 : 100, max_typed_fields - 1,
      max_typed_fields - 1));
}

}  // namespace

std::size_t TypedLabel::rank() const {
  return static_cast<std::size_t>(std::popcount(density));
}

TypedLink::TypedLink(std::string_view text, double noise) {
  if (text.size() > longest_text) {
    throw Refused(fmt::format("the link has {} characters; at most {} are offered", text.size(),
                              longest_text));
  }
  const std::vector<Part> parts = outputs_in(text);
  if (parts.size() > max_outputs) {
    throw Refused(
        fmt::format("the link has {} outputs; at most {} are offered", parts.size(), max_outputs));
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
  numerics::ExpressionNames known;
  known.are_all = false;
  const auto read_all = [&] {
    // A text without fields is read all the same, for the mistakes that it may have besides.
    if (known.variables.empty()) known.variables.emplace_back("z1");
    for (const Part& part : parts) expressions_.push_back(read_output(text, part, known));
  };
  if (noise > 0.0) {
    // The text by itself first, so that a caret points into what was typed.
    for (const Name& name : names) known.variables.push_back(text_of(name));
    read_all();
    expressions_.clear();
    known.variables.clear();
    for (std::size_t k = 0; k < parts.size(); ++k) names.insert({'e', noises + 1 + k, 0});
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
  if (noise > 0.0) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      expressions_.emplace_back(
          fmt::format("({})+{:.17g}*e{}", text.substr(parts[k].begin, parts[k].size), noise,
                      noises + 1 + k),
          known);
    }
  } else {
    read_all();
  }
  if (directions_ == 0) complain("depends on no field; allowed: an expression of z1, z2, ..");
  std::set<std::size_t> used;
  for (const numerics::Expression& one : expressions_) {
    used.insert(one.used().begin(), one.used().end());
  }
  if (used.size() < fields_.size()) {
    complain("some field of " + std::string(text) + " cancels; leave it out");
  }
  if (fields_.size() > max_typed_fields) {
    throw Refused("the link has " + std::to_string(fields_.size()) +
                  " fields, noise included; its posterior is an integral over them that is " +
                  "accurate up to " + std::to_string(max_typed_fields));
  }
  look_for_switches();
  if (switches() > max_switches) {
    throw Refused("the link has " + std::to_string(switches()) +
                  " kinks and jumps (abs, sign, step, relu, min, max); at most " +
                  std::to_string(max_switches) + " are offered");
  }
  names_ = known.variables;
  look_for_atoms();
  refuse_outputs(fields_.size(), max_rank());
}

TypedLink TypedLink::up_to_injections() const {
  TypedLink link = *this;
  for (numerics::Expression& one : link.expressions_) one = one.up_to_injections();
  link.switches_.clear();
  link.look_for_switches();
  try {
    link.look_for_atoms();
  } catch (const Refused&) {
    return *this;  // atan(z1^400): finite, and without the outer function it is not
  }
  return link;
}

void TypedLink::values(std::size_t count, const double* inputs, double* out) const {
  for (const numerics::Expression& one : expressions_) {
    one.values(count, inputs, out);
    out += count;
  }
}
void TypedLink::gradient(std::size_t count, const double* inputs, double* out,
                         double* derivatives) const {
  for (const numerics::Expression& one : expressions_) {
    one.gradient(count, inputs, out, derivatives);
    out += count;
    derivatives += fields_.size() * count;
  }
}
void TypedLink::along(std::size_t output, std::size_t count, const double* inputs,
                      const double* direction, double* out, double* slope) const {
  expressions_[output].along(count, inputs, direction, out, slope);
}
void TypedLink::switch_values(std::size_t count, const double* inputs, double* out) const {
  if (expressions_.size() == 1) {
    expressions_.front().switch_values(count, inputs, out);
    return;
  }
  std::vector<double> own;
  std::size_t next = 0;
  for (std::size_t k = 0; k < expressions_.size(); ++k) {
    own.resize(expressions_[k].switches() * count);
    if (!own.empty()) expressions_[k].switch_values(count, inputs, own.data());
    for (; next < switches_.size() && switches_[next].output == k; ++next) {
      std::copy_n(own.data() + switches_[next].index * count, count, out + next * count);
    }
  }
}

std::size_t TypedLink::max_rank() const {
  return static_cast<std::size_t>(std::popcount(densities_.back()));
}

double TypedLink::seconds() const {
  double operations = 0.0;
  for (const numerics::Expression& one : expressions_) operations += one.operations();
  return 3e-10 * operations + 3e-8 * static_cast<double>(expressions_.size());
}

std::vector<std::size_t> TypedLink::fields_with_slope() const {
  std::set<std::size_t> out;
  for (const numerics::Expression& one : expressions_) {
    const std::vector<std::size_t> own = one.used_with_slope();
    out.insert(own.begin(), own.end());
  }
  return {out.begin(), out.end()};
}

bool TypedLink::is_flat(const double* gradient, std::size_t size) {
  return std::all_of(gradient, gradient + size, [](double d) { return d == 0.0; });
}

bool TypedLink::same_atom(double a, double b) {
  // Rounding makes 0.1 + 0.2 of one piece differ from 0.3 of another.
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

bool TypedLink::has_atoms_of(const TypedLabel& label, const double* value,
                             std::size_t stride) const {
  for (std::size_t k = 0; k < outputs(); ++k) {
    const bool is_solved = ((label.density >> k) & 1U) != 0;
    if (!is_solved && !same_atom(value[k * stride], label.value[k])) return false;
  }
  return true;
}

bool TypedLink::same_label(const TypedLabel& a, const TypedLabel& b) const {
  for (std::size_t k = 0; k < outputs(); ++k) {
    if (!same_atom(a.value[k], b.value[k])) return false;
  }
  return true;
}

/// Lines are scanned for changes of sign at some distance, that of line_options(), beyond which
/// they would be missed. Where a link is smooth its slopes tell.
void TypedLink::refuse_dense_switches() const {
  if (switches() == 0) return;
  constexpr std::size_t lines = 16, points = 4096;
  constexpr double reach = 6.0;
  constexpr std::size_t most_of_one_field = 200, most_of_more = 48;
  const std::size_t most = fields_.size() == 1 ? most_of_one_field : most_of_more;
  const std::size_t rows = fields_.size();
  numerics::Stream stream(1, "lines across switches");
  std::vector<double> direction(rows), inputs(rows * points), sides(switches() * points);
  std::vector<double> place(points);
  for (std::size_t line = 0; line < lines; ++line) {
    // The axes first.
    if (line < rows) {
      direction.assign(rows, 0.0);
      direction[line] = 1.0;
    } else {
      stream.normal(direction);
    }
    double squared = 0.0;
    for (const double x : direction) squared += x * x;
    // A place anywhere in each step: no frequency looks slow at all of them.
    stream.uniform(place);
    for (std::size_t i = 0; i < points; ++i) {
      const double t = reach * (2.0 * (static_cast<double>(i) + place[i]) / points - 1.0);
      for (std::size_t f = 0; f < rows; ++f) {
        inputs[f * points + i] = t * direction[f] / std::sqrt(squared);
      }
    }
    switch_values(points, inputs.data(), sides.data());
    for (std::size_t s = 0; s < switches(); ++s) {
      const double* side = sides.data() + s * points;
      std::size_t changes = 0;
      for (std::size_t i = 1; i < points; ++i) changes += (side[i] > 0.0) != (side[i - 1] > 0.0);
      if (changes <= most) continue;
      throw Refused(fmt::format(
          "a kink or jump of the link occurs {} times along a line; at most {} times are offered",
          changes, most));
    }
  }
}

/// Outputs often share a switch, as relu(z1) and relu(z1)*z2 do: it counts once.
void TypedLink::look_for_switches() {
  may_be_singular_ =
      std::any_of(expressions_.begin(), expressions_.end(),
                  [](const numerics::Expression& one) { return one.may_be_singular(); });
  constexpr std::size_t count = 64;
  std::vector<double> inputs(fields_.size() * count);
  numerics::Stream(1, "switches of outputs").normal(inputs);
  std::vector<std::vector<double>> kept;
  for (std::size_t k = 0; k < expressions_.size(); ++k) {
    const std::size_t before = kept.size();
    std::vector<double> own(expressions_[k].switches() * count);
    if (!own.empty()) expressions_[k].switch_values(count, inputs.data(), own.data());
    for (std::size_t s = 0; s < expressions_[k].switches(); ++s) {
      const std::vector<double> values(own.begin() + static_cast<std::ptrdiff_t>(s * count),
                                       own.begin() + static_cast<std::ptrdiff_t>((s + 1) * count));
      const auto end = kept.begin() + static_cast<std::ptrdiff_t>(before);
      if (std::find(kept.begin(), end, values) != end) continue;
      kept.push_back(values);
      switches_.push_back({k, s});
    }
  }
}

void TypedLink::look_for_atoms() {
  constexpr std::size_t count = 8192;
  const std::size_t size = fields_.size();
  const std::vector<double> inputs = probe_fields(size, count, "typed link");
  std::vector<double> value(outputs() * count);
  std::vector<double> slopes(outputs() * size * count);
  gradient(count, inputs.data(), value.data(), slopes.data());
  const auto n = static_cast<Eigen::Index>(size);
  const NormalForm plain{FieldVector::Zero(n), FieldMatrix::Identity(n, n)};
  std::vector<double> one(outputs() * size);
  std::set<unsigned> sets;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < one.size(); ++f) one[f] = slopes[f * count + i];
    bool is_finite = true;
    for (std::size_t k = 0; k < outputs(); ++k) {
      if (std::isfinite(value[k * count + i])) continue;
      is_finite = false;
      if (!is_typical_probe(i)) continue;
      std::vector<std::string> place;
      for (std::size_t f = 0; f < size; ++f) {
        place.push_back(fmt::format("{} = {:.2f}", names_[f], inputs[f * count + i]));
      }
      throw Refused(fmt::format("the link is {} at {}; allowed: labels that are finite numbers",
                                std::isnan(value[k * count + i]) ? "no number" : "infinite",
                                fmt::join(place, ", ")));
    }
    if (is_finite) sets.insert(plain.independent_outputs(one.data(), outputs()));
  }
  for (std::size_t k = 0; k < outputs(); ++k) {
    const double* own = value.data() + k * count;
    // The first point is a typical one, where labels are finite.
    if (!std::all_of(own, own + count, [&](double v) { return same_atom(v, *own); })) continue;
    complain(outputs() == 1 ? "is the same number for all fields: it depends on none of them"
                            : fmt::format("has an output, number {}, that is the same number for "
                                          "all fields; leave it out",
                                          k + 1));
  }
  densities_.assign(sets.begin(), sets.end());
  std::stable_sort(densities_.begin(), densities_.end(),
                   [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
  has_atoms_ = densities_.front() == 0;
  is_discrete_ = densities_.back() == 0;
}

}  // namespace onset::smi
