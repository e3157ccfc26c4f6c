#include "onset/ssi/limits/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "onset/core/error.hpp"
#include "ssi/limits/spectrum/directional_spectrum.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

/// The number of values on the largest grid of one part.
constexpr double max_points = 8e6;
/// Coefficients below this part of sqrt(E g^2) are rounding.
constexpr double rounding = 1e-12;
/// A weight is taken for an integration error, and called absent, if it fell at every refinement by
/// this factor at least, and is below this part of E g^2.
constexpr double decay = 0.67;
constexpr double small_weight = 1e-6;
/// A weight that changes by less than this part of itself under refinement is present.
constexpr double steady = 0.2;
/// The number of halvings of the step after which refining ends.
constexpr int finest_level = 10;

std::size_t total(const std::vector<std::size_t>& k) {
  return std::accumulate(k.begin(), k.end(), std::size_t{0});
}

/// The rule for a part of three tokens and more; nothing where it would have too many points.
std::optional<numerics::Rule> rule_for(const TokenPart& part, std::size_t degree, int level) {
  const double dimensions = static_cast<double>(part.tokens.size());
  if (part.polynomial_degree >= 0) {
    const int nodes = exact_nodes(part, degree);
    if (nodes > 1024 || std::pow(nodes, dimensions) > max_points) return std::nullopt;
    return numerics::gauss_hermite(nodes);
  }
  // Finer rules have a wider range, which reveals a second moment that does not exist.
  const double step = 0.3 * std::pow(2.0 / 3.0, level);
  const double width = 8.0 + (level > 0 ? 1.0 : 0.0);
  const double points = std::pow(2.0 * width / step, dimensions);
  if (level > finest_level) return std::nullopt;
  if (points * static_cast<double>(part.function.outputs) > max_points) return std::nullopt;
  return numerics::normal_trapezoid(step, width);
}

/// A part and, where it has them, its exact projections.
struct Projected {
  TokenPart part;
  std::optional<numerics::HermiteBracket> exact;
};

struct Level {
  HermiteCoefficients coefficients;
  std::vector<double> weights;
  double square = 0.0;
};

std::optional<Level> project(const Link& target, const std::vector<Projected>& parts,
                             std::size_t degree, int level) {
  Level result;
  result.coefficients.tokens = target.tokens();
  result.coefficients.outputs = target.outputs();
  double rest = 0.0;
  for (const auto& [part, exact] : parts) {
    const auto rule = exact ? std::nullopt : rule_for(part, degree, level);
    if (!exact && !rule) return std::nullopt;
    const auto projected = exact ? (level > 0 ? exact->fine : exact->coarse)
                                 : numerics::hermite_series(part.function, *rule, degree);
    rest += projected.rest();
    add_projection(part, projected, result.coefficients);
  }
  result.weights.assign(degree + 1, 0.0);
  for (const auto& [k, values] : result.coefficients.values) {
    for (const double v : values) result.weights[total(k)] += v * v;
  }
  result.square = rest + std::accumulate(result.weights.begin(), result.weights.end(), 0.0);
  return result;
}

/// Whether two levels are enough because finer rules would change nothing.
bool settled(const std::vector<Projected>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Projected& x) {
    return x.exact.has_value() || x.part.polynomial_degree >= 0;
  });
}

/// The verdict on one degree from its weights under ever finer rules.
Presence judge(const std::vector<double>& weights, double square, bool last) {
  const double now = weights.back();
  const double floor = rounding * rounding * square;
  if (now <= floor) return Presence::absent;
  if (weights.size() < 2) return Presence::unresolved;
  const double before = weights[weights.size() - 2];
  if (std::abs(now - before) < steady * now) return Presence::present;
  if (!last || now > small_weight * square) return Presence::unresolved;
  for (std::size_t i = 1; i < weights.size(); ++i) {
    if (weights[i] > decay * weights[i - 1] && weights[i] > floor) return Presence::unresolved;
  }
  return Presence::absent;
}

/// Judges every degree; returns whether one is unresolved.
bool judge_all(const std::vector<Level>& levels, bool last, Spectrum& spectrum) {
  const Level& now = levels.back();
  bool open = false;
  spectrum.degrees.assign(now.weights.size(), {});
  for (std::size_t s = 0; s < now.weights.size(); ++s) {
    std::vector<double> weights;
    for (const Level& level : levels) weights.push_back(level.weights[s]);
    const double before = weights.size() > 1 ? weights[weights.size() - 2] : weights.back();
    Spectrum::Degree& d = spectrum.degrees[s];
    d.weight = {now.weights[s], std::abs(now.weights[s] - before)};
    d.presence = judge(weights, now.square, last);
    if (now.weights[s] <= rounding * rounding * now.square) d.weight = {};
    open = open || (s > 0 && d.presence == Presence::unresolved);
  }
  return open;
}

void remark_on_decay(Spectrum& spectrum) {
  for (std::size_t s = 1; s < spectrum.degrees.size(); ++s) {
    const Spectrum::Degree& d = spectrum.degrees[s];
    if (d.presence != Presence::absent || d.weight.value <= rounding * rounding * spectrum.square) {
      continue;
    }
    spectrum.remarks.push_back("Degree " + std::to_string(s) +
                               " is called absent because its weight keeps falling as the rule is "
                               "refined, as an integration error does.");
  }
}

Spectrum refine(const Link& target, const std::vector<Projected>& parts, std::size_t degree,
                Level first, const Context& context) {
  Spectrum spectrum;
  std::vector<Level> levels;
  levels.push_back(std::move(first));
  const int last = settled(parts) ? 1 : finest_level;
  for (int level = 1; judge_all(levels, false, spectrum) || levels.size() < 2; ++level) {
    context.check();
    auto next = level > last ? std::nullopt : project(target, parts, degree, level);
    if (!next) {
      judge_all(levels, true, spectrum);
      break;
    }
    require_finite(levels.back().square, next->square);
    levels.push_back(std::move(*next));
  }
  spectrum.square = levels.back().square;
  spectrum.coarse = levels[levels.size() > 1 ? levels.size() - 2 : 0].coefficients;
  spectrum.coefficients = std::move(levels.back().coefficients);
  remark_on_decay(spectrum);
  return spectrum;
}

}  // namespace

std::string_view to_string(Presence presence) {
  switch (presence) {
    case Presence::present: return "present";
    case Presence::absent: return "absent";
    case Presence::unresolved: return "unresolved";
  }
  return "";
}

double HermiteCoefficients::along(const std::vector<double>& direction, std::size_t s,
                                  std::size_t output) const {
  double sum = 0.0;
  for (const auto& [k, coefficient] : values) {
    if (total(k) != s) continue;
    double log_ratio = std::lgamma(static_cast<double>(s) + 1.0);
    double product = 1.0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      log_ratio -= std::lgamma(static_cast<double>(k[i]) + 1.0);
      for (std::size_t j = 0; j < k[i]; ++j) product *= direction[i];
    }
    sum += coefficient[output] * std::exp(0.5 * log_ratio) * product;
  }
  return sum;
}

std::size_t Spectrum::exponent() const {
  for (std::size_t s = 1; s < degrees.size(); ++s) {
    if (degrees[s].presence == Presence::present) return s;
    if (degrees[s].presence == Presence::unresolved) return 0;
  }
  return 0;
}

Presence Spectrum::verdict() const {
  if (exponent() > 0) return Presence::present;
  for (std::size_t s = 1; s < degrees.size(); ++s) {
    if (degrees[s].presence != Presence::absent) return Presence::unresolved;
  }
  return Presence::absent;
}

void SpectrumOptions::validate() const {
  if (degree != 1) return;
  throw InvalidArgument("degree",
                        "1 leaves out the curvatures of the risk; allowed: 2 and more, or 0 for 8 "
                        "up to three tokens and 6 beyond");
}

Spectrum target_spectrum(const Link& target, const SpectrumOptions& options,
                         const Context& context) {
  options.validate();
  const std::size_t degree = options.degree > 0 ? options.degree : (target.tokens() <= 3 ? 8 : 6);
  std::vector<Projected> parts;
  for (TokenPart& part : token_parts(target)) {
    auto exact = project_exactly(part, degree, context);
    parts.push_back({std::move(part), std::move(exact)});
  }
  if (auto first = project(target, parts, degree, 0)) {
    return refine(target, parts, degree, std::move(*first), context);
  }
  return directional_spectrum(target, degree, options, context);
}

}  // namespace onset::ssi
