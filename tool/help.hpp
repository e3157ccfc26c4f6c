#pragma once

#include <string>
#include <string_view>

#include "onset/core/verb.hpp"
#include "tool/commands.hpp"

/// Help texts, made from the catalogue.
namespace onset::tool {

[[nodiscard]] std::string main_help();
[[nodiscard]] std::string family_help(std::string_view family);
[[nodiscard]] std::string verb_help(const Verb& verb);
/// `words`: what stands between the command and its options, say "ID".
[[nodiscard]] std::string command_help(std::string_view name, std::span<const Parameter> options,
                                       std::string_view words = {});

}  // namespace onset::tool
