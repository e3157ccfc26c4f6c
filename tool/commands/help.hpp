#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onset/core/verb.hpp"
#include "tool/commands/commands.hpp"

/// Help texts, made from the catalogue.
namespace onset::tool {

[[nodiscard]] std::string main_help();
[[nodiscard]] std::string family_help(std::string_view family);
[[nodiscard]] std::string verb_help(const Verb& verb);
/// `words` is what stands between the command and its options, say "ID".
[[nodiscard]] std::string command_help(std::string_view name, std::span<const Parameter> options,
                                       std::string_view words = {});

/// The pieces that other generated texts (completion, the man page) share with the help.

/// The placeholder for an option's value, say "N" or "GRID"; empty for a flag.
[[nodiscard]] std::string placeholder(const Parameter& parameter);
/// What an option does, what is allowed, its default.
[[nodiscard]] std::string option_text(const Parameter& parameter);
/// The title "Columns", or one such as "Columns with --level".
[[nodiscard]] std::string columns_title(const RowKind& kind);
/// What a column holds, its unit, whether it has an error.
[[nodiscard]] std::string column_text(const Column& column);
/// The options that must be given, say " --alpha GRID".
[[nodiscard]] std::string required_usage(const Verb& verb);
/// All options of a verb: its own, seed and tol, the common ones.
[[nodiscard]] std::vector<Parameter> all_options(const Verb& verb);
/// All options of a command; --help at least.
[[nodiscard]] std::vector<Parameter> all_options(const Command& command);
[[nodiscard]] std::vector<std::string> family_names();
[[nodiscard]] std::vector<std::string> verb_names(std::string_view family);
/// All exit codes in one sentence, "0 ok; 2 usage; ...".
[[nodiscard]] std::string_view exit_code_summary();

}  // namespace onset::tool
