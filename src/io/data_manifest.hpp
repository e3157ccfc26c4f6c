#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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
std::optional<RunIdentity> take_from_manifest(const std::filesystem::path& folder,
                                              const std::vector<std::string>& writers,
                                              const detail::FieldList& fields, void* request,
                                              const SameMeaning& same = {});
template <class Request>
std::optional<RunIdentity> take_from_manifest(const std::filesystem::path& folder,
                                              const std::vector<std::string>& writers,
                                              const Fields<Request>& fields, Request& request,
                                              const SameMeaning& same = {}) {
  return take_from_manifest(folder, writers, fields.untyped(), &request, same);
}

}  // namespace onset::io
