#include <algorithm>
#include <cctype>
#include <cmath>

#include "onset/core/words.hpp"
#include "onset/ssi/model/link.hpp"

namespace onset::ssi {
namespace {

using numerics::Expression;

class ExpressionLink final : public Link {
 public:
  ExpressionLink(Expression expression, std::size_t tokens)
      : expression_(std::move(expression)), tokens_(tokens) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] const Expression* expression() const override { return &expression_; }
  void values(std::size_t count, const double* z, double* out) const override {
    expression_.values(count, z, out);
  }
  void pullback(std::size_t count, const double* z, const double*, const double* weight,
                double* delta) const override {
    thread_local std::vector<double> value;
    value.resize(count);
    expression_.gradient(count, z, value.data(), delta);
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t p = 0; p < count; ++p) delta[i * count + p] *= weight[p];
    }
  }

 private:
  Expression expression_;
  std::size_t tokens_;
};

class TiedLink final : public Link {
 public:
  TiedLink(std::shared_ptr<const Expression> activation, std::size_t tokens)
      : activation_(std::move(activation)), tokens_(tokens) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  void values(std::size_t count, const double* z, double* out) const override {
    activation_->values(count, field(count, z), out);
  }
  void pullback(std::size_t count, const double* z, const double*, const double* weight,
                double* delta) const override {
    thread_local std::vector<double> value;
    value.resize(count);
    const double* u = field(count, z);
    double* first = delta;
    activation_->gradient(count, u, value.data(), first);
    const double scale = 1.0 / std::sqrt(static_cast<double>(tokens_));
    for (std::size_t p = 0; p < count; ++p) first[p] *= scale * weight[p];
    for (std::size_t i = 1; i < tokens_; ++i) {
      for (std::size_t p = 0; p < count; ++p) delta[i * count + p] = first[p];
    }
  }

 private:
  [[nodiscard]] const double* field(std::size_t count, const double* z) const {
    thread_local std::vector<double> u;
    u.assign(count, 0.0);
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t p = 0; p < count; ++p) u[p] += z[i * count + p];
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(tokens_));
    for (std::size_t p = 0; p < count; ++p) u[p] *= scale;
    return u.data();
  }
  std::shared_ptr<const Expression> activation_;
  std::size_t tokens_;
};

bool is_word(const std::string& text) {
  for (const char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) && text != "u" &&
         text != "pi" && text != "L";
}

/// "H2sum" is "sum(h2(z))", "He4sum" is "sum(He4(z))"; anything else stays.
std::string named_sum(const std::string& text) {
  if (!is_word(text) || !text.starts_with("H") || !text.ends_with("sum")) return text;
  const bool plain = text.starts_with("He");
  const std::string order = text.substr(plain ? 2 : 1, text.size() - (plain ? 5 : 4));
  return "sum(" + std::string(plain ? "He" : "h") + order + "(z))";
}

/// Throws a better message if the word at a mistake is a named target, or the text nearly one.
void explain_name(const std::string& text, std::size_t place) {
  std::size_t end = place;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
  const std::string word = text.substr(std::min(place, text.size()), end - place);
  if (word != text && (word == "softmax" || named_sum(word) != word)) {
    throw numerics::SyntaxError(
        text, place,
        "the named target '" + word + "' stands alone" +
            (word == "softmax" ? "" : "; in an expression write " + named_sum(word)));
  }
  if (word != text) return;
  std::vector<std::string> names{"softmax"};
  for (int order = 1; order < 10; ++order) {
    for (const char* kind : {"H", "He"}) names.push_back(kind + std::to_string(order) + "sum");
  }
  const std::string hint = suggestion(text, names);
  if (hint.empty()) return;
  throw numerics::SyntaxError(
      text, 0,
      "no target '" + text + "'; allowed: softmax, H2sum, He4sum, .., or an expression" + hint);
}

}  // namespace

LinkPointer expression_link(const std::string& text, std::size_t tokens) {
  numerics::ExpressionNames names;
  names.each = "z";
  for (std::size_t i = 1; i <= tokens; ++i) names.variables.push_back("z" + std::to_string(i));
  return std::make_shared<ExpressionLink>(Expression(text, names), tokens);
}

LinkPointer tied_link(std::shared_ptr<const Expression> activation, std::size_t tokens) {
  return std::make_shared<TiedLink>(std::move(activation), tokens);
}

std::shared_ptr<const Expression> read_activation(const std::string& text) {
  const std::string formula = is_word(text) ? text + "(u)" : text;
  return std::make_shared<const Expression>(formula, numerics::ExpressionNames{{"u"}, ""});
}

LinkPointer read_target(const std::string& text, std::size_t tokens) {
  if (text == "softmax") return attention_link({tokens, Reduction::none, {}, {}});
  try {
    return expression_link(named_sum(text), tokens);
  } catch (const numerics::SyntaxError& e) {
    explain_name(text, e.position());
    throw;
  }
}

numerics::BatchFunction function_of(const Link& link) {
  return {link.tokens(), link.outputs(),
          [&link](std::size_t count, const double* x, double* out) { link.values(count, x, out); }};
}

}  // namespace onset::ssi
