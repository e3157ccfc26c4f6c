#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/io/format.hpp"

namespace onset::io {

/// The machine's part in a run: what its bits depend on, and what they do not.
struct Machine {
  std::string simd;  ///< numerics::simd::level()
  int threads = 1;
};

/// Makes the folder (and those above it) and checks that it can be written to, so that a long run
/// does not end without a place for its results: that files of these names (from the folder) can be
/// made or replaced, and that a manifest.json that is there is one of Onset, which may be replaced.
/// Throws IoError naming the path.
void prepare_folder(const std::filesystem::path& folder,
                    const std::vector<std::string>& files = {});
/// The same for the files that runs of a command ("family verb") write.
void prepare_run_folder(const std::filesystem::path& folder, const std::string& command);

/// Removes manifest.json, before the files that it describes change: whenever a run ends, or is
/// killed, a folder with a manifest is a finished one. Throws IoError naming the path.
void withdraw_manifest(const std::filesystem::path& folder);

/// Writes result.csv, the result's artifacts and manifest.json (the effective configuration,
/// version, machine, status), and removes files that an earlier run of the same command left, if
/// they are still what it wrote. Each file appears whole or not at all, and no link in the folder
/// is followed. Throws IoError naming the path.
void write_run_folder(const std::filesystem::path& folder, const RunRecord& record,
                      const Machine& machine);

/// Adds to the manifest of a run what was drawn of it afterwards, so that the next run can tell
/// these files from others of their names. Throws IoError naming the path.
void record_pictures(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// What wrote a run folder, and with which parameters; those without a value are left out.
struct RunIdentity {
  std::string command;
  int method = 1;  ///< Verb::method, which is raised when what the verb writes changes
  std::map<std::string, Value> parameters;
};

/// Reads it from the folder's manifest.json; returns nothing where there is none. Throws IoError
/// for one that cannot be read.
[[nodiscard]] std::optional<RunIdentity> read_run_identity(const std::filesystem::path& folder);

/// Writes a file by way of a temporary one beside it: readers see the old content or the new, also
/// after a crash. Temporary files that killed processes left in the folder are removed. Only a
/// plain file is replaced, never a link, a device or a pipe. Throws IoError naming the path.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);
/// The same for content that comes in pieces: `write` hands them to the sink that it is given.
using Sink = std::function<void(std::string_view piece)>;
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(const Sink&)>& write);

}  // namespace onset::io
