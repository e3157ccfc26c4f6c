// Stands in for libFuzzer where there is none: runs the inputs of the corpus once, so that every
// compiler keeps up with what was found before.
//   NAME_fuzzer -runs=0 FOLDER
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "fuzz/fuzzing.hpp"

int main(int count, char** words) {
  if (count != 3 || std::string_view(words[1]) != "-runs=0") {
    std::fprintf(stderr, "usage: %s -runs=0 FOLDER\n", words[0]);
    return 2;
  }
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(words[2])) {
    inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  for (const std::filesystem::path& path : inputs) {
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);  // the last line names the input of a crash
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
