#include "onset/core/verb.hpp"

#include <cstdio>
#include <iterator>
#include <string>

#include "onset/core/error.hpp"

namespace onset {
namespace {

/// Two digits, say "1.5 GiB" or "61 MiB"; an estimate of memory is good for no more.
std::string in_binary_units(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  constexpr double step = 1024.0;
  const std::size_t largest = std::size(units) - 1;
  std::size_t unit = 0;
  while (bytes >= 1000.0 && unit < largest) {
    bytes /= step;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10.0 ? "%.1f" : "%.0f", bytes);
  return std::string(text) + " " + units[unit];
}

}  // namespace

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

Parameters complete(const Verb& verb, const std::map<std::string, Value>& given) {
  Parameters all = complete(effective_parameters(verb), given);
  if (verb.read_files) verb.read_files(all);
  if (!verb.tol_for || given.contains("tol")) return all;
  try {
    all.set("tol", verb.tol_for(all));
  } catch (const InvalidArgument&) {
    // What does not go together is said by the run itself.
  } catch (const Refused&) {
  }
  return all;
}

void require_memory(const Verb& verb, const Parameters& parameters, std::size_t limit) {
  if (!verb.cost) return;
  const double needed = verb.cost(parameters).memory_bytes;
  if (needed <= static_cast<double>(limit)) return;
  throw InvalidArgument(verb.full_name(), "needs about " + in_binary_units(needed) +
                                              " of memory with these parameters; allowed: " +
                                              in_binary_units(static_cast<double>(limit)) +
                                              " here");
}

}  // namespace onset
