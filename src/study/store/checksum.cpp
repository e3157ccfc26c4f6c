#include "study/store/checksum.hpp"

#include <fmt/format.h>

#include "study/store/sha256.hpp"

namespace onset::study {

void Checksum::add(std::string_view text) {
  fields_ += fmt::format("{}:{}\n", text.size(), text);
}

void Checksum::add(std::int64_t whole) {
  fields_ += fmt::format("{}\n", whole);
}

void Checksum::add(double real) {
  fields_ += fmt::format("{}\n", real);
}

std::string Checksum::text() const {
  return sha256(fields_);
}

}  // namespace onset::study
