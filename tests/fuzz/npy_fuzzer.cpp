#include "fuzz/fuzzing.hpp"
#include "onset/io/npy.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static const fuzz::OneFile file("array.npy");
  file.write(fuzz::text_of(data, size));
  fuzz::may_refuse([] {
    const Array array = io::read_npy(file.path());
    fuzz::require(io::read_npy_shape(file.path()) == array.shape);
    // What was read is written as it was, byte by byte (a NaN does not equal itself).
    const std::string bytes = io::to_npy(array);
    file.write(bytes);
    fuzz::require(io::to_npy(io::read_npy(file.path())) == bytes);
  });
  return 0;
}
