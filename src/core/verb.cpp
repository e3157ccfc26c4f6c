#include "onset/core/verb.hpp"

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

#include "onset/core/error.hpp"

namespace onset {
namespace {

/// Writes two digits, say "1.5 GiB" or "61 MiB": an estimate of memory is no more accurate.
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

void Result::unconverged(std::string why) {
  if (status != ResultStatus::ok) return;
  status = ResultStatus::unconverged;
  reason = std::move(why);
}

Result run(const Verb& verb, const Call& call, const Context& context) {
  require_memory(verb, call, context.memory_limit);
  Result result;
  result.table = Table(verb.columns());
  try {
    call.run(context, result);
  } catch (const Refused& refusal) {
    result.status = ResultStatus::refused;
    result.reason = refusal.what();
  } catch (const Interrupted&) {
    result.status = ResultStatus::interrupted;
    result.reason = "stopped on request; the rows finished by then are given";
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError(error.path1().string(), error.code().message());
  }
  return result;
}

void require_memory(const Verb& verb, const Call& call, std::size_t limit) {
  const double needed = call.cost.memory_bytes;
  if (needed <= static_cast<double>(limit)) return;
  throw InvalidArgument(verb.full_name(), "needs about " + in_binary_units(needed) +
                                              " of memory with these parameters; allowed: " +
                                              in_binary_units(static_cast<double>(limit)) +
                                              " here");
}

}  // namespace onset
