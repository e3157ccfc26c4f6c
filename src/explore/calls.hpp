#pragma once

#include <map>
#include <span>
#include <string>

#include "explore/json.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"

namespace onset::explore {

/// A call of a verb as the page asks for it: {"command": "aim curve", "given": {"alpha":
/// "0.1:1:0.1"}} with every value as the text that the command line would have.
struct CallRequest {
  const Verb* verb = nullptr;
  std::map<std::string, Value> given;  ///< as the verb takes them
  /// The same for people to read again: a grid that was given as a range stays one.
  std::map<std::string, Value> shown;
};

/// Throws InvalidArgument naming the parameter, with the nearest valid word.
[[nodiscard]] CallRequest read_call(const Json& body, std::span<const Verb> verbs);

/// The parameter of that name, `seed` and `tol` included; throws InvalidArgument with the nearest.
[[nodiscard]] const Parameter& find_parameter(const Verb& verb, const std::string& name);

/// The call in Python.
[[nodiscard]] std::string python_text(const CallRequest& call);

/// All that is known before a run: effective parameters, method, cost, and the call as a shell
/// command, as a study file and in Python. Throws InvalidArgument and IoError as settling does.
[[nodiscard]] Json settled_json(const CallRequest& call);

/// A run: the object that the command prints as JSON, and the columns with their meanings. The
/// status is a word of its own while the run is under way and when it was stopped.
[[nodiscard]] Json result_json(const study::PointRecord& record, std::string_view status);
/// The same of a run that ended by itself.
[[nodiscard]] Json result_json(const study::PointRecord& record);

}  // namespace onset::explore
