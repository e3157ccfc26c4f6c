#include "fuzz/fuzzing.hpp"
#include "io/label_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static const fuzz::OneFile file("questions.label");
  file.write(fuzz::text_of(data, size));
  fuzz::may_refuse([] {
    for (const io::LabelledText& text : io::read_label_file(file.path())) {
      fuzz::require(!text.text.empty() && text.fine.starts_with(text.coarse + ":"));
    }
  });
  return 0;
}
