#include "onset/ssi/limits/origin.hpp"

#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/limits/origin/origin_methods.hpp"
#include "ssi/model/parity.hpp"

namespace onset::ssi {
namespace {

/// Below this, relative to the scale of the risk, a deterministic coefficient is rounding.
constexpr double rounding = 1e-11;
/// Coefficients below this, relative to the same scale, are shown as 0.
constexpr double min_shown = 1e-15;
/// The number of standard errors (or bounds) that a coefficient must exceed to count.
constexpr double sure = 6.0;

Presence judge(const Estimate& x, double scale) {
  if (std::abs(x.value) > sure * x.error + rounding * scale) return Presence::present;
  return x.error <= 1e-6 * scale ? Presence::absent : Presence::unresolved;
}

/// Degrees that the target lacks are absent whatever the errors say. Powers of m come from them
/// alone, unless encodings see the teacher.
void judge_all(const SequenceModel& model, const Spectrum& spectrum, OriginExpansion& origin) {
  for (std::size_t s = 1; s <= origin.degree; ++s) {
    const Presence target = spectrum.degrees[s].presence;
    if (target == Presence::absent) {
      origin.presence[s] = Presence::absent;
      origin.visible[s] = {0.0, 0.0};
      if (!model.encodings_see_teacher()) origin.taylor[0][s] = {0.0, 0.0};
      continue;
    }
    const double scale = std::sqrt(spectrum.degrees[s].weight.value);
    const Presence own = judge(origin.visible[s], scale);
    origin.presence[s] = target == Presence::unresolved ? Presence::unresolved : own;
  }
}

/// Replaces a value below rounding by 0, with an error of that size.
void drop_rounding(double floor, OriginExpansion& origin) {
  const auto drop = [floor](Estimate& x) {
    if (x.value != 0.0 && std::abs(x.value) <= floor) x = {0.0, std::hypot(x.error, floor)};
    if (x.value == 0.0) x.value = 0.0;  // removes the sign of zero
  };
  for (auto& row : origin.taylor) {
    for (Estimate& x : row) drop(x);
  }
  for (Estimate& x : origin.visible) drop(x);
}

/// An even target leaves even powers of m only, unless encodings see the teacher; an even student
/// even orders j + s only.
void use_parity(const SequenceModel& model, OriginExpansion& origin) {
  const bool even_target = is_even(*model.target) && !model.encodings_see_teacher();
  const bool even_student = is_even(*model.student.link);
  for (std::size_t j = 0; j < origin.taylor.size(); ++j) {
    for (std::size_t s = 0; s < origin.taylor[j].size(); ++s) {
      const bool vanishes = (even_target && s % 2 == 1) || (even_student && (j + s) % 2 == 1);
      if (!vanishes) continue;
      origin.taylor[j][s] = {0.0, 0.0};
    }
  }
  for (std::size_t s = 1; s < origin.visible.size(); s += 2) {
    if (is_even(*model.target) || even_student) origin.visible[s] = {0.0, 0.0};
  }
}

}  // namespace

Estimate OriginExpansion::curvature_e() const {
  return {2.0 * taylor[2][0].value, 2.0 * taylor[2][0].error};
}

Estimate OriginExpansion::curvature_m() const {
  return {2.0 * taylor[0][2].value, 2.0 * taylor[0][2].error};
}

OriginExpansion blank_origin(std::size_t degree, bool positional) {
  OriginExpansion origin;
  origin.degree = degree;
  const std::size_t rows = positional ? degree + 1 : 1;
  for (std::size_t j = 0; j < rows; ++j) origin.taylor.emplace_back(degree + 1 - j);
  origin.visible.resize(degree + 1);
  origin.presence.assign(degree + 1, Presence::unresolved);
  return origin;
}

OriginExpansion expand_at_origin(const SequenceModel& model, const Spectrum& spectrum,
                                 std::uint64_t seed, const Context& context) {
  const bool by_quadrature = spectrum.exact && model.tokens() <= 3;
  if (model.encodings_see_teacher() && !by_quadrature) {
    throw Refused(
        "encodings with a component along the teacher move fields by m, and the expansion around "
        "the start then takes series of the student, which up to three tokens have; possible: no "
        "component along the teacher (ssi loss, flow and sgd take any)");
  }
  OriginExpansion origin;
  if (model.student.activation) {
    origin = activation_origin(model, spectrum, seed, context);
  } else if (by_quadrature) {
    origin = quadrature_origin(model, spectrum, context);
  } else {
    origin = sampled_origin(model, spectrum, seed, context);
  }
  use_parity(model, origin);
  drop_rounding(min_shown * std::sqrt(spectrum.square), origin);
  judge_all(model, spectrum, origin);
  return origin;
}

}  // namespace onset::ssi
