#pragma once

#include <string>

namespace onset::io {

/// A place in a file that people wrote, so that an error found later still says where it comes
/// from.
struct Place {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  [[nodiscard]] std::string text() const;  ///< file:line:column
};

/// Throws InvalidArgument with the text "file:line:column: message".
[[noreturn]] void complain(const Place& place, const std::string& message);

}  // namespace onset::io
