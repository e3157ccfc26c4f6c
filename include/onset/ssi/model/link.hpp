#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "onset/numerics/expression.hpp"
#include "onset/numerics/hermite.hpp"
#include "onset/ssi/model/reduction.hpp"

namespace onset::ssi {

/// A function of the L token fields z_1, .., z_L with one or more outputs, on batches of points:
/// z[i * count + p] to out[k * count + p]. Targets and students are links. [ssi 1]
class Link {
 public:
  virtual ~Link() = default;
  [[nodiscard]] virtual std::size_t tokens() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const { return 1; }
  virtual void values(std::size_t count, const double* z, double* out) const = 0;
  /// delta[i * count + p] = sum_k weight_k d out_k / d z_i, given the values at z.
  virtual void pullback(std::size_t count, const double* z, const double* values,
                        const double* weight, double* delta) const = 0;
  /// Whether it is softmax_rows(z z^T) itself: such a student has a chain of its own.
  [[nodiscard]] virtual bool is_attention_matrix() const { return false; }
  /// Roughly the nanoseconds that its values, and a pullback, take at one point of many; only for
  /// estimates of cost.
  [[nodiscard]] virtual double value_ns() const {
    return 5.0 * static_cast<double>(tokens() * outputs());
  }
  [[nodiscard]] virtual double pullback_ns() const { return 2.0 * value_ns(); }
  /// The expression behind it, if it is one: its structure allows exact statements.
  [[nodiscard]] virtual const numerics::Expression* expression() const { return nullptr; }
};

using LinkPointer = std::shared_ptr<const Link>;

/// A link given by an expression of z1, .., zL, in which sums run over tokens z. Throws
/// numerics::SyntaxError.
[[nodiscard]] LinkPointer expression_link(const std::string& text, std::size_t tokens);

/// F = softmax_rows(z z^T), reduced. [ssi 3]
struct Attention {
  std::size_t tokens = 2;
  Reduction reduction = Reduction::trace;
  std::vector<double> left;  ///< of a projection; scaled to unit length; empty: the first token
  std::vector<double> right;
};
[[nodiscard]] LinkPointer attention_link(const Attention& attention);

/// sigma(u), u = L^{-1/2} sum_i z_i, with an activation of one variable u. [ssi 4]
[[nodiscard]] LinkPointer tied_link(std::shared_ptr<const numerics::Expression> activation,
                                    std::size_t tokens);
/// An activation by its name (relu, tanh, He2, ..) or as an expression of u.
[[nodiscard]] std::shared_ptr<const numerics::Expression> read_activation(const std::string& text);

/// (1 - omega) softmax(z z^T) + omega A(a) of two tokens, A = softmax of (a^2, -a^2; -a^2, a^2).
/// [ssi 22]
[[nodiscard]] LinkPointer mixture_link(double a, double omega);

/// A target by its name (softmax: the attention matrix; H2sum: sum of h_2; He4sum: sum of He_4; any
/// order) or as an expression. Throws numerics::SyntaxError.
[[nodiscard]] LinkPointer read_target(const std::string& text, std::size_t tokens);

/// The link as a function to be projected on Hermite polynomials.
[[nodiscard]] numerics::BatchFunction function_of(const Link& link);

}  // namespace onset::ssi
