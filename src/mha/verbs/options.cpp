#include "mha/verbs/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr double max_tokens = 32;
constexpr double max_scale = 1000;
constexpr double max_samples = 1e8;
// In the order of the enumeration.
const std::vector<std::string> degeneracies{"none", "cancelling", "proportional", "parity"};

}  // namespace

std::vector<Parameter> instance_parameters() {
  using Kind = ParameterKind;
  std::vector<Parameter> list{
      make_parameter("heads", Kind::integer, std::int64_t{2}, 1, max_heads, "Attention heads m."),
      make_parameter("dim", Kind::integer, std::int64_t{8}, 2, max_dim, "Dimension d of a token."),
      make_parameter("tokens", Kind::integer, std::int64_t{2}, 1, max_tokens,
                     "Tokens k of an example."),
      make_parameter("scale", Kind::real, 3.0, 0.0, max_scale,
                     "Frobenius norm s of a typical theta: the standard deviation of a logit."),
      make_parameter("samples", Kind::integer, std::int64_t{100'000}, 1, max_samples,
                     "Number N of examples."),
      make_parameter("coherence", Kind::real, 0.0, 0.0, 1e3,
                     "Coherent heads theta_i = G + sep G_i with this sep; 0: independent heads."),
      make_parameter("noise", Kind::real, 0.0, 0.0, 1e6,
                     "Standard deviation of label noise, per coordinate."),
      make_parameter("degree", Kind::real, {}, 0.0, 1.0,
                     "How far --degenerate cancelling or proportional goes: 0 not at all, 1 all "
                     "the way, as without this option.")};
  Parameter degenerate;
  degenerate.name = "degenerate";
  degenerate.kind = Kind::word;
  degenerate.words = degeneracies;
  degenerate.fallback = degeneracies.front();
  degenerate.text =
      "A layer that hides its heads: projections that cancel, that are proportional, or a parity.";
  list.push_back(std::move(degenerate));
  return list;
}

namespace {

/// Only a pull has a degree; elsewhere the option would be passed over in silence.
double read_degree(const Parameters& p, Degeneracy degeneracy) {
  if (!p.has("degree")) return InstanceLaw{}.degree;
  if (degeneracy != Degeneracy::cancelling && degeneracy != Degeneracy::proportional) {
    throw InvalidArgument("--degree", fmt::format("has no effect with --degenerate {}; allowed: "
                                                  "with --degenerate cancelling or proportional",
                                                  p.text("degenerate")));
  }
  return p.real("degree");
}

}  // namespace

InstanceLaw read_instance(const Parameters& p) {
  InstanceLaw law;
  law.heads = static_cast<int>(p.integer("heads"));
  law.dim = static_cast<int>(p.integer("dim"));
  law.tokens = static_cast<int>(p.integer("tokens"));
  law.scale = p.real("scale");
  law.coherence = p.real("coherence");
  law.noise = p.real("noise");
  const auto word = std::find(degeneracies.begin(), degeneracies.end(), p.text("degenerate"));
  law.degeneracy = static_cast<Degeneracy>(word - degeneracies.begin());
  law.degree = read_degree(p, law.degeneracy);
  try {
    law.validate();
  } catch (const InvalidArgument& wrong) {
    const std::string message = wrong.what();
    throw InvalidArgument("--" + wrong.field(), message.substr(wrong.field().size() + 2));
  }
  return law;
}

Cost learning_cost(double count, int tokens, int dim, int heads) {
  const double d = dim;
  const double m = std::max(heads, 2);
  const double rows = count * tokens;
  const double passes = 40.0;
  // Measured on one core: scoring passes, linear programs and least-distance programme, polish.
  const double seconds = passes * rows * (d * d + 40.0 * d) * 1e-9 + 8.0 * std::pow(d / 16.0, 6.0) +
                         10.0 * 2.0 * 24.0 * m * d * std::pow(m * d * d, 2.0) * d * 1e-10;
  const double bytes = rows * (9.0 * d + 40.0) + 8.0 * (8.0 * d * d * d * d + 4e3 * m * d * d) +
                       (m > 2 ? 8.0 * std::pow(253.0 * d, 2.0) : 0.0) + 5e7;
  return {
      "Six phases: a crude sum of projections by least squares; slabs that every head obeys, from "
      "rows in which the heads attend alike; a minimum-norm proxy, large margins and a trimmed "
      "Gauss-Newton refinement; the affine hull of the heads by singular vectors, cross-checked by "
      "linear programs; a net on the hull with every tuple's least squares; then w, and a polish "
      "by "
      "variable projection.",
      seconds, bytes};
}

Cell cell(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", *value);
  return std::strtod(text, nullptr);
}

}  // namespace onset::mha
