#include "onset/ssi/limits/exponent.hpp"

#include <algorithm>
#include <cmath>

#include "ssi/model/parity.hpp"

namespace onset::ssi {
namespace {

constexpr double coefficient_errors = 6.0;
constexpr double coefficient_rounding = 1e-10;

/// The first degree that the student certainly sees; 0 if there is none. `certain` tells whether
/// all lower degrees are certainly not seen.
std::size_t first_visible(const OriginExpansion& origin, bool& certain) {
  certain = true;
  for (std::size_t s = 1; s <= origin.degree; ++s) {
    if (origin.presence[s] == Presence::present) return s;
    if (origin.presence[s] == Presence::unresolved) {
      certain = false;
      return 0;
    }
  }
  return 0;
}

/// The first order at which any derivative of the risk does not vanish; 0 if there is none.
std::size_t flatness(const OriginExpansion& origin, bool& certain) {
  certain = true;
  for (std::size_t k = 1; k <= origin.degree; ++k) {
    for (std::size_t j = 0; j <= k && j < origin.taylor.size(); ++j) {
      const Estimate& x = origin.taylor[j][k - j];
      if (std::abs(x.value) > coefficient_errors * x.error + coefficient_rounding) return k;
      if (x.error > 1e-6) certain = false;
    }
  }
  return 0;
}

std::optional<int> known(std::size_t order) {
  if (order == 0) return std::nullopt;
  return static_cast<int>(order);
}

std::string sample_complexity(std::size_t order) {
  if (order == 1) return "d";
  if (order == 2) return "d log d";
  return "d^" + std::to_string(order - 1);
}

/// Explains a student that jumps: SGD follows derivatives, which miss jumps, so the risk decides
/// nothing.
void explain_jump(const SequenceModel& model, Exponents& x) {
  if (is_flat(*model.student.link)) {
    x.samples = "never";
    x.meaning =
        "The target is never learned by this student: it jumps and is flat elsewhere, so that SGD, "
        "which follows its derivatives, never moves.";
    return;
  }
  x.samples = "unknown";
  x.resolved = false;
  x.meaning =
      "Not decided: the student jumps, and SGD follows its derivatives, which miss the jumps, and "
      "not the slope of the risk.";
}

/// Encodings that see the teacher give m slopes of the student's own, whatever the target: only the
/// expansion as a whole says whither the start is left.
void explain_moved(std::size_t descending, Exponents& x) {
  if (descending == 0) {
    x.samples = "never";
    x.meaning = "The start is never left from small overlaps: the risk falls along no direction.";
    return;
  }
  x.samples = sample_complexity(descending);
  x.meaning =
      "The encodings see the teacher, so that fields move with m whatever the target: the start is "
      "left in about " +
      x.samples + " samples.";
}

void explain(const SequenceModel& model, std::size_t descending, Exponents& x) {
  const std::string cut = std::to_string(x.origin.degree);
  if (x.verdict == Presence::absent) {
    x.samples = "never";
    x.meaning =
        x.spectrum.square - x.spectrum.degrees[0].weight.value < 1e-12 * x.spectrum.square ||
                x.spectrum.square == 0.0
            ? "Nothing to learn: the target is constant."
            : "Out of reach: the target has no component up to degree " + cut +
                  ", so that more than d^" + cut + " samples would be needed.";
    return;
  }
  if (model.student.jumps()) {
    explain_jump(model, x);
    return;
  }
  if (!x.resolved) {
    x.samples = "unknown";
    x.meaning = "Not decided: some degree is neither clearly there nor clearly absent.";
    return;
  }
  if (model.encodings_see_teacher()) {
    explain_moved(descending, x);
    return;
  }
  const bool along_m = x.s_eff && (*x.s_eff % 2 == 1 || *x.sign > 0);
  std::string semantic;
  if (!x.s_eff) {
    semantic = "never learned by this student: it sees nothing of the target up to degree " + cut;
  } else if (!along_m) {
    semantic = "never learned by this student from a small overlap: the sign of degree " +
               std::to_string(*x.s_eff) + " makes m = 0 a minimum along m";
  } else {
    semantic =
        "learned in about " + sample_complexity(static_cast<std::size_t>(*x.s_eff)) + " samples";
  }
  x.samples = along_m ? sample_complexity(static_cast<std::size_t>(*x.s_eff)) : "never";
  x.meaning = "The target is " + semantic + ".";
  if (!model.positional) return;
  if (descending == 0) {
    x.meaning += " The positional direction is no way out either.";
  } else if (!along_m || static_cast<int>(descending) < *x.s_eff) {
    x.samples = sample_complexity(descending);
    x.meaning +=
        " The start is left along the positional direction in about " + x.samples + " samples.";
  }
}

/// Whether some term of a link couples more than three tokens, so that it is tested by sampling.
bool couples_many(const Link& link) {
  if (link.expression() == nullptr) return link.tokens() > 3;
  const auto terms = link.expression()->terms();
  return std::any_of(terms.begin(), terms.end(),
                     [](const auto& term) { return term.part.used().size() > 3; });
}

}  // namespace

Exponents information_exponents(const SequenceModel& model, const SpectrumOptions& options,
                                const Context& context) {
  Exponents x;
  context.report(0.1, "Hermite coefficients of the target");
  x.spectrum = target_spectrum(*model.target, options, context);
  context.report(0.5, "what the student sees");
  x.origin = expand_at_origin(model, x.spectrum, options.seed, context);
  x.verdict = x.spectrum.verdict();
  x.sie = known(x.spectrum.exponent());
  bool sees_certain = true;
  const std::size_t seen = first_visible(x.origin, sees_certain);
  x.s_eff = known(seen);
  if (seen > 0) x.sign = x.origin.visible[seen].value > 0.0 ? 1 : -1;
  bool fall_certain = true;
  const std::size_t descending = descending_order(x.origin, fall_certain);
  x.sie_descending = known(descending);
  bool flat_certain = true;
  if (model.positional) x.sie_positional = known(flatness(x.origin, flat_certain));
  x.resolved = x.verdict != Presence::unresolved && sees_certain && fall_certain && flat_certain;
  explain(model, descending, x);
  return x;
}

double exponents_seconds(const SequenceModel& model, const SpectrumOptions& options) {
  // All measured. A point is one of those at which a sampled expansion looks.
  constexpr double of_quadrature = 0.1;
  constexpr double of_three_tokens = 0.06;
  constexpr double points = 131'072.0;
  constexpr double ns_per_coefficient_token = 5.0;
  constexpr double ns_of_directions = 1000.0;
  constexpr std::size_t quadrature_tokens = 3;
  const Link& target = *model.target;
  const auto tokens = static_cast<double>(model.tokens());
  const bool many = couples_many(target);
  double seconds = of_quadrature + (model.tokens() == quadrature_tokens ? of_three_tokens : 0.0);
  if (many) {
    seconds += 1e-9 * (ns_of_directions + target.value_ns()) * static_cast<double>(options.samples);
  }
  if (model.student.activation || model.tokens() <= quadrature_tokens) return seconds;
  const double terms = many ? 0.0 : static_cast<double>(target.expression()->terms().size());
  const double point = model.student.link->value_ns() + (many ? target.value_ns() : 0.0) +
                       ns_per_coefficient_token * terms * tokens;
  return seconds + 1e-9 * points * point;
}

}  // namespace onset::ssi
