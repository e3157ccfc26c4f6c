#include "numerics/expression/tape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace onset::numerics {
namespace {

constexpr std::array<std::pair<std::string_view, Operation>, 17> unary_functions = {{
    {"exp", Operation::exp},
    {"log", Operation::log},
    {"sqrt", Operation::sqrt},
    {"sin", Operation::sin},
    {"cos", Operation::cos},
    {"tan", Operation::tan},
    {"sinh", Operation::sinh},
    {"cosh", Operation::cosh},
    {"tanh", Operation::tanh},
    {"atan", Operation::atan},
    {"erf", Operation::erf},
    {"sigmoid", Operation::sigmoid},
    {"softplus", Operation::softplus},
    {"abs", Operation::abs},
    {"sign", Operation::sign},
    {"step", Operation::step},
    {"relu", Operation::relu},
}};

std::vector<std::size_t> joined(const std::vector<Node>& nodes,
                                const std::vector<std::size_t>& arguments) {
  std::vector<std::size_t> all;
  for (const std::size_t a : arguments) {
    std::vector<std::size_t> next;
    std::set_union(all.begin(), all.end(), nodes[a].variables.begin(), nodes[a].variables.end(),
                   std::back_inserter(next));
    all = std::move(next);
  }
  return all;
}

}  // namespace

std::optional<Operation> unary_operation(std::string_view name) {
  for (const auto& [word, operation] : unary_functions) {
    if (word == name) return operation;
  }
  return std::nullopt;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names{"sum", "mean", "prod", "min", "max", "He2", "h2"};
  for (const auto& entry : unary_functions) names.emplace_back(entry.first);
  return names;
}

std::size_t Expression::Tape::push(Node node) {
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

std::size_t Expression::Tape::add_constant(double value) {
  return push({Operation::constant, {}, value, 0, {}});
}

std::size_t Expression::Tape::add_variable(std::size_t index) {
  return push({Operation::variable, {}, 0.0, index, {index}});
}

std::size_t Expression::Tape::add_hermite(std::size_t order, double scale, std::size_t argument) {
  Node node{Operation::hermite, {argument}, scale, order, nodes[argument].variables};
  if (!is_constant(argument)) return push(std::move(node));
  double value = 0.0;
  evaluate_node(node, 1, nullptr, {&nodes[argument].value}, &value);
  return add_constant(value);
}

std::size_t Expression::Tape::add(Operation operation, std::vector<std::size_t> arguments) {
  std::vector<const double*> values;
  bool constant = true;
  for (const std::size_t a : arguments) {
    constant = constant && is_constant(a);
    values.push_back(&nodes[a].value);
  }
  std::vector<std::size_t> used = joined(nodes, arguments);
  Node node{operation, std::move(arguments), 0.0, 0, std::move(used)};
  if (!constant) return push(std::move(node));
  double value = 0.0;
  evaluate_node(node, 1, nullptr, values, &value);
  return add_constant(value);
}

namespace {

/// Polynomials of a higher degree are not taken for polynomials: nothing integrates them exactly.
constexpr double max_degree = 1e6;

/// The degree of what is no polynomial.
constexpr double none = std::numeric_limits<double>::infinity();

/// From the degrees of its arguments, all of them polynomials.
double degree_of(const Node& node, const std::vector<Node>& nodes,
                 const std::vector<double>& degrees) {
  const auto degree = [&](std::size_t a) { return degrees[node.arguments[a]]; };
  const auto is_constant = [&](std::size_t a) {
    return nodes[node.arguments[a]].operation == Operation::constant;
  };
  switch (node.operation) {
    case Operation::constant: return 0.0;
    case Operation::variable: return 1.0;
    case Operation::sum: {
      double largest = 0.0;
      for (const std::size_t a : node.arguments) largest = std::max(largest, degrees[a]);
      return largest;
    }
    case Operation::negate: return degree(0);
    case Operation::multiply: return degree(0) + degree(1);
    case Operation::hermite: return degree(0) * static_cast<double>(node.index);
    case Operation::divide: return is_constant(1) ? degree(0) : none;
    case Operation::power: {
      if (!is_constant(1)) return none;
      const double p = nodes[node.arguments[1]].value;
      return p == std::floor(p) && p >= 0.0 ? p * degree(0) : none;
    }
    default: return none;
  }
}

}  // namespace

std::optional<int> Expression::Tape::degree(std::size_t root) const {
  // Arguments come before what is made of them, so that no recursion is needed.
  std::vector<double> degrees(root + 1);
  for (std::size_t n = 0; n <= root; ++n) {
    const auto& arguments = nodes[n].arguments;
    const bool of_polynomials = std::all_of(arguments.begin(), arguments.end(),
                                            [&](std::size_t a) { return degrees[a] != none; });
    const double degree = of_polynomials ? degree_of(nodes[n], nodes, degrees) : none;
    degrees[n] = degree <= max_degree ? degree : none;
  }
  if (degrees[root] == none) return std::nullopt;
  return static_cast<int>(degrees[root]);
}

}  // namespace onset::numerics
