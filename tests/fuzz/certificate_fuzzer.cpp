#include "fuzz/fuzzing.hpp"
#include "mha/verbs/certificate_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static const fuzz::OneFile file("certificate.json");
  file.write(fuzz::text_of(data, size));
  fuzz::may_refuse([] {
    const std::string text = mha::certificate_text(mha::read_certificate(file.folder()));
    file.write(text);
    fuzz::require(mha::certificate_text(mha::read_certificate(file.folder())) == text);
  });
  return 0;
}
