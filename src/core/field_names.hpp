#pragma once

#include <string>
#include <string_view>

/// What fields are called. A parameter `token-correlation` is so called on the command line and in
/// study files; in C++ and Python it is the field token_correlation. Texts of the library speak of
/// fields, in backquotes and with a value where one is meant (`engine = chain`); backquotes are for
/// nothing else there. Front ends that call fields otherwise translate the texts.
namespace onset {

[[nodiscard]] std::string field_name(std::string_view parameter);
[[nodiscard]] std::string parameter_name(std::string_view field);

/// For the command: `engine = chain` becomes --engine chain.
[[nodiscard]] std::string with_options(std::string_view text);
/// For study files, whose keys have hyphens: `max_degree = 3` becomes `max-degree = 3`.
[[nodiscard]] std::string with_keys(std::string_view text);

}  // namespace onset
