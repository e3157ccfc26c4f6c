#pragma once

#include <stdexcept>
#include <string_view>

namespace onset::tool {

/// Thrown when the reader of our output has gone (`onset list | head -1`), which is not worth a
/// message.
class ReaderGone : public std::runtime_error {
 public:
  ReaderGone() : std::runtime_error("standard output: nobody reads it any more") {}
};

/// To be called first in main: keeps files from taking the place of closed standard streams, and
/// turns a vanished reader and a file that may not grow into error codes instead of signals.
void secure_standard_streams();

/// Writes all of it; throws IoError when the disk is full and ReaderGone when a pipe is closed.
void write_stdout(std::string_view text);

/// A message for people: "onset: ..." on stderr. Further lines are indented, whatever names it
/// repeats. Never fails.
void say(std::string_view message) noexcept;

}  // namespace onset::tool
