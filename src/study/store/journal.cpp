#include "study/store/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "io/descriptor.hpp"

namespace onset::study::sqlite {
namespace {

using Bytes = std::array<unsigned char, 8>;

// See https://www.sqlite.org/fileformat.html#the_rollback_journal.
constexpr Bytes magic{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
/// At the end of a journal that names a file: the length of the name and its checksum, four bytes
/// each, and the magic bytes once more. The name stands before.
constexpr off_t name_trailer_bytes = 16;

/// How many bytes of the file there are from the offset on, at most as many as fit.
std::size_t read_at(int descriptor, Bytes& out, off_t offset) noexcept {
  const ssize_t got = pread(descriptor, out.data(), out.size(), offset);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

/// The magic bytes are zeros until the journal is safe on the disk; a writer that is replacing them
/// may be anywhere in between.
bool begins_as_journal(int descriptor) noexcept {
  Bytes begin{};
  const std::size_t count = read_at(descriptor, begin, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (begin[i] != 0 && begin[i] != magic[i]) return false;
  }
  return true;
}

/// Whether SQLite could find a name at the end. Its checksum is not looked at: what is a name in
/// the eyes of one version need not be one in those of another.
bool names_a_file(int descriptor, off_t size) noexcept {
  Bytes end{};
  Bytes numbers{};
  if (size < name_trailer_bytes) return false;
  if (read_at(descriptor, end, size - off_t{8}) != end.size() || end != magic) return false;
  if (read_at(descriptor, numbers, size - name_trailer_bytes) != numbers.size()) return false;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = (length << 8) | numbers[i];
  return length != 0 && off_t{length} <= size - name_trailer_bytes;
}

}  // namespace

const char* journal_problem(const char* path) noexcept {
  struct stat there = {};
  // What cannot be looked at SQLite cannot open either, and says so.
  if (lstat(path, &there) != 0) return nullptr;
  if (S_ISREG(there.st_mode)) {
    const io::Descriptor file(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0 || fstat(file.get(), &there) != 0) return nullptr;
    if (S_ISREG(there.st_mode) && there.st_nlink <= 1 && begins_as_journal(file.get())) {
      return names_a_file(file.get(), there.st_size)
                 ? "names another file, which would be removed; no journal of a store does that. "
                   "Move it away"
                 : nullptr;
    }
  }
  return "is in the place of the journal of the store and is none; move it away";
}

}  // namespace onset::study::sqlite
