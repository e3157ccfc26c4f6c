#pragma once

#include <functional>
#include <map>
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
  unconverged,  ///< some rows did not converge or missed the tolerance; they are still there
  refused,      ///< the request cannot be answered honestly; `reason` says why
  interrupted,  ///< stopped on request; the rows finished by then are there
};

[[nodiscard]] std::string_view to_string(ResultStatus status);

/// What a verb returns: a table, a few scalars of the whole, and how it ended.
struct Result {
  Table table;
  std::vector<std::pair<std::string, Cell>> summary;
  ResultStatus status = ResultStatus::ok;
  std::string reason;              ///< one sentence; empty when ok
  std::vector<std::string> notes;  ///< remarks for people, one sentence each
  /// Files for the --out folder besides the table. They are dropped without such a folder, and no
  /// store keeps them.
  std::vector<Artifact> artifacts{};

  /// Marks the result as unconverged; the first reason given is the one that is kept.
  void unconverged(std::string why);
};

/// What a run will do and cost, said before it starts (`--explain`).
struct Cost {
  std::string method;         ///< how the numbers are computed, in a few sentences
  double core_seconds = 0.0;  ///< estimated work on one core
  double memory_bytes = 0.0;
  std::string caution = {};  ///< a warning before it starts, such as a tolerance out of reach
};

/// A settled request: its files have been read, its defaults filled in and its model built. None of
/// its strings is read again.
struct Call {
  /// All effective parameters, `seed` and `tol` included. A request made from them settles to the
  /// same ones.
  Parameters parameters;
  Cost cost;
  /// Computes, and adds to a result row by row. It may throw Refused and Interrupted; what was
  /// added until then stays.
  std::function<void(const Context&, Result&)> run;
};

/// A kind of rows that a verb returns.
struct RowKind {
  std::string when;  ///< the options that select it, say "with --level"; empty for the usual rows
  std::vector<Column> columns;  ///< where they depend on parameters, those of the defaults
};

/// One thing that Onset can compute. Each family lists its verbs; catalog() lists them all, and the
/// command line, study files, help and reference pages are generated from that list.
struct Verb {
  std::string family;
  std::string name;
  std::string summary;                ///< one line
  std::string details;                ///< a paragraph: what alpha is, what the rows mean
  std::vector<Parameter> parameters;  ///< in the order of the help, `seed` and `tol` last
  std::vector<RowKind> rows;          ///< the usual rows first
  std::string primary;                ///< the column whose standard error `tol` bounds
  bool needs_folder = false;          ///< its artifacts are what it is for, so --out is required
  int method = 1;                     ///< raised whenever the verb's numbers change
  std::vector<std::string> examples;  ///< arguments after `onset`, ready to paste
  /// Checks what was given, fills in the rest, reads files and builds the model. Throws
  /// InvalidArgument and IoError; a refusal is kept until the run, so that it can be filed under
  /// its parameters.
  std::function<Call(const std::map<std::string, Value>& given)> settle;

  [[nodiscard]] std::string full_name() const { return family + " " + name; }
  /// The columns of the usual rows.
  [[nodiscard]] const std::vector<Column>& columns() const { return rows.front().columns; }
};

/// Runs a settled request, for the command, studies, Python and C++ alike: a refusal or an
/// interruption becomes the status of a result that has the rows finished by then. Throws
/// InvalidArgument when the run would need more memory than the context allows.
[[nodiscard]] Result run(const Verb& verb, const Call& call, const Context& context);

/// Throws InvalidArgument naming the verb when a run would need more than `limit` bytes by the
/// verb's own estimate; called before a run, so that it does not die in the middle.
void require_memory(const Verb& verb, const Call& call, std::size_t limit);

/// A verb together with the type of its requests, for C++: the same checks, defaults and bits as
/// for the command.
template <class Request>
struct VerbOf : Verb {
  /// The fields of a request by their names.
  std::function<Parameters(const Request&)> write;

  [[nodiscard]] Call call(const Request& request) const { return settle(write(request).values()); }
  [[nodiscard]] Result run(const Request& request, const Context& context) const {
    return onset::run(*this, call(request), context);
  }
};

}  // namespace onset
