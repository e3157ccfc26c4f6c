#pragma once

#include <limits>
#include <string>
#include <vector>

#include "io/json_text.hpp"
#include "onset/io/format.hpp"

namespace onset::io::detail {

/// schema, onset, command, parameters, seed: what result and manifest begin with.
[[nodiscard]] Json record_head(const RunRecord& record);
/// summary, status, reason, notes, seconds: what they end with.
void append_record_tail(Json& object, const RunRecord& record);

/// The whole object that to_json() writes.
[[nodiscard]] Json record_json(const RunRecord& record);
/// A row as an object in which every estimate `x` has its `x_err`.
[[nodiscard]] Json row_json(const std::vector<Column>& columns, const std::vector<Cell>& row);
/// The first rows of a table, each an object in which every estimate `x` has its `x_err`.
[[nodiscard]] Json rows_json(const Table& table,
                             std::size_t most = std::numeric_limits<std::size_t>::max());
/// What columns hold, for pages; parameters are called as study files call them.
[[nodiscard]] Json columns_json(const std::vector<Column>& columns);
[[nodiscard]] Json value_json(const Value& value);
/// Indented text; bytes that are not UTF-8 (a path, say) are replaced, never a reason to fail.
[[nodiscard]] std::string dump(const Json& object);

}  // namespace onset::io::detail
