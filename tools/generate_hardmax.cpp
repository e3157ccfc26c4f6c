// Writes src/aim/model/channels/hardmax/table.inc to standard output, in some twenty minutes of one
// core.
//   g++ -std=c++20 -O3 -Iinclude -Isrc tools/generate_hardmax.cpp LIBONSET -lfmt -lhwy -pthread
//   ./a.out > src/aim/model/channels/hardmax/table.inc
#include <cstdio>

#include "aim/model/channels/hardmax/nodes.hpp"

int main() {
  onset::Context context;
  context.threads = onset::available_threads();
  std::printf("// Sampled values and standard errors; written by tools/generate_hardmax.cpp.\n");
  for (int tokens = 3; tokens <= onset::aim::max_table_tokens; ++tokens) {
    const std::size_t samples = std::size_t{1} << (tokens == 3 ? 21 : 19);
    const auto seed = static_cast<std::uint64_t>(1000 * tokens);
    std::printf("{{");
    for (const auto& e : onset::aim::sampled_nodes(tokens, samples, seed, context)) {
      std::printf("{%.6f, %.6f}, ", e.value, e.error);
      std::fflush(stdout);
    }
    std::printf("}},\n");
  }
}
