#pragma once

#include <span>

#include "report/page_file.hpp"

namespace onset::explore {

/// The files of src/explore/page; those that the explorer shares with reports are beside them.
[[nodiscard]] std::span<const report::PageFile> own_page_files();

}  // namespace onset::explore
