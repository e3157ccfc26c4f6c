#pragma once

#include <string>
#include <string_view>

namespace onset::report::html {

/// Text as content or attribute value: no character of it is markup.
[[nodiscard]] std::string escape(std::string_view text);

/// The element "<name>text</name>" with the text escaped.
[[nodiscard]] std::string element(std::string_view name, std::string_view text,
                                  std::string_view css_class = {});

/// A name as part of an id: characters other than letters, digits, '-' and '_' become their code.
[[nodiscard]] std::string id_text(std::string_view name);

}  // namespace onset::report::html
