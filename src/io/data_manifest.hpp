#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/field_names.hpp"
#include "core/fields.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"

namespace onset::io {

/// Whether two values of an option mean the same.
using SameMeaning =
    std::function<bool(const std::string& name, const Value& given, const Value& said)>;

/// Fills fields that were not given from the manifest.json of a data folder, if it has one, and
/// compares those that were. `writers` are the commands whose folders are accepted, and `same` says
/// whether two values that are written differently mean the same. Returns what the manifest says
/// about the run. Throws IoError for a manifest that cannot be used, and InvalidArgument for an
/// option that contradicts it.
template <class Request>
std::optional<RunIdentity> take_from_manifest(const std::filesystem::path& folder,
                                              const std::vector<std::string>& writers,
                                              const Fields<Request>& fields, Request& request,
                                              const SameMeaning& same = {}) {
  auto identity = read_run_identity(folder);
  if (!identity) return std::nullopt;
  const std::string file = (folder / "manifest.json").string();
  if (std::find(writers.begin(), writers.end(), identity->command) == writers.end()) {
    throw IoError(file, "says that '" + identity->command +
                            "' wrote the folder; allowed: a folder of '" + writers.front() +
                            "', or one without manifest.json");
  }
  for (const Parameter& parameter : fields.parameters()) {
    const std::string& name = parameter.name;
    const auto found = identity->parameters.find(name);
    if (found == identity->parameters.end()) continue;
    const Value said = [&] {
      try {
        return complete({&parameter, 1}, {{name, found->second}}).values().at(name);
      } catch (const InvalidArgument&) {
        throw IoError(file, "has the value " + to_text(found->second) + " of '" + name +
                                "'; allowed: " + parameter.allowed());
      }
    }();
    const Value now = fields.get(name, request);
    if (std::holds_alternative<std::monostate>(now)) {
      fields.set(name, said, request);
    } else if (now != said && !(same && same(name, now, said))) {
      throw InvalidArgument(field_name(name),
                            to_text(now) + " contradicts manifest.json of the data; allowed: " +
                                to_text(said) + ", or leaving it out with `data`");
    }
  }
  return identity;
}

}  // namespace onset::io
