#include "onset/io/run_folder.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "core/printable.hpp"
#include "io/file_status.hpp"
#include "io/json_record.hpp"
#include "io/read_file.hpp"
#include "io/run_files.hpp"
#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {
namespace {

constexpr const char* manifest_name = "manifest.json";

std::string manifest(const RunRecord& record, const Machine& machine, const Json& marks) {
  Json object = detail::record_head(record);
  object["method"] = record.method;
  object["machine"] = {{"simd", machine.simd}, {"threads", machine.threads}};
  object["files"] = Json::array({"result.csv"});
  for (const Artifact& artifact : record.result.artifacts) object["files"].push_back(artifact.path);
  object["marks"] = marks;
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

/// Throws IoError where a file of this name would be written elsewhere, or to something else.
void require_place(const std::filesystem::path& folder, const std::filesystem::path& file) {
  if (const auto at = detour(folder, file); !at.empty()) {
    throw IoError(at.string(), "is a link or a file; allowed: a folder, or nothing");
  }
  require_plain_target(folder / file);
}

/// Returns the mark of the file.
Json write_artifact(const std::filesystem::path& folder, const Artifact& artifact) {
  const std::filesystem::path path = folder / artifact.path;
  require_place(folder, artifact.path);
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw IoError(path.parent_path().string(), "cannot make the folder: " + error.message());
  const std::string bytes = bytes_of(artifact);
  write_file_atomically(path, bytes);
  return mark_of_content(bytes);
}

/// The manifest of an earlier run or figure; nothing where there is none. Throws IoError for what
/// is not one of ours, which belongs to somebody and is not replaced.
std::optional<Json> earlier_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  require_plain_target(path);
  if (!is_there(path)) return std::nullopt;
  Json found = json_or_nothing(read_file(path)).value_or(Json());
  const auto command = found.find("command");
  if (!found.is_object() || command == found.end() || !command->is_string()) {
    throw IoError(path.string(),
                  "is no manifest of Onset, and would be replaced; allowed: what onset writes, or "
                  "none");
  }
  return found;
}

/// Removes a file that a manifest names if it is what the manifest says, in a folder that no link
/// leads out of. Returns whether it did.
bool remove_marked(const std::filesystem::path& folder, const std::string& name,
                   const Json& marks) {
  const auto mark = marks.is_object() ? marks.find(name) : marks.end();
  if (mark == marks.end() || !detour(folder, name).empty()) return false;
  std::error_code ignored;
  return has_content(folder / name, *mark) && std::filesystem::remove(folder / name, ignored);
}

/// Removes what an earlier run of the same command left and this one does not write, so that no
/// file of it is taken for this run's. Other commands' files stay, since they may be this one's
/// input, all but their figure: a picture is nobody's input, and would be taken for this run's. A
/// manifest may have been written by anybody, so that only files go that have one of our names and
/// are what it says, to the byte.
void remove_stale(const std::filesystem::path& folder, const RunRecord& record) {
  const Json old = earlier_manifest(folder).value_or(Json::object());
  for (const std::string& drawn : drawn_files()) {
    remove_marked(folder, drawn, old.value("pictures", Json()));
  }
  if (old.value("command", "") != record.command) return;
  const Json marks = old.value("marks", Json::object());
  if (!marks.is_object()) return;
  const auto& kept = record.result.artifacts;
  for (const auto& [name, mark] : marks.items()) {
    if (!is_file_of(record.command, name) ||
        std::any_of(kept.begin(), kept.end(),
                    [&name = name](const Artifact& artifact) { return artifact.path == name; })) {
      continue;
    }
    const std::filesystem::path within = std::filesystem::path(name).parent_path();
    std::error_code ignored;  // a folder that has more than this file stays
    if (remove_marked(folder, name, marks) && !within.empty()) {
      std::filesystem::remove(folder / within, ignored);
    }
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

void prepare_folder(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder.string(), "cannot make the folder: " + error.message());
  (void)earlier_manifest(folder);
  for (const std::string& file : files) require_place(folder, file);
  // Only trying tells for certain what permissions, quotas and read-only mounts allow.
  const std::filesystem::path probe = folder / ".onset-probe";
  write_file_atomically(probe, "");
  std::filesystem::remove(probe, error);
}

void prepare_run_folder(const std::filesystem::path& folder, const std::string& command) {
  std::vector<std::string> files = named_files(command);
  files.emplace_back("result.csv");
  files.insert(files.end(), drawn_files().begin(), drawn_files().end());
  prepare_folder(folder, files);
}

void withdraw_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  std::error_code error;
  if (is_plain_file(path) && !std::filesystem::remove(path, error)) {
    throw IoError(path.string(), "cannot be removed: " + error.message());
  }
}

void write_run_folder(const std::filesystem::path& folder, const RunRecord& record,
                      const Machine& machine) {
  prepare_run_folder(folder, record.command);
  remove_stale(folder, record);
  withdraw_manifest(folder);
  write_file_atomically(folder / "result.csv", to_csv(record.result.table));
  Json marks = Json::object();
  for (const Artifact& artifact : record.result.artifacts) {
    Json mark = write_artifact(folder, artifact);
    if (is_file_of(record.command, artifact.path)) marks[artifact.path] = std::move(mark);
  }
  // The manifest is written last, so that a folder which has one is complete.
  write_file_atomically(folder / manifest_name, manifest(record, machine, marks));
}

void record_pictures(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  std::optional<Json> object = earlier_manifest(folder);
  if (!object) return;
  Json marks = Json::object();
  for (const std::string& name : names) marks[name] = mark_of_file(folder / name);
  (*object)["pictures"] = std::move(marks);
  write_file_atomically(folder / manifest_name, detail::dump(*object));
}

std::optional<RunIdentity> read_run_identity(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / manifest_name;
  if (!is_there(path)) return std::nullopt;
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
