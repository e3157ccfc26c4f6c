#pragma once

#include <span>
#include <string>
#include <string_view>

namespace onset::report {

/// A file for the browser: its text was put into the program when it was built.
struct PageFile {
  std::string_view name;  ///< without folders
  std::string_view text;
};

/// The files of src/report/page: the interactive pictures of the explorer and of reports.
[[nodiscard]] std::span<const PageFile> shared_page_files();

/// The modules that `name` needs and itself as one script without imports, for a page that is one
/// file. Modules import names in braces, one import on a line, and export by a declaration each.
[[nodiscard]] std::string bundle(std::string_view name, std::span<const PageFile> files);

}  // namespace onset::report
