#include "onset/ssi/model/link.hpp"

#include <fmt/format.h>

namespace onset::ssi {
namespace {

using numerics::Expression;

class ExpressionLink final : public Link {
 public:
  ExpressionLink(Expression expression, std::size_t tokens)
      : expression_(std::move(expression)), tokens_(tokens) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] double value_ns() const override { return expression_.operations(); }
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

}  // namespace

LinkPointer expression_link(const std::string& text, std::size_t tokens) {
  numerics::ExpressionNames names;
  names.each = "z";
  for (std::size_t i = 1; i <= tokens; ++i) names.variables.push_back(fmt::format("z{}", i));
  return std::make_shared<ExpressionLink>(Expression(text, names), tokens);
}

numerics::BatchFunction function_of(const Link& link) {
  return {link.tokens(), link.outputs(),
          [&link](std::size_t count, const double* x, double* out) { link.values(count, x, out); }};
}

}  // namespace onset::ssi
