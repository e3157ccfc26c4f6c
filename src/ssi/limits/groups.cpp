#include "ssi/limits/groups.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace onset::ssi {
namespace {

using numerics::Expression;

/// Evaluates the terms on inputs that hold only the group's tokens.
numerics::BatchFunction sum_of_terms(std::vector<Expression::Term> terms,
                                     std::vector<std::size_t> tokens, std::size_t all_tokens) {
  const auto shared = std::make_shared<const std::vector<Expression::Term>>(std::move(terms));
  const std::size_t dimensions = std::max<std::size_t>(1, tokens.size());
  return {dimensions, 1,
          [shared, tokens, all_tokens](std::size_t count, const double* x, double* out) {
            std::vector<double> z(all_tokens * count, 0.0);
            std::vector<double> value(count);
            for (std::size_t i = 0; i < tokens.size(); ++i) {
              std::copy_n(x + i * count, count, z.data() + tokens[i] * count);
            }
            std::fill_n(out, count, 0.0);
            for (const Expression::Term& term : *shared) {
              term.part.values(count, z.data(), value.data());
              for (std::size_t p = 0; p < count; ++p) out[p] += term.factor * value[p];
            }
          }};
}

}  // namespace

std::vector<TargetGroup> target_groups(const Link& target) {
  std::vector<TargetGroup> groups;
  const Expression* expression = target.expression();
  if (expression == nullptr) {
    TargetGroup whole;
    for (std::size_t i = 0; i < target.tokens(); ++i) whole.tokens.push_back(i);
    whole.function = function_of(target);
    return {whole};
  }
  std::map<std::vector<std::size_t>, std::vector<Expression::Term>> by_tokens;
  for (Expression::Term& term : expression->terms()) {
    auto used = term.part.used();
    if (used.empty()) used.push_back(0);  // a constant is a function of any token
    by_tokens[used].push_back(std::move(term));
  }
  for (auto& [tokens, terms] : by_tokens) {
    TargetGroup group;
    group.tokens = tokens;
    group.polynomial_degree = 0;
    for (const Expression::Term& term : terms) {
      const auto degree = term.part.degree();
      if (!degree) {
        group.polynomial_degree = -1;
        break;
      }
      group.polynomial_degree = std::max(group.polynomial_degree, *degree);
    }
    group.function = sum_of_terms(std::move(terms), tokens, target.tokens());
    groups.push_back(std::move(group));
  }
  return groups;
}

GroupSums add_projection(const TargetGroup& group, const numerics::Rule& rule, std::size_t degree,
                         HermiteCoefficients& into) {
  const numerics::HermiteProjection projection =
      numerics::hermite_series(group.function, rule, degree);
  for (std::size_t s = 0; s <= degree; ++s) {
    projection.series.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
      std::vector<std::size_t> index(into.tokens, 0);
      for (std::size_t i = 0; i < k.size(); ++i) index[group.tokens[i]] = k[i];
      std::vector<double>& values = into.values[index];
      values.resize(into.outputs, 0.0);
      for (std::size_t o = 0; o < into.outputs; ++o) values[o] += projection.series.at(o, place);
    });
  }
  return {projection.square, projection.rest()};
}

}  // namespace onset::ssi
