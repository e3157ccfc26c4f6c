#pragma once

#include <span>
#include <string_view>

namespace onset::explore {

/// A file of the page: its text was put into the program when it was built, from
/// src/explore/page.
struct PageFile {
  std::string_view name;  ///< without folders
  std::string_view text;
};

[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace onset::explore
