#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/toml_reader.hpp"
#include "onset/study/study.hpp"

/// Parts of study files, which runs of figures have too. All errors state the place of what is
/// wrong.
namespace onset::study {

/// Reads the keys `command`, `fixed`, `axes`, `tied` and `seeds` of a table and ignores others.
[[nodiscard]] Study read_study_keys(const io::TomlReader& in);
/// The axis of that name, a list or a grid.
[[nodiscard]] Axis read_axis(const io::TomlReader& in, const std::string& parameter);
/// The table `tied`; empty when absent.
[[nodiscard]] std::vector<Tie> read_ties(const io::TomlReader& in);
/// The key `seeds`; empty when absent.
[[nodiscard]] std::vector<std::int64_t> read_seeds(const io::TomlReader& in);

}  // namespace onset::study
