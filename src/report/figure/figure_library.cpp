#include <algorithm>
#include <map>
#include <system_error>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "report/figure.hpp"

namespace onset::report {
namespace {

constexpr std::string_view suffix = ".toml";

/// The TOML files of a folder; none if the folder does not exist or cannot be read.
std::vector<std::filesystem::path> toml_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == suffix) out.push_back(entry->path());
  }
  return out;
}

}  // namespace

std::vector<std::filesystem::path> list_figures(const std::vector<std::filesystem::path>& folders) {
  std::map<std::string, std::filesystem::path> by_id;
  for (const std::filesystem::path& folder : folders) {
    for (const std::filesystem::path& file : toml_files(folder)) {
      by_id.try_emplace(file.stem().string(), file);
    }
  }
  std::vector<std::filesystem::path> out;
  for (const auto& [id, file] : by_id) out.push_back(file);
  return out;
}

std::filesystem::path find_figure(const std::string& name,
                                  const std::vector<std::filesystem::path>& folders) {
  if (name.ends_with(suffix)) return name;
  std::vector<std::string> known;
  for (const std::filesystem::path& file : list_figures(folders)) {
    if (file.stem() == name) return file;
    known.push_back(file.stem().string());
  }
  throw InvalidArgument("figure", "there is no " + in_quotes(name) + suggestion(name, known) +
                                      " (`onset figure list` names them all)");
}

}  // namespace onset::report
