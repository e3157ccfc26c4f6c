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

/// What the manifest.json of a data folder said.
struct FromManifest {
  std::string file;
  std::optional<RunIdentity> identity;  ///< of the run; nothing without a manifest
  std::vector<std::string> taken;       ///< fields that nobody else gave

  /// What settle() returns. What it says against a field that was taken, it says against the file:
  /// throws IoError then.
  template <class Settle>
  auto settled(const Settle& settle) const {
    try {
      return settle();
    } catch (const InvalidArgument& error) {
      if (std::find(taken.begin(), taken.end(), error.field()) == taken.end()) throw;
      throw IoError(file, "'" + parameter_name(error.field()) + "': " + error.message());
    }
  }
};

/// Fills fields that were not given from the manifest.json of a data folder, if it has one, and
/// compares those that were. `writers` are the commands whose folders are accepted, and `same` says
/// whether two values that are written differently mean the same. Throws IoError for a manifest
/// that cannot be used, and InvalidArgument for an option that contradicts it.
FromManifest take_from_manifest(const std::filesystem::path& folder,
                                const std::vector<std::string>& writers,
                                const detail::FieldList& fields, void* request,
                                const SameMeaning& same = {});
template <class Request>
FromManifest take_from_manifest(const std::filesystem::path& folder,
                                const std::vector<std::string>& writers,
                                const Fields<Request>& fields, Request& request,
                                const SameMeaning& same = {}) {
  return take_from_manifest(folder, writers, fields.untyped(), &request, same);
}

}  // namespace onset::io
