#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "onset/core/artifact.hpp"
#include "onset/core/context.hpp"
#include "onset/core/parameters.hpp"
#include "onset/core/table.hpp"

namespace onset {

/// How a run ended, as the outside sees it.
enum class ResultStatus {
  ok,
  unconverged,  ///< some rows did not converge or miss the asked tolerance; rows are still given
  refused,      ///< the request cannot be answered honestly; `reason` says why
  interrupted,  ///< stopped on request; the rows finished so far are given
};

[[nodiscard]] std::string_view to_string(ResultStatus status);

/// What a verb returns: a table, a few scalars of the whole, and how it ended.
struct Result {
  Table table;
  std::vector<std::pair<std::string, Cell>> summary;
  ResultStatus status = ResultStatus::ok;
  std::string reason;              ///< one sentence; empty when ok
  std::vector<std::string> notes;  ///< remarks for people, one sentence each
  /// Files for the --out folder besides the table; dropped without one, and never stored.
  std::vector<Artifact> artifacts{};
};

/// What a run will do and cost, said before it starts (`--explain`).
struct Cost {
  std::string method;         ///< how the numbers are computed, a few sentences
  double core_seconds = 0.0;  ///< estimated work on one core
  double memory_bytes = 0.0;
  std::string caution = {};  ///< what to know before it starts, such as a tolerance out of reach
};

/// One thing that Onset can compute. Each family lists its verbs; catalog() lists them all, and the
/// command line, study files, help and reference pages are generated from that list.
struct Verb {
  std::string family;
  std::string name;
  std::string summary;                ///< one line
  std::string details;                ///< a paragraph: what alpha is, what the rows mean
  std::vector<Parameter> parameters;  ///< its own; seed and tol are added by effective_parameters()
  std::vector<Column> columns;        ///< the columns that are always there
  std::string primary;                ///< the column that `tol` speaks of
  double default_tol = 0.0;
  bool needs_folder = false;  ///< its artifacts are the point: --out must be given
  /// Puts in place of parameters that name files what the files hold, so that results are filed
  /// under what was computed; may be empty. Throws InvalidArgument.
  std::function<void(Parameters&)> read_files;
  /// The default tolerance where it depends on the other parameters; may be empty.
  std::function<double(const Parameters&)> tol_for;
  int method = 1;                     ///< raised whenever the verb's numbers change
  std::vector<std::string> examples;  ///< arguments after `onset`, ready to paste
  std::function<Cost(const Parameters&)> cost;
  std::function<Result(const Parameters&, const Context&)> run;

  [[nodiscard]] std::string full_name() const { return family + " " + name; }
};

/// The verb's own parameters followed by `seed` and `tol`.
[[nodiscard]] std::vector<Parameter> effective_parameters(const Verb& verb);

/// complete() for a verb: all its effective parameters, with the default tolerance that suits them.
[[nodiscard]] Parameters complete(const Verb& verb, const std::map<std::string, Value>& given);

/// Throws InvalidArgument naming the verb when a run would need more than `limit` bytes by the
/// verb's own estimate; called before a run, so that it does not die in the middle.
void require_memory(const Verb& verb, const Parameters& parameters, std::size_t limit);

}  // namespace onset
