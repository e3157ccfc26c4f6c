#include "onset/core/verb.hpp"

#include <limits>

namespace onset {

std::string_view to_string(ResultStatus status) {
  switch (status) {
    case ResultStatus::ok: return "ok";
    case ResultStatus::unconverged: return "unconverged";
    case ResultStatus::refused: return "refused";
    case ResultStatus::interrupted: return "interrupted";
  }
  return "unknown";
}

std::vector<Parameter> effective_parameters(const Verb& verb) {
  std::vector<Parameter> all = verb.parameters;

  Parameter seed;
  seed.name = "seed";
  seed.kind = ParameterKind::integer;
  seed.fallback = std::int64_t{1};
  seed.min = 0.0;
  seed.text = "Key of all random streams; the same seed gives the same bits.";
  all.push_back(std::move(seed));

  Parameter tol;
  tol.name = "tol";
  tol.kind = ParameterKind::real;
  tol.fallback = verb.default_tol;
  tol.min = 0.0;
  tol.open_min = verb.default_tol > 0.0;  // verbs that are exact to rounding have a default of 0
  tol.text = verb.primary.empty() ? "Target standard error (absolute)."
                                  : "Target standard error (absolute) of " + verb.primary + ".";
  all.push_back(std::move(tol));
  return all;
}

}  // namespace onset
