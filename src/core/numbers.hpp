#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onset {
struct Parameter;
}

namespace onset::detail {

/// Reads the whole text as a finite number; throws InvalidArgument naming `parameter`.
[[nodiscard]] double parse_number(const Parameter& parameter, std::string_view text);
/// Reads the whole text as a 64-bit whole number, likewise.
[[nodiscard]] std::int64_t parse_integer(const Parameter& parameter, std::string_view text);
/// The points of a grid or comma list; throws InvalidArgument likewise.
[[nodiscard]] std::vector<double> parse_list(const Parameter& parameter, std::string_view text);
[[nodiscard]] std::vector<double> parse_grid(const Parameter& parameter, std::string_view text);

/// Throws InvalidArgument "name: problem; allowed: ..." followed by the hint.
[[noreturn]] void reject(const Parameter& parameter, const std::string& problem,
                         const std::string& hint = {});

[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace onset::detail
