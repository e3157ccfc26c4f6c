#include <string>

#include "fuzz/fuzzing.hpp"
#include "onset/aim.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/smi.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static const fuzz::OneFile file("manifest.json");
  file.write(fuzz::text_of(data, size));
  fuzz::may_refuse([] {
    const auto identity = io::read_run_identity(file.folder());
    fuzz::require(identity.has_value());
    for (const auto& [name, value] : identity->parameters) (void)to_text(value);
  });
  // What takes its model from the manifest; there are no arrays beside it.
  const std::string folder = file.folder().string();
  fuzz::may_refuse([&] { (void)smi::Amp{.data = folder}.run({}); });
  fuzz::may_refuse([&] { (void)aim::Amp{.data = folder}.run({}); });
  return 0;
}
