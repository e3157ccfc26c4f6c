#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "onset/numerics/expression.hpp"

namespace onset::numerics {

enum class Operation {
  constant,
  variable,
  sum,
  negate,
  multiply,
  divide,
  power,
  minimum,
  maximum,
  hermite,
  exp,
  log,
  sqrt,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  atan,
  erf,
  sigmoid,
  softplus,
  abs,
  sign,
  step,
  relu,
};

/// One step of the computation; its arguments are earlier nodes.
struct Node {
  Operation operation = Operation::constant;
  std::vector<std::size_t> arguments;
  double value = 0.0;     ///< the value of a constant, or the scale of a Hermite polynomial
  std::size_t index = 0;  ///< the number of a variable, or the order of a Hermite polynomial
  std::vector<std::size_t> variables;  ///< the variables that it depends on, increasing
};

struct Expression::Tape {
  std::size_t variables = 0;
  std::vector<Node> nodes;

  std::size_t add_constant(double value);
  std::size_t add_variable(std::size_t index);
  std::size_t add_hermite(std::size_t order, double scale, std::size_t argument);
  /// Adds a node and returns its number; operations on constants are carried out at once.
  std::size_t add(Operation operation, std::vector<std::size_t> arguments);

  [[nodiscard]] bool is_constant(std::size_t node) const {
    return nodes[node].operation == Operation::constant;
  }
  [[nodiscard]] std::optional<int> degree(std::size_t node) const;

 private:
  std::size_t push(Node node);
};

inline constexpr std::size_t max_hermite_order = 64;

/// The function of one argument of that name, if there is one.
[[nodiscard]] std::optional<Operation> unary_operation(std::string_view name);
[[nodiscard]] std::vector<std::string> function_names();

/// Whether a byte continues a character of UTF-8.
[[nodiscard]] inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Reads the text onto the tape and returns the root. Throws SyntaxError.
[[nodiscard]] std::size_t parse_expression(std::string_view text, const ExpressionNames& names,
                                           Expression::Tape& tape);

/// Writes the node's values at `count` points to out; values[a] are those of its arguments.
void evaluate_node(const Node& node, std::size_t count, const double* inputs,
                   const std::vector<const double*>& values, double* out);
/// Writes its derivative in argument a to out, given its own value.
void differentiate_node(const Node& node, std::size_t a, std::size_t count,
                        const std::vector<const double*>& values, const double* value, double* out);

}  // namespace onset::numerics
