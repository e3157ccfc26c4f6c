#include "tool/sweep/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "onset/core/error.hpp"
#include "tool/commands/commands.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"

namespace onset::tool {
namespace {

constexpr double seconds_per_hour = 3600.0;

/// Reads "i/n" with i from 0 to n, since jobs may be numbered from 0 or from 1.
study::Shard read_shard(const std::string& text) {
  study::Shard shard;
  const char* end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
  const bool split = first == std::errc{} && slash != end && *slash == '/';
  const auto [rest, second] =
      split ? std::from_chars(slash + 1, end, shard.count) : std::from_chars_result{slash, first};
  if (!split || second != std::errc{} || rest != end || shard.count == 0 ||
      shard.index > shard.count) {
    throw InvalidArgument("--shard", "'" + text +
                                         "' is not a shard; allowed: i/n with i from 1 to n (or "
                                         "from 0 to n - 1), say 2/10");
  }
  return shard;
}

std::vector<std::string> read_keys(const std::string& text) {
  std::vector<std::string> keys;
  std::istringstream words(text);
  for (std::string key; std::getline(words, key, ',');) keys.push_back(key);
  if (keys.empty())
    throw InvalidArgument("--point", "is empty; allowed: a key, or several: KEY,KEY");
  return keys;
}

}  // namespace

std::vector<Parameter> sweep_parameters() {
  Parameter hours = option("max-hours", ParameterKind::real, {},
                           "Stop cleanly after this time; run again to go on (exit code 3).");
  Parameter point_seconds =
      option("max-point-seconds", ParameterKind::real, {},
             "A point that takes longer than this has failed; the others go on.");
  for (Parameter* limit : {&hours, &point_seconds}) {
    limit->min = 0.0;
    limit->open_min = true;
  }
  std::vector<Parameter> all{
      option("store", ParameterKind::text, {},
             "The store, which is made if it does not exist; STUDY.db here by default."),
      option("dry-run", ParameterKind::flag, false,
             "List the points and the estimated work; compute nothing."),
      option("list", ParameterKind::flag, false,
             "List the points with their keys, for programs that run them one by one (--format "
             "jsonl); compute nothing."),
      option("status", ParameterKind::flag, false, "Say where it stands; compute nothing."),
      option("retry", ParameterKind::flag, false,
             "Compute again what failed, was refused or did not converge."),
      option("shard", ParameterKind::text, {},
             "Only the points of job i of n: i/n, jobs numbered from 1 (or from 0). The estimated "
             "work of all is nearly the same."),
      option("point", ParameterKind::text, {},
             "Only the point with this key, or these: KEY,KEY,... as --list shows them."),
      std::move(hours),
      std::move(point_seconds)};
  for (Parameter& parameter : common_parameters()) {
    const std::string& name = parameter.name;
    if (name != "out" && name != "explain" && name != "max-seconds" && name != "columns") {
      all.push_back(std::move(parameter));
    }
  }
  return all;
}

SweepRequest read_sweep_request(Arguments arguments) {
  const std::vector<Parameter> known = sweep_parameters();
  const Operands operands = split_operands(arguments, known);
  std::map<std::string, Value> given = read_options(operands.options, known);
  if (operands.words.size() != 1) {
    throw InvalidArgument(
        "sweep", operands.words.empty()
                     ? "a study file is missing; allowed: onset sweep STUDY.toml"
                     : "'" + operands.words[1] + "' is one file too many; allowed: one study");
  }
  SweepRequest request;
  request.study = operands.words[0];
  request.threads_given = given.contains("threads");
  request.common = take_common_options(given);
  const Parameters own = complete(known, given);
  request.store = own.has("store") ? std::filesystem::path(own.text("store"))
                                   : request.study.stem().replace_extension(".db");
  if (request.store.empty()) throw InvalidArgument("--store", "is empty; allowed: a file");
  request.dry_run = own.flag("dry-run");
  request.status = own.flag("status");
  request.list = own.flag("list");
  if (request.dry_run + request.list + request.status > 1) {
    throw InvalidArgument(request.status ? "--status" : "--list",
                          "and another of --dry-run, --list and --status were given; allowed: one "
                          "of them");
  }
  for (const char* limit : {"max-hours", "max-point-seconds"}) {
    if (own.has(limit) && (request.dry_run || request.list || request.status)) {
      throw InvalidArgument(fmt::format("--{}", limit),
                            "has no effect where nothing is computed; "
                            "allowed: leaving it out");
    }
  }
  if (own.flag("retry") && (request.list || request.status)) {
    throw InvalidArgument("--retry",
                          "has no effect with --list and --status; allowed: leaving it out");
  }
  if (own.has("shard") && own.has("point")) {
    throw InvalidArgument("--point", "and --shard both choose points; allowed: one of them");
  }
  request.sweep.retry = own.flag("retry");
  if (own.has("shard")) request.sweep.shard = read_shard(own.text("shard"));
  if (own.has("point")) request.sweep.keys = read_keys(own.text("point"));
  if (own.has("max-hours")) {
    request.max_hours = own.real("max-hours");
    request.common.max_seconds = *request.max_hours * seconds_per_hour;
  }
  if (own.has("max-point-seconds")) request.max_point_seconds = own.real("max-point-seconds");
  return request;
}

}  // namespace onset::tool
