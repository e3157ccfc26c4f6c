#include "report/page_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "onset/core/error.hpp"

namespace onset::report {
namespace {

const std::regex import_line(R"re(import (\{[^}]*\}) from "\./([a-z]+\.js)";)re");
const std::regex export_word(R"re(export ((?:async )?(?:function|class|const) (\w+).*))re");

std::string_view text_of(std::string_view name, std::span<const PageFile> files) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const PageFile& file) { return file.name == name; });
  if (found == files.end()) throw IoError(std::string(name), "is not among the files of the page");
  return found->text;
}

/// The name of the constant that holds what a module exports.
std::string module_name(std::string_view file) {
  return fmt::format("module_{}", file.substr(0, file.find('.')));
}

/// Puts modules one after the other, each after those that it imports. A module becomes a function
/// that is called once and returns what it exports, so that its other names stay its own.
class Bundler {
 public:
  explicit Bundler(std::span<const PageFile> files) : files_(files) {}

  void add(const std::string& name) {
    if (!added_.insert(name).second) return;
    std::string body;
    std::vector<std::string> exports;
    std::istringstream lines{std::string(text_of(name, files_))};
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_match(line, match, import_line)) {
        const std::string from = match[2];
        add(from);
        line = fmt::format("const {} = {};", match[1].str(), module_name(from));
      } else if (std::regex_match(line, match, export_word)) {
        exports.push_back(match[2]);
        line = match[1].str();
      }
      body += line + "\n";
    }
    script_ += fmt::format("const {} = (() => {{\n{}return {{{}}};\n}})();\n", module_name(name),
                           body, fmt::join(exports, ", "));
  }

  [[nodiscard]] const std::string& script() const { return script_; }

 private:
  std::span<const PageFile> files_;
  std::set<std::string> added_;
  std::string script_;
};

}  // namespace

std::string bundle(std::string_view name, std::span<const PageFile> files) {
  Bundler bundler(files);
  bundler.add(std::string(name));
  return bundler.script();
}

}  // namespace onset::report
