#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onset::numerics {

/// A mistake in an expression. what() says what is wrong, where, and the hint that there may be to
/// what is right; it then shows the text with a caret below the place.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(std::string_view text, std::size_t position, const std::string& message,
              const std::string& hint = "");
  /// The offset into the text; its end where something is missing.
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

/// The variables of an expression.
struct ExpressionNames {
  std::vector<std::string> variables;
  /// A name that stands for one variable after the other in sum(), mean() and prod(), as in
  /// sum(z^2); it may be empty.
  std::string each;
  /// Whether these are all that there can be, which messages then say.
  bool are_all = true;
};

/// A function of several variables read from text, evaluated on batches of points, with derivatives
/// by forward differentiation.
///
/// The text may use numbers, + - * / ^, parentheses, pi, L (the number of variables), the
/// variables, exp log sqrt sin cos tan sinh cosh tanh atan erf sigmoid softplus abs sign step relu,
/// min(a, b, ..), max(a, b, ..), Hermite polynomials He2(x) (probabilists') and h2(x) =
/// He2(x)/sqrt(2!) of any order up to 64, and sum(..), mean(..), prod(..) over the variables. A
/// number may stand before a name or a parenthesis without *.
class Expression {
 public:
  /// Throws SyntaxError.
  Expression(std::string_view text, const ExpressionNames& names);

  [[nodiscard]] std::size_t variables() const;
  /// out[i] at the points inputs[v * count + i].
  void values(std::size_t count, const double* inputs, double* out) const;
  /// The same with derivatives[v * count + i]. At a kink this is one of the one-sided derivatives
  /// (the one from below for abs and relu), and at a jump it is 0.
  void gradient(std::size_t count, const double* inputs, double* out, double* derivatives) const;

  /// out[i], and slope[i], the derivative along `direction` (one number per variable, the same at
  /// every point): at any number of variables little more than twice the cost of a value.
  void along(std::size_t count, const double* inputs, const double* direction, double* out,
             double* slope) const;

  /// The variables that it depends on, in increasing order.
  [[nodiscard]] const std::vector<std::size_t>& used() const { return used_; }
  /// Those that it depends on by more than jumps: not only inside sign and step.
  [[nodiscard]] std::vector<std::size_t> used_with_slope() const;
  /// Its degree where it is a polynomial.
  [[nodiscard]] std::optional<int> degree() const;

  /// Switches: the factors of the arguments of abs, sign, step and relu, and the differences of
  /// those of min and max. It has kinks and jumps only where one of them changes sign. Factors
  /// change sign in fewer places than their product, which may do so twice within a short way.
  [[nodiscard]] std::size_t switches() const { return switches_.size(); }
  /// out[k * count + i]: switch k at point i.
  void switch_values(std::size_t count, const double* inputs, double* out) const;

  /// Whether sign or step make it jump, so that its derivatives miss what happens there.
  [[nodiscard]] bool jumps() const;

  /// Whether it divides or takes roots or logarithms: then there may be points near which it
  /// changes within any distance, however short.
  [[nodiscard]] bool may_be_singular() const;

  /// Roughly the floating-point operations of one value, for estimates of cost: an elementary
  /// function counts as 25, or as 5 where it has vector code.
  [[nodiscard]] double operations() const;

  struct Term;
  /// The terms whose sum of factor * part it is; sums are also opened inside constant factors.
  [[nodiscard]] std::vector<Term> terms() const;

  /// The expression that is left when the outermost functions that take no value twice are taken
  /// away, one after the other (tanh, exp, odd powers, quotients of numbers by it, ..), and odd
  /// ones of them inside an even function (tanh(x)^2 becomes x^2): where it is finite, it has the
  /// same level sets.
  [[nodiscard]] Expression up_to_injections() const;

  /// How it is stored. Users have no need of it.
  struct Tape;

 private:
  Expression(std::shared_ptr<const Tape> tape, std::size_t root);
  /// The values of all its nodes at slot[node] * count.
  double* evaluate(std::size_t count, const double* inputs, std::vector<std::size_t>& slot) const;
  std::shared_ptr<const Tape> tape_;
  std::size_t root_ = 0;
  std::vector<std::size_t> order_;  ///< the nodes that it needs, arguments first
  std::vector<std::size_t> used_;
  /// A node, or the difference of two.
  struct Switch {
    std::size_t first;
    std::optional<std::size_t> second = {};
  };
  void add_switches(std::size_t node);
  std::vector<Switch> switches_;
};

struct Expression::Term {
  double factor;
  Expression part;
};

}  // namespace onset::numerics
