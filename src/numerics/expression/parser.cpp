// A parser by recursive descent. A sum over tokens reads its argument once for every variable.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "numerics/expression/tape.hpp"

namespace onset::numerics {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const ExpressionNames& names, Expression::Tape& tape)
      : text_(text), names_(names), tape_(tape) {}

  std::size_t parse() {
    const std::size_t root = sum();
    skip_space();
    if (place_ < text_.size()) {
      const char c = text_[place_];
      const bool is_factor = std::isalnum(static_cast<unsigned char>(c)) || c == '(' || c == '_';
      fail(place_, "unexpected '" + character(place_) + "'",
           is_factor ? "; a product is written *" : "");
    }
    return root;
  }

 private:
  [[noreturn]] void fail(std::size_t place, const std::string& message,
                         const std::string& hint = "") const {
    throw SyntaxError(text_, place, message, hint);
  }

  /// The whole character at this place, which may be several bytes long.
  [[nodiscard]] std::string character(std::size_t place) const {
    std::size_t end = place + 1;
    while (end < text_.size() && is_continuation(text_[end])) ++end;
    return std::string(text_.substr(place, end - place));
  }

  [[nodiscard]] static std::string function_list() {
    std::string list = "; functions are";
    for (const std::string& name : function_names()) list += " " + name;
    return list + " (He and h of any order)";
  }

  void skip_space() {
    while (place_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[place_])))
      ++place_;
  }

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(place_).starts_with(token)) return false;
    place_ += token.size();
    return true;
  }

  void expect(char token, const std::string& why) {
    if (!accept(std::string_view(&token, 1))) {
      fail(place_, std::string("expected '") + token + "' " + why);
    }
  }

  std::size_t sum() {
    std::vector<std::size_t> parts{product()};
    for (;;) {
      if (accept("+")) {
        parts.push_back(product());
      } else if (accept("-")) {
        parts.push_back(tape_.add(Operation::negate, {product()}));
      } else {
        return parts.size() == 1 ? parts[0] : tape_.add(Operation::sum, parts);
      }
    }
  }

  std::size_t product() {
    std::size_t left = signed_factor();
    for (;;) {
      skip_space();
      if (text_.substr(place_).starts_with("**")) fail(place_, "a power is written ^");
      if (accept("*")) {
        left = tape_.add(Operation::multiply, {left, signed_factor()});
      } else if (accept("/")) {
        left = tape_.add(Operation::divide, {left, signed_factor()});
      } else {
        return left;
      }
    }
  }

  std::size_t signed_factor() {
    if (++depth_ > max_depth) fail(place_, "nested too deeply");
    if (tape_.nodes.size() > max_nodes) fail(place_, "the expression grows too large here");
    std::size_t result = 0;
    if (accept("-")) {
      result = tape_.add(Operation::negate, {signed_factor()});
    } else if (accept("+")) {
      result = signed_factor();
    } else {
      result = power();
    }
    --depth_;
    return result;
  }

  std::size_t power() {
    const std::size_t base = atom();
    if (!accept("^")) return base;
    return tape_.add(Operation::power, {base, signed_factor()});
  }

  std::size_t atom() {
    skip_space();
    if (place_ >= text_.size()) fail(place_, "expected a number, a variable or a function");
    const char c = text_[place_];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return name();
    if (accept("(")) {
      const std::size_t inner = sum();
      expect(')', "to close this parenthesis");
      return inner;
    }
    fail(place_, "expected a number, a variable or a function, not '" + character(place_) + "'");
  }

  std::size_t number() {
    const std::size_t start = place_;
    double value = 0.0;
    const auto [end, error] =
        std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail(start, "not a number that can be stored");
    place_ = static_cast<std::size_t>(end - text_.data());
    const std::size_t node = tape_.add_constant(value);
    // The * after a number may be omitted, as in 2 He4(z2) and 2 (z1 + z2).
    skip_space();
    if (place_ < text_.size() &&
        (std::isalpha(static_cast<unsigned char>(text_[place_])) || text_[place_] == '(')) {
      if (after_slash_or_power(start)) fail(place_, "write * here: after / or ^ it is ambiguous");
      return tape_.add(Operation::multiply, {node, power()});
    }
    return node;
  }

  [[nodiscard]] bool after_slash_or_power(std::size_t start) const {
    while (start > 0 && std::isspace(static_cast<unsigned char>(text_[start - 1]))) --start;
    return start > 0 && (text_[start - 1] == '/' || text_[start - 1] == '^');
  }

  std::size_t name() {
    const std::size_t start = place_;
    while (place_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '_')) {
      ++place_;
    }
    const std::string word(text_.substr(start, place_ - start));
    skip_space();
    if (place_ < text_.size() && text_[place_] == '(') return call(word, start);
    for (std::size_t v = 0; v < names_.variables.size(); ++v) {
      if (word == names_.variables[v]) return tape_.add_variable(v);
    }
    if (word == names_.each && !word.empty()) {
      if (each_ == none)
        fail(start, "'" + word + "' alone has a meaning only inside sum(), mean() or prod()",
             variable_hint());
      return tape_.add_variable(each_);
    }
    if (word == "pi") return tape_.add_constant(std::numbers::pi);
    if (word == "L") return tape_.add_constant(static_cast<double>(names_.variables.size()));
    if (known_function(word) || hermite_order(word, start))
      fail(place_, "expected '(' after the function " + word);
    fail(start, "no variable " + in_quotes(word),
         variable_hint() + suggestion(word, function_names()));
  }

  [[nodiscard]] std::string variable_hint() const {
    const auto& v = names_.variables;
    if (!names_.are_all) return "";
    if (v.empty()) return "; there are no variables here";
    if (v.size() == 1) return "; the variable is " + v[0];
    constexpr std::size_t most_shown = 12;
    if (v.size() > most_shown) return "; variables are " + v.front() + " to " + v.back();
    std::string all = v.front();
    for (std::size_t k = 1; k < v.size(); ++k) all += ", " + v[k];
    return "; variables are " + all;
  }

  std::size_t call(const std::string& word, std::size_t start) {
    expect('(', "after a function");
    if (word == "sum" || word == "mean" || word == "prod") return over_tokens(word, start);
    const std::size_t first = sum();
    if (word == "min" || word == "max") {
      return extreme(word, first);
    }
    const auto hermite = hermite_order(word, start);
    const auto operation = unary_operation(word);
    if (!hermite && !operation) {
      fail(start, "no function " + in_quotes(word),
           suggestion(word, function_names()) + function_list());
    }
    expect(')', "after the argument of " + word);
    if (operation) return tape_.add(*operation, {first});
    const bool normalised = word[0] == 'h';
    const double scale =
        normalised ? std::exp(-0.5 * std::lgamma(static_cast<double>(*hermite) + 1.0)) : 1.0;
    return tape_.add_hermite(*hermite, scale, first);
  }

  /// Of two arguments or more, from left to right.
  std::size_t extreme(const std::string& word, std::size_t first) {
    const Operation operation = word == "min" ? Operation::minimum : Operation::maximum;
    expect(',', "between the arguments of " + word + ", which are two or more");
    std::size_t result = first;
    do {
      result = tape_.add(operation, {result, sum()});
    } while (accept(","));
    expect(')', "after the arguments of " + word);
    return result;
  }

  std::size_t over_tokens(const std::string& word, std::size_t start) {
    if (names_.each.empty()) fail(start, "there is nothing to run over in " + word + "()");
    const std::size_t before = place_;
    const std::size_t outer = each_;
    std::vector<std::size_t> parts;
    for (std::size_t v = 0; v < names_.variables.size(); ++v) {
      place_ = before;
      each_ = v;
      parts.push_back(sum());
      expect(')', "after the argument of " + word);
    }
    each_ = outer;
    if (word == "prod") {
      std::size_t product = parts[0];
      for (std::size_t k = 1; k < parts.size(); ++k) {
        product = tape_.add(Operation::multiply, {product, parts[k]});
      }
      return product;
    }
    const std::size_t total = tape_.add(Operation::sum, parts);
    if (word == "sum") return total;
    const std::size_t count = tape_.add_constant(static_cast<double>(parts.size()));
    return tape_.add(Operation::divide, {total, count});
  }

  [[nodiscard]] static bool known_function(const std::string& word) {
    return unary_operation(word) || word == "sum" || word == "mean" || word == "prod" ||
           word == "min" || word == "max";
  }

  /// The order of He3, He_3, h3 or h_3.
  [[nodiscard]] std::optional<std::size_t> hermite_order(const std::string& word,
                                                         std::size_t start) const {
    std::string_view digits = word;
    if (digits.starts_with("He")) {
      digits.remove_prefix(2);
    } else if (digits.starts_with("h")) {
      digits.remove_prefix(1);
    } else {
      return std::nullopt;
    }
    if (digits.starts_with("_")) digits.remove_prefix(1);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) {
          return std::isdigit(static_cast<unsigned char>(c)) != 0;
        })) {
      return std::nullopt;
    }
    std::size_t order = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), order);
    if (error != std::errc{} || order > max_hermite_order) {
      fail(start, "Hermite polynomials go up to order " + std::to_string(max_hermite_order));
    }
    return order;
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr int max_depth = 200;
  static constexpr std::size_t max_nodes = 100'000;
  std::string_view text_;
  const ExpressionNames& names_;
  Expression::Tape& tape_;
  std::size_t place_ = 0;
  std::size_t each_ = none;
  int depth_ = 0;
};

}  // namespace

std::size_t parse_expression(std::string_view text, const ExpressionNames& names,
                             Expression::Tape& tape) {
  return Parser(text, names, tape).parse();
}

}  // namespace onset::numerics
