#include "io/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "io/file_status.hpp"
#include "io/input_file.hpp"
#include "onset/core/error.hpp"

namespace onset::io {
namespace {

/// A new kind of artifact has to be added here: until then nothing of it is removed.
const std::map<std::string_view, std::vector<std::string>>& files_by_command() {
  static const std::map<std::string_view, std::vector<std::string>> files{
      {"smi generate", {"X.npy", "Y.npy", "H.npy", "truth/w.npy"}},
      {"smi amp", {"trajectories.csv", "runs.csv", "weights.npy"}},
      {"aim generate", {"X.npy", "Y.npy", "logY.npy", "truth/S.npy", "truth/W.npy"}},
      {"aim amp", {"trajectory.csv"}},
      {"ssi flow", {"runs.csv"}},
      {"ssi sgd", {"runs.csv"}},
      {"mha generate", {"X.npy", "Y.npy", "truth/theta.npy", "truth/w.npy"}},
      {"mha learn",
       {"certificate.json", "theta.npy", "w.npy", "geometry/theta.npy", "geometry/w.npy"}},
      {"mha baseline", {"theta.npy", "w.npy"}},
  };
  return files;
}

/// runs/1.csv, runs/2.csv, ..: one for every row.
bool is_numbered(std::string_view name) {
  constexpr std::string_view folder = "runs/", ending = ".csv";
  if (!name.starts_with(folder) || !name.ends_with(ending)) return false;
  name.remove_prefix(folder.size());
  name.remove_suffix(std::min(ending.size(), name.size()));
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Mark {
 public:
  void add(std::string_view content) {
    constexpr std::uint64_t prime = 1099511628211U;
    for (const char c : content) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * prime;
    bytes_ += content.size();
  }
  [[nodiscard]] Json json() const {
    return {{"bytes", bytes_}, {"fnv1a", fmt::format("{:016x}", hash_)}};
  }

 private:
  std::uint64_t hash_ = 14695981039346656037U;  // as FNV-1a begins
  std::size_t bytes_ = 0;
};

}  // namespace

const std::vector<std::string>& drawn_files() {
  static const std::vector<std::string> files{"figure.gp", "figure.svg", "figure.pdf",
                                              "figure.png"};
  return files;
}

std::vector<std::string> named_files(std::string_view command) {
  const auto found = files_by_command().find(command);
  return found == files_by_command().end() ? std::vector<std::string>{} : found->second;
}

bool is_file_of(std::string_view command, std::string_view name) {
  const std::vector<std::string> named = named_files(command);
  return std::find(named.begin(), named.end(), name) != named.end() ||
         (command == "ssi sgd" && is_numbered(name));
}

Json mark_of_content(std::string_view content) {
  Mark mark;
  mark.add(content);
  return mark.json();
}

Json mark_of_file(const std::filesystem::path& file) {
  InputFile in(file);
  Mark mark;
  std::array<char, 65536> chunk;
  std::size_t count = chunk.size();
  while (count == chunk.size()) {
    count = in.read(chunk.data(), chunk.size());
    mark.add({chunk.data(), count});
  }
  return mark.json();
}

bool has_content(const std::filesystem::path& file, const Json& mark) {
  if (!is_plain_file(file)) return false;
  try {
    return mark_of_file(file) == mark;
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace onset::io
