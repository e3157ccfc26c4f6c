#include "onset/io/run_folder.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "core/printable.hpp"
#include "io/json_record.hpp"
#include "io/read_file.hpp"
#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {
namespace {

std::string manifest(const RunRecord& record, const Machine& machine) {
  Json object = detail::record_head(record);
  object["method"] = record.method;
  object["machine"] = {{"simd", machine.simd}, {"threads", machine.threads}};
  object["files"] = Json::array({"result.csv"});
  for (const Artifact& artifact : record.result.artifacts) object["files"].push_back(artifact.path);
  object["row_count"] = record.result.table.rows().size();
  detail::append_record_tail(object, record);
  return detail::dump(object);
}

std::string bytes_of(const Artifact& artifact) {
  struct Writer {
    std::string operator()(const Array& array) const { return to_npy(array); }
    std::string operator()(const Table& table) const { return to_csv(table); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, artifact.content);
}

/// A part of the way from the folder to one of its files that is not a folder itself: a link, say,
/// which would lead elsewhere. Empty when there is none; a part that does not exist does not count.
std::filesystem::path detour(const std::filesystem::path& folder,
                             const std::filesystem::path& file) {
  std::filesystem::path at = folder;
  for (const std::filesystem::path& part : file.parent_path()) {
    at /= part;
    std::error_code ignored;
    const auto type = std::filesystem::symlink_status(at, ignored).type();
    if (type == std::filesystem::file_type::not_found) return {};
    if (type != std::filesystem::file_type::directory) return at;
  }
  return {};
}

void write_artifact(const std::filesystem::path& folder, const Artifact& artifact) {
  const std::filesystem::path path = folder / artifact.path;
  if (const auto at = detour(folder, artifact.path); !at.empty()) {
    throw IoError(at.string(), "is a link or a file; allowed: a folder, or nothing");
  }
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw IoError(path.parent_path().string(), "cannot make the folder: " + error.message());
  write_file_atomically(path, bytes_of(artifact));
}

bool is_plain_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() ==
         std::filesystem::file_type::regular;
}

/// Removes what an earlier run of the same command left and this one does not write, so that no
/// file of it is taken for this run's. Other commands' files stay, since they may be this one's
/// input, all but their figure.
void remove_stale(const std::filesystem::path& folder, const RunRecord& record) {
  const std::filesystem::path path = folder / "manifest.json";
  if (!std::filesystem::exists(path)) return;
  const Json old = json_or_nothing(read_file(path)).value_or(Json());
  if (!old.is_object() || !old.contains("files") || !old["files"].is_array()) return;
  // What is drawn of a result is drawn after the manifest, which does not name it. A picture is
  // nobody's input, and one of another command would be taken for this one's.
  for (const char* drawn : {"figure.gp", "figure.svg", "figure.pdf", "figure.png"}) {
    std::error_code ignored;
    if (is_plain_file(folder / drawn)) std::filesystem::remove(folder / drawn, ignored);
  }
  if (old.value("command", "") != record.command) return;
  for (const Json& entry : old["files"]) {
    if (!entry.is_string()) continue;
    const auto name = entry.get<std::string>();
    const auto file = std::filesystem::path(name).lexically_normal();
    if (file.is_absolute() || file.empty() || *file.begin() == "..") continue;
    const auto& kept = record.result.artifacts;
    if (file == "result.csv" ||
        std::any_of(kept.begin(), kept.end(),
                    [&](const Artifact& artifact) { return artifact.path == name; })) {
      continue;
    }
    // The manifest may name files outside this folder, by whoever wrote it; those are left alone.
    std::error_code error;
    if (!detour(folder, file).empty() || !is_plain_file(folder / file)) continue;
    std::filesystem::remove(folder / file, error);
    if (file.has_parent_path()) std::filesystem::remove(folder / file.parent_path(), error);
  }
}

/// Nothing where it is no whole number that an int holds; the first manifests had none, which is 1.
std::optional<int> method_of(const Json& object) {
  const auto found = object.find("method");
  if (found == object.end()) return 1;
  if (!found->is_number_integer()) return std::nullopt;
  const auto method = found->get<std::int64_t>();
  if (method < 0 || method > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(method);
}

Value value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return json.get<std::vector<double>>();
  return {};
}

}  // namespace

void prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder.string(), "cannot make the folder: " + error.message());
  // Only trying tells for certain what permissions, quotas and read-only mounts allow.
  const std::filesystem::path probe = folder / ".onset-probe";
  write_file_atomically(probe, "");
  std::filesystem::remove(probe, error);
}

void withdraw_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  std::error_code error;
  if (is_plain_file(path) && !std::filesystem::remove(path, error)) {
    throw IoError(path.string(), "cannot be removed: " + error.message());
  }
}

void write_run_folder(const std::filesystem::path& folder, const RunRecord& record,
                      const Machine& machine) {
  prepare_folder(folder);
  remove_stale(folder, record);
  withdraw_manifest(folder);
  write_file_atomically(folder / "result.csv", to_csv(record.result.table));
  for (const Artifact& artifact : record.result.artifacts) write_artifact(folder, artifact);
  // The manifest is written last, so that a folder which has one is complete.
  write_file_atomically(folder / "manifest.json", manifest(record, machine));
}

std::optional<RunIdentity> read_run_identity(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  if (!std::filesystem::exists(path)) return std::nullopt;
  const IoError no_manifest(path.string(),
                            "is not the manifest of a run; allowed: what onset writes, or none");
  try {
    const Json object = parse_json(read_file(path));
    RunIdentity identity;
    identity.command = object.at("command").get<std::string>();
    const std::optional<int> method = method_of(object);
    if (!method) throw no_manifest;
    identity.method = *method;
    for (const auto& [name, value] : object.at("parameters").items()) {
      if (value.is_object()) {
        throw IoError(path.string(), "has an object as the value of " + in_quotes(name) +
                                         "; allowed: a number, a text, a list of numbers, true, "
                                         "false, or null");
      }
      if (!value.is_null()) identity.parameters.emplace(name, value_of(value));
    }
    return identity;
  } catch (const Json::exception&) {
    throw no_manifest;
  }
}

}  // namespace onset::io
