#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/io/format.hpp"

namespace onset::tool {

enum class Format { table, json, jsonl, csv };

/// Options that say how to run and show, not what to compute. `seed` and `tol` change numbers and
/// are parameters of the verb.
struct CommonOptions {
  int threads = 1;
  std::optional<double> max_seconds;
  bool explain = false;
  bool quiet = false;
  Format format = Format::table;
  std::vector<std::string> columns;  ///< of the table; empty for those that fit
  std::string out;                   ///< empty if not given
};

/// The options --threads, --max-seconds, --explain, --format, --columns, --out, --quiet and --help.
[[nodiscard]] std::vector<Parameter> common_parameters();
[[nodiscard]] Parameter help_parameter();
/// The options --format and --help, for commands that only show something.
[[nodiscard]] std::vector<Parameter> show_parameters();

/// Moves the common options out of what was given; the rest belongs to the verb.
[[nodiscard]] CommonOptions take_common_options(std::map<std::string, Value>& given);

/// The record in the format asked for; a table fits the terminal, if stdout is one. Throws
/// InvalidArgument for a column that the table has not.
[[nodiscard]] std::string render(const io::RunRecord& record, Format format,
                                 const std::vector<std::string>& columns = {});

/// The same for a table of texts, which fits 80 letters wherever it goes.
[[nodiscard]] std::string render_texts(const io::RunRecord& record, Format format);

}  // namespace onset::tool
