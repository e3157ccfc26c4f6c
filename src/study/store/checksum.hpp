#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onset::study {

/// SHA-256 of a sequence of fields. Texts are hashed with their lengths, so that no two sequences
/// look alike, and numbers with all their digits.
class Checksum {
 public:
  void add(std::string_view text);
  void add(std::int64_t whole);
  void add(double real);
  [[nodiscard]] std::string text() const;

 private:
  std::string fields_;
};

}  // namespace onset::study
