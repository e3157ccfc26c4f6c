#include "onset/numerics/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "numerics/expression/tape.hpp"

namespace onset::numerics {
namespace {

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

/// The message with the text below it and a mark under the place; of a long text only what is near
/// the place. Tabs and line breaks are shown as blanks, so that the mark is where it belongs.
std::string with_caret(std::string_view text, std::size_t position, const std::string& message,
                       const std::string& hint) {
  constexpr std::size_t near = 60;  // bytes on either side
  const bool is_long = text.size() > 2 * near;
  std::size_t begin = is_long && position > near ? position - near : 0;
  std::size_t end = is_long ? std::min(position + near, text.size()) : text.size();
  while (begin < position && is_continuation(text[begin])) ++begin;
  while (end < text.size() && is_continuation(text[end])) ++end;
  std::string shown(text.substr(begin, end - begin));
  std::ranges::replace_if(
      shown, [](unsigned char byte) { return std::isspace(byte) != 0; }, ' ');
  const std::string_view left_out_before = begin > 0 ? ".. " : "";
  const std::string_view left_out_after = end < text.size() ? " .." : "";
  const std::size_t indent = left_out_before.size() + letters(text.substr(begin, position - begin));
  return fmt::format("{} at column {}{}\n  {}{}{}\n  {:{}}^", message,
                     letters(text.substr(0, position)) + 1, hint, left_out_before, shown,
                     left_out_after, "", indent);
}

/// The workspace of expressions, kept by each thread; the values of node n are at slots[n] * count.
std::vector<double>& workspace(std::size_t size) {
  thread_local std::vector<double> buffer;
  if (buffer.size() < size) buffer.resize(size);
  return buffer;
}

std::vector<const double*> arguments_of(const Node& node, const std::vector<std::size_t>& slot,
                                        const double* base, std::size_t count) {
  std::vector<const double*> values;
  values.reserve(node.arguments.size());
  for (const std::size_t a : node.arguments) values.push_back(base + slot[a] * count);
  return values;
}

bool switches_at(const Node& node) {
  switch (node.operation) {
    case Operation::minimum:
    case Operation::maximum:
    case Operation::abs:
    case Operation::sign:
    case Operation::step:
    case Operation::relu: return !node.variables.empty();
    default: return false;
  }
}

/// The argument of which a node is a function that takes no value twice, if there is one.
std::optional<std::size_t> injected_argument(const Expression::Tape& tape, const Node& node) {
  std::optional<std::size_t> only;  // the place of the argument that is no number
  for (std::size_t a = 0; a < node.arguments.size(); ++a) {
    if (tape.is_constant(node.arguments[a])) continue;
    if (only) return std::nullopt;
    only = a;
  }
  if (!only) return std::nullopt;
  const auto number = [&] { return tape.nodes[node.arguments[1 - *only]].value; };
  const std::size_t argument = node.arguments[*only];
  switch (node.operation) {
    case Operation::sum:
    case Operation::negate:
    case Operation::exp:
    case Operation::log:
    case Operation::sqrt:
    case Operation::sinh:
    case Operation::tanh:
    case Operation::atan:
    case Operation::erf:
    case Operation::sigmoid:
    case Operation::softplus: return argument;
    case Operation::multiply:
    case Operation::divide: return number() != 0.0 ? std::optional(argument) : std::nullopt;
    case Operation::power: {
      if (*only == 1)
        return number() > 0.0 && number() != 1.0 ? std::optional(argument) : std::nullopt;
      const bool is_even = std::fmod(number(), 2.0) == 0.0;  // 0 and infinity are not taken either
      return !is_even && std::isfinite(number()) ? std::optional(argument) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

/// Whether such a function is odd: its even functions are even functions of the argument.
bool is_odd(const Expression::Tape& tape, const Node& node) {
  switch (node.operation) {
    case Operation::negate:
    case Operation::multiply:
    case Operation::sinh:
    case Operation::tanh:
    case Operation::atan:
    case Operation::erf: return true;
    case Operation::divide: return tape.is_constant(node.arguments[1]);
    case Operation::power:
      return tape.is_constant(node.arguments[1]) &&
             std::fmod(std::abs(tape.nodes[node.arguments[1]].value), 2.0) == 1.0;
    default: return false;
  }
}

/// Whether a node is an even function of its first argument that takes no value at two distances
/// from 0.
bool is_even(const Expression::Tape& tape, const Node& node) {
  if (node.variables.empty()) return false;
  if (node.operation == Operation::abs || node.operation == Operation::cosh) return true;
  if (node.operation != Operation::power || !tape.is_constant(node.arguments[1])) return false;
  const double exponent = tape.nodes[node.arguments[1]].value;
  return exponent != 0.0 && std::fmod(exponent, 2.0) == 0.0;
}

}  // namespace

SyntaxError::SyntaxError(std::string_view text, std::size_t position, const std::string& message,
                         const std::string& hint)
    : std::runtime_error(with_caret(text, position, message, hint)), position_(position) {}

Expression::Expression(std::string_view text, const ExpressionNames& names) {
  auto tape = std::make_shared<Tape>();
  tape->variables = names.variables.size();
  const std::size_t root = parse_expression(text, names, *tape);
  *this = Expression(std::move(tape), root);
}

Expression::Expression(std::shared_ptr<const Tape> tape, std::size_t root)
    : tape_(std::move(tape)), root_(root) {
  std::vector<bool> needed(root_ + 1, false);
  needed[root_] = true;
  std::size_t first = root_;  // of those needed, so that a small part of a large one costs little
  for (std::size_t n = root_ + 1; n-- > first;) {
    if (!needed[n]) continue;
    for (const std::size_t a : tape_->nodes[n].arguments) {
      needed[a] = true;
      first = std::min(first, a);
    }
  }
  for (std::size_t n = first; n <= root_; ++n) {
    if (!needed[n]) continue;
    order_.push_back(n);
    if (switches_at(tape_->nodes[n])) add_switches(n);
  }
  used_ = tape_->nodes[root_].variables;
}

void Expression::add_switches(std::size_t node) {
  const auto& nodes = tape_->nodes;
  if (nodes[node].arguments.size() == 2) {
    switches_.push_back({nodes[node].arguments[0], nodes[node].arguments[1]});
    return;
  }
  // No recursion: a text may be nested at will.
  std::vector<std::size_t> open{nodes[node].arguments[0]};
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    if (nodes[n].variables.empty()) continue;
    const Operation operation = nodes[n].operation;
    const bool is_product = operation == Operation::multiply || operation == Operation::divide;
    if (is_product || operation == Operation::negate) {
      open.insert(open.end(), nodes[n].arguments.rbegin(), nodes[n].arguments.rend());
      continue;
    }
    if (operation == Operation::power && tape_->is_constant(nodes[n].arguments[1])) {
      const double power = nodes[nodes[n].arguments[1]].value;
      const bool is_whole = power == std::floor(power);
      if (is_whole && std::fmod(power, 2.0) != 0.0) open.push_back(nodes[n].arguments[0]);
      if (is_whole) continue;  // an even power does not change sign
    }
    const auto is_same = [&](const Switch& other) {
      const bool are_variables =
          operation == Operation::variable && nodes[other.first].operation == operation;
      return !other.second && are_variables && nodes[other.first].index == nodes[n].index;
    };
    if (std::none_of(switches_.begin(), switches_.end(), is_same)) switches_.push_back({n});
  }
}

std::size_t Expression::variables() const {
  return tape_->variables;
}

std::vector<std::size_t> Expression::used_with_slope() const {
  std::vector<bool> seen(tape_->nodes.size(), false);
  std::vector<std::size_t> open{root_};
  std::vector<std::size_t> out;
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    const Node& node = tape_->nodes[n];
    if (node.operation == Operation::sign || node.operation == Operation::step) continue;
    if (node.operation == Operation::variable) out.push_back(node.index);
    open.insert(open.end(), node.arguments.begin(), node.arguments.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<int> Expression::degree() const {
  return tape_->degree(root_);
}

bool Expression::jumps() const {
  return std::any_of(order_.begin(), order_.end(), [&](std::size_t n) {
    const Operation operation = tape_->nodes[n].operation;
    return operation == Operation::sign || operation == Operation::step;
  });
}

bool Expression::may_be_singular() const {
  return std::any_of(order_.begin(), order_.end(), [&](std::size_t n) {
    const Node& node = tape_->nodes[n];
    switch (node.operation) {
      case Operation::divide: return !tape_->is_constant(node.arguments[1]);
      case Operation::power: return !tape_->degree(n) && !node.variables.empty();
      case Operation::sqrt:
      case Operation::log: return true;
      default: return false;
    }
  });
}

double Expression::operations() const {
  const auto of = [](const Node& node) {
    switch (node.operation) {
      case Operation::exp:
      case Operation::log:
      case Operation::sigmoid: return 5.0;  // these have vector code
      case Operation::power:
      case Operation::sin:
      case Operation::cos:
      case Operation::tan:
      case Operation::sinh:
      case Operation::cosh:
      case Operation::tanh:
      case Operation::atan:
      case Operation::erf:
      case Operation::softplus: return 25.0;
      case Operation::hermite: return 2.0 * static_cast<double>(node.index);
      default: return static_cast<double>(node.arguments.size());
    }
  };
  double sum = 0.0;
  for (const std::size_t n : order_) sum += of(tape_->nodes[n]);
  return sum;
}

double* Expression::evaluate(std::size_t count, const double* inputs,
                             std::vector<std::size_t>& slot) const {
  slot.resize(root_ + 1);
  for (std::size_t k = 0; k < order_.size(); ++k) slot[order_[k]] = k;
  double* base = workspace(order_.size() * count).data();
  for (const std::size_t n : order_) {
    const Node& node = tape_->nodes[n];
    evaluate_node(node, count, inputs, arguments_of(node, slot, base, count),
                  base + slot[n] * count);
  }
  return base;
}

void Expression::values(std::size_t count, const double* inputs, double* out) const {
  std::vector<std::size_t> slot;
  const double* base = evaluate(count, inputs, slot);
  std::copy_n(base + slot[root_] * count, count, out);
}

void Expression::switch_values(std::size_t count, const double* inputs, double* out) const {
  std::vector<std::size_t> slot;
  const double* base = evaluate(count, inputs, slot);
  for (std::size_t k = 0; k < switches_.size(); ++k) {
    std::copy_n(base + slot[switches_[k].first] * count, count, out + k * count);
    if (!switches_[k].second) continue;
    const double* second = base + slot[*switches_[k].second] * count;
    for (std::size_t i = 0; i < count; ++i) out[k * count + i] -= second[i];
  }
}

void Expression::gradient(std::size_t count, const double* inputs, double* out,
                          double* derivatives) const {
  // A node takes one slot for its value, then one for the derivative in each variable that it
  // depends on.
  std::vector<std::size_t> slot(root_ + 1);
  std::size_t slots = 0;
  for (const std::size_t n : order_) {
    slot[n] = slots;
    slots += 1 + tape_->nodes[n].variables.size();
  }
  double* base = workspace((slots + 1) * count).data();
  double* slope = base + slots * count;
  for (const std::size_t n : order_) {
    const Node& node = tape_->nodes[n];
    double* value = base + slot[n] * count;
    const auto values = arguments_of(node, slot, base, count);
    evaluate_node(node, count, inputs, values, value);
    double* own = value + count;
    std::fill_n(own, node.variables.size() * count,
                node.operation == Operation::variable ? 1.0 : 0.0);
    for (std::size_t a = 0; a < node.arguments.size(); ++a) {
      const Node& argument = tape_->nodes[node.arguments[a]];
      if (argument.variables.empty()) continue;
      differentiate_node(node, a, count, values, value, slope);
      std::size_t place = 0;
      for (std::size_t v = 0; v < argument.variables.size(); ++v) {
        while (node.variables[place] != argument.variables[v]) ++place;
        double* target = own + place * count;
        const double* inner = values[a] + (v + 1) * count;
        for (std::size_t i = 0; i < count; ++i) target[i] += slope[i] * inner[i];
      }
    }
  }
  const double* value = base + slot[root_] * count;
  std::copy_n(value, count, out);
  std::fill_n(derivatives, tape_->variables * count, 0.0);
  for (std::size_t v = 0; v < used_.size(); ++v) {
    std::copy_n(value + (v + 1) * count, count, derivatives + used_[v] * count);
  }
}

void Expression::along(std::size_t count, const double* inputs, const double* direction,
                       double* out, double* slope) const {
  // Slots: a node's value, then its derivative where it depends on a variable at all.
  std::vector<std::size_t> slot(root_ + 1);
  std::size_t slots = 0;
  for (const std::size_t n : order_) {
    slot[n] = slots;
    slots += tape_->nodes[n].variables.empty() ? 1 : 2;
  }
  double* base = workspace((slots + 1) * count).data();
  double* factor = base + slots * count;
  for (const std::size_t n : order_) {
    const Node& node = tape_->nodes[n];
    double* value = base + slot[n] * count;
    const auto values = arguments_of(node, slot, base, count);
    evaluate_node(node, count, inputs, values, value);
    if (node.variables.empty()) continue;
    double* own = value + count;
    std::fill_n(own, count,
                node.operation == Operation::variable ? direction[node.variables.front()] : 0.0);
    for (std::size_t a = 0; a < node.arguments.size(); ++a) {
      if (tape_->nodes[node.arguments[a]].variables.empty()) continue;
      differentiate_node(node, a, count, values, value, factor);
      const double* inner = values[a] + count;
      for (std::size_t i = 0; i < count; ++i) own[i] += factor[i] * inner[i];
    }
  }
  const double* value = base + slot[root_] * count;
  std::copy_n(value, count, out);
  if (used_.empty()) {
    std::fill_n(slope, count, 0.0);
  } else {
    std::copy_n(value + count, count, slope);
  }
}

Expression Expression::up_to_injections() const {
  std::size_t root = root_;
  while (const auto argument = injected_argument(*tape_, tape_->nodes[root])) root = *argument;
  const Node& even = tape_->nodes[root];
  if (!is_even(*tape_, even)) return {tape_, root};
  std::size_t inner = even.arguments[0];
  while (true) {
    const auto argument = injected_argument(*tape_, tape_->nodes[inner]);
    if (!argument || !is_odd(*tape_, tape_->nodes[inner])) break;
    inner = *argument;
  }
  if (inner == even.arguments[0]) return {tape_, root};
  auto tape = std::make_shared<Tape>(*tape_);
  std::vector<std::size_t> arguments = even.arguments;
  arguments[0] = inner;
  root = tape->add(even.operation, std::move(arguments));
  return {std::move(tape), root};
}

std::vector<Expression::Term> Expression::terms() const {
  std::vector<Term> terms;
  // What is still to be opened, the next one last. No recursion: a text may be nested at will.
  std::vector<std::pair<std::size_t, double>> open{{root_, 1.0}};
  while (!open.empty()) {
    const auto [n, factor] = open.back();
    open.pop_back();
    const Node& node = tape_->nodes[n];
    const auto constant = [&](std::size_t a) { return tape_->nodes[node.arguments[a]].value; };
    const auto fixed = [&](std::size_t a) { return tape_->is_constant(node.arguments[a]); };
    if (node.operation == Operation::sum) {
      for (std::size_t a = node.arguments.size(); a-- > 0;) {
        open.emplace_back(node.arguments[a], factor);
      }
    } else if (node.operation == Operation::negate) {
      open.emplace_back(node.arguments[0], -factor);
    } else if (node.operation == Operation::multiply && (fixed(0) || fixed(1))) {
      const std::size_t number = fixed(0) ? 0 : 1;
      open.emplace_back(node.arguments[1 - number], factor * constant(number));
    } else if (node.operation == Operation::divide && fixed(1)) {
      open.emplace_back(node.arguments[0], factor / constant(1));
    } else {
      terms.push_back({factor, Expression(tape_, n)});
    }
  }
  return terms;
}

}  // namespace onset::numerics
