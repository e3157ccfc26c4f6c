#pragma once

#include <string>

namespace onset::report::html {

/// A picture as part of a page: without its XML head, with ids that no other picture has (they
/// begin with `prefix`), as wide as its place, and with words for those who do not see it.
[[nodiscard]] std::string inline_svg(const std::string& svg, const std::string& prefix,
                                     const std::string& description);

}  // namespace onset::report::html
