#include "fuzz/fuzzing.hpp"
#include "smi/model/typed/typed_link.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  try {
    const smi::TypedLink link(fuzz::text_of(data, size), 0.0);
    fuzz::require(link.directions() >= 1 && link.fields().size() <= smi::max_typed_fields);
    // What was accepted can be evaluated anywhere.
    const double at[smi::max_typed_fields] = {0.3, -1.2, 0.7, 1.9};
    double value[smi::max_outputs] = {};
    link.values(1, at, value);
    link.up_to_injections().values(1, at, value);
  } catch (const InvalidArgument& error) {
    fuzz::require(error.field() == "link");
  } catch (const Refused&) {
  }
  return 0;
}
