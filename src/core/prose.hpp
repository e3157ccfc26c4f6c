#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace onset {

/// A text that is written over several lines of a raw string: every line break, with the blanks
/// around it, becomes one blank; at the beginning and at the end it becomes nothing.
[[nodiscard]] std::string prose(std::string_view text);

/// The same with arguments, as fmt::format has them; what they bring along is left as it is.
template <class First, class... Rest>
[[nodiscard]] std::string prose(fmt::format_string<First, Rest...> text, First&& first,
                                Rest&&... rest) {
  const fmt::string_view raw = text;
  return fmt::vformat(prose(std::string_view(raw.data(), raw.size())),
                      fmt::make_format_args(first, rest...));
}

/// A number of things: "1 point", "2 points"; `several` is the noun with an s unless it is given.
[[nodiscard]] std::string counted(std::size_t count, std::string_view one,
                                  std::string_view several = {});

}  // namespace onset
