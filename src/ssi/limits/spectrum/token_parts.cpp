#include "ssi/limits/spectrum/token_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

using numerics::Expression;

/// Terms of an expression that share their tokens.
struct Terms {
  std::vector<Expression::Term> list;
  std::vector<std::size_t> tokens;
  std::size_t all_tokens = 0;

  /// Inputs that hold only the part's tokens, at their places among all.
  [[nodiscard]] std::vector<double> spread(std::size_t count, const double* x) const {
    std::vector<double> z(all_tokens * count, 0.0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::copy_n(x + i * count, count, z.data() + tokens[i] * count);
    }
    return z;
  }
};

numerics::BatchFunction sum_of(const std::shared_ptr<const Terms>& terms) {
  return {terms->tokens.size(), 1, [terms](std::size_t count, const double* x, double* out) {
            const auto z = terms->spread(count, x);
            std::vector<double> value(count);
            std::fill_n(out, count, 0.0);
            for (const Expression::Term& term : terms->list) {
              term.part.values(count, z.data(), value.data());
              for (std::size_t p = 0; p < count; ++p) out[p] += term.factor * value[p];
            }
          }};
}

numerics::BatchFunction switches_of(const std::shared_ptr<const Terms>& terms) {
  std::size_t outputs = 0;
  for (const Expression::Term& term : terms->list) outputs += term.part.switches();
  return {terms->tokens.size(), outputs, [terms](std::size_t count, const double* x, double* out) {
            const auto z = terms->spread(count, x);
            for (const Expression::Term& term : terms->list) {
              term.part.switch_values(count, z.data(), out);
              out += term.part.switches() * count;
            }
          }};
}

/// Two rules that bring smooth functions of two tokens to rounding.
constexpr double fine_step = 0.1;
constexpr double coarse_step = 0.2;
/// The finer rule is wider, which reveals a second moment that does not exist.
constexpr double fine_width = 10.0;
constexpr double coarse_width = 9.0;
/// The largest relative change of a second moment that exists, from a rule to a finer and wider
/// one.
constexpr double max_change = 0.1;
/// Coefficients that differ by more than this part of sqrt(E f^2) are not those of a smooth
/// function, whose finer rule is far better than that.
constexpr double smooth = 1e-6;

double max_difference(const numerics::HermiteSeries& a, const numerics::HermiteSeries& b) {
  double max = 0.0;
  for (std::size_t s = 0; s <= a.degree(); ++s) {
    a.for_each(s, [&](std::size_t place, std::span<const std::size_t>) {
      for (std::size_t o = 0; o < a.outputs(); ++o) {
        max = std::max(max, std::abs(a.at(o, place) - b.at(o, place)));
      }
    });
  }
  return max;
}

/// The coarser and the finer of two uniform rules.
std::pair<numerics::HermiteProjection, numerics::HermiteProjection> by_two_rules(
    const TokenPart& part, std::size_t degree) {
  return {numerics::hermite_series(part.function,
                                   numerics::normal_trapezoid(coarse_step, coarse_width), degree),
          numerics::hermite_series(part.function, numerics::normal_trapezoid(fine_step, fine_width),
                                   degree)};
}

/// Whether E f^2 of a function of one token converges slowly because of a pole at a switch, such as
/// that of log(abs(z1)), and not because of its tails, which the width of a rule shows.
bool has_pole(const TokenPart& part, double coarse, double fine) {
  constexpr double slow = 0.5;
  constexpr double same = 1e-9;
  if (part.tokens.size() != 1 || part.switches.outputs == 0) return false;
  const double change = std::abs(fine - coarse);
  if (!(change > max_change * fine && change < slow * fine)) return false;
  const auto rule = numerics::normal_trapezoid(fine_step, coarse_width);
  const double narrower = numerics::hermite_series(part.function, rule, 0).square;
  return std::abs(fine - narrower) < same * fine;
}

/// Panels that shrink towards the pole; a square that cannot be integrated does not settle on them.
numerics::HermiteBracket project_pole(const TokenPart& part, std::size_t degree, double square,
                                      const Context& context) {
  constexpr double settled = 1e-6;
  auto bracket = numerics::rough_hermite_series(part.function, part.switches, degree,
                                                std::sqrt(square), context);
  const double change = std::abs(bracket.fine.square - bracket.coarse.square);
  if (!(change <= settled * bracket.fine.square)) require_finite(INFINITY, INFINITY);
  return bracket;
}

numerics::HermiteBracket project_polynomial(const TokenPart& part, std::size_t degree) {
  const auto rule = numerics::gauss_hermite(exact_nodes(part, degree));
  const auto exact = numerics::hermite_series(part.function, rule, degree);
  return {exact, exact};
}

}  // namespace

std::vector<TokenPart> token_parts(const Link& target) {
  std::vector<TokenPart> parts;
  const Expression* expression = target.expression();
  if (expression == nullptr) {
    TokenPart whole;
    for (std::size_t i = 0; i < target.tokens(); ++i) whole.tokens.push_back(i);
    whole.function = function_of(target);
    whole.switches = {target.tokens(), 0, {}};
    return {whole};
  }
  std::map<std::vector<std::size_t>, std::vector<Expression::Term>> by_tokens;
  for (Expression::Term& term : expression->terms()) {
    auto used = term.part.used();
    if (used.empty()) used.push_back(0);  // a constant is a function of any token
    by_tokens[used].push_back(std::move(term));
  }
  for (auto& [tokens, terms] : by_tokens) {
    TokenPart part;
    part.tokens = tokens;
    part.polynomial_degree = 0;
    for (const Expression::Term& term : terms) {
      const auto degree = term.part.degree();
      if (!degree) {
        part.polynomial_degree = -1;
        break;
      }
      part.polynomial_degree = std::max(part.polynomial_degree, *degree);
    }
    const auto shared =
        std::make_shared<const Terms>(Terms{std::move(terms), tokens, target.tokens()});
    part.function = sum_of(shared);
    part.switches = switches_of(shared);
    parts.push_back(std::move(part));
  }
  return parts;
}

TokenPart activation_part(const Expression& activation) {
  TokenPart part;
  part.tokens = {0};
  part.function = {1, 1, [&activation](std::size_t count, const double* x, double* out) {
                     activation.values(count, x, out);
                   }};
  part.switches = {1, activation.switches(),
                   [&activation](std::size_t count, const double* x, double* out) {
                     activation.switch_values(count, x, out);
                   }};
  part.polynomial_degree = activation.degree().value_or(-1);
  return part;
}

int exact_nodes(const TokenPart& part, std::size_t degree) {
  const int sum = part.polynomial_degree + static_cast<int>(degree);
  return std::max((sum + 1) / 2, part.polynomial_degree) + 1;
}

void require_finite(double square, double wider) {
  if (std::isfinite(square) && std::isfinite(wider) &&
      std::abs(wider - square) <= max_change * wider) {
    return;
  }
  throw Refused(
      "target or student has no finite second moment under Gaussian fields (or no value "
      "somewhere), so it has no Hermite expansion");
}

std::optional<numerics::HermiteBracket> project_exactly(const TokenPart& part, std::size_t degree,
                                                        const Context& context) {
  if (part.tokens.size() > 2) return std::nullopt;
  if (part.polynomial_degree >= 0 && part.polynomial_degree <= 64) {
    return project_polynomial(part, degree);
  }
  context.check();
  auto [coarse, fine] = by_two_rules(part, degree);
  context.check();
  if (has_pole(part, coarse.square, fine.square)) {
    return project_pole(part, degree, fine.square, context);
  }
  require_finite(coarse.square, fine.square);
  const double scale = std::sqrt(fine.square);
  if (scale == 0.0 || (part.switches.outputs == 0 &&
                       max_difference(fine.series, coarse.series) <= smooth * scale)) {
    return numerics::HermiteBracket{std::move(fine), std::move(coarse)};
  }
  return numerics::rough_hermite_series(part.function, part.switches, degree, scale, context);
}

void require_square_integrable(const SequenceModel& model) {
  auto parts = token_parts(*model.target);
  if (model.student.activation) {
    parts.push_back(activation_part(*model.student.activation));
  } else {
    for (TokenPart& part : token_parts(*model.student.link)) parts.push_back(std::move(part));
  }
  for (const TokenPart& part : parts) {
    if (part.polynomial_degree >= 0 || part.tokens.size() > 2) continue;
    const auto [coarse, fine] = by_two_rules(part, 0);
    if (has_pole(part, coarse.square, fine.square)) {
      (void)project_pole(part, 0, fine.square, {});
      continue;
    }
    require_finite(coarse.square, fine.square);
  }
}

void add_projection(const TokenPart& part, const numerics::HermiteProjection& projection,
                    HermiteCoefficients& into) {
  for (std::size_t s = 0; s <= projection.series.degree(); ++s) {
    projection.series.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
      std::vector<std::size_t> index(into.tokens, 0);
      for (std::size_t i = 0; i < k.size(); ++i) index[part.tokens[i]] = k[i];
      std::vector<double>& values = into.values[index];
      values.resize(into.outputs, 0.0);
      for (std::size_t o = 0; o < into.outputs; ++o) values[o] += projection.series.at(o, place);
    });
  }
}

}  // namespace onset::ssi
