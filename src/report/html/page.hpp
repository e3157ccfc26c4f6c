#pragma once

#include <string>
#include <string_view>

namespace onset::report::html {

/// The whole page around its content: head, styles for screens light and dark, for phones and
/// paper, and the script that sorts tables. It may load nothing from anywhere.
[[nodiscard]] std::string page(std::string_view title, std::string_view content);

}  // namespace onset::report::html
