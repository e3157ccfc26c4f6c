#pragma once

#include <string_view>
#include <vector>

#include "io/toml_reader.hpp"
#include "report/figure_spec.hpp"

/// Readers of the parts of a figure file. All errors state the place of what is wrong.
namespace onset::report {

[[nodiscard]] FigureRun read_run(const io::TomlReader& in);
/// `runs` are those that the panel may draw.
[[nodiscard]] Panel read_panel(const io::TomlReader& in, const std::vector<FigureRun>& runs);

/// Names that become file names have only plain characters.
[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace onset::report
