// A request as text: the method, the address after the token, and the body, on a line each; runs
// are those of a toy, which take no time.
#include "fuzz/fuzzing.hpp"
#include "unit/explore/toy_explorer.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onset;
  static explore::ToyExplorer toy;
  std::string_view text = fuzz::text_of(data, size);
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string out(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
  };
  const std::string method = line();
  const std::string path = line();
  const explore::Response response =
      toy.explorer.respond(explore::toy_request(path, method, std::string(text)));
  fuzz::require(response.status >= 200 && response.status < 500);
  // Without the token nothing but a refusal comes back, whatever else is asked.
  const explore::Response refused =
      toy.explorer.respond({method, "/" + path, {}, std::string(text)});
  fuzz::require(refused.status >= 400 && refused.status < 500);
  return 0;
}
