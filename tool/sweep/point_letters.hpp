#pragma once

#include <chrono>

/// What a sweep or the explorer and their worker processes write to one another. A request is a
/// line: one of the first two letters, the bytes of memory that the point may use, and its record
/// without a result (to_wire). Replies are lines that begin with one of the others.
namespace onset::tool {

inline constexpr char compute_letter = 'c';  ///< compute the point
inline constexpr char watch_letter = 'w';    ///< compute it and show its rows as they come

inline constexpr char progress_letter = 'p';  ///< how far the point is, for people
inline constexpr char rows_letter = 'r';      ///< its record with the rows so far
inline constexpr char finished_letter = 'f';  ///< its record
inline constexpr char stopped_letter = 's';   ///< it was abandoned

/// How long a worker that was sent home may take to abandon its point before it is killed.
inline constexpr std::chrono::milliseconds stop_grace{1000};

}  // namespace onset::tool
