// Writes src/numerics/point_sets/lattice_generators.inc to standard output, in a few minutes.
//   g++ -std=c++20 -O3 -Isrc tools/generate_lattice.cpp -o generate_lattice
//   ./generate_lattice > src/numerics/point_sets/lattice_generators.inc
#include <cstdio>

#include "numerics/point_sets/lattice_search.hpp"

int main() {
  constexpr int max_bits = 16;
  constexpr int dimensions = 24;
  onset::numerics::LatticeSearch search(max_bits);
  std::printf("// Generators of an embedded lattice; written by tools/generate_lattice.cpp.\n");
  for (int d = 0; d < dimensions; ++d) {
    const auto generator = search.best();
    search.append(generator);
    std::printf("%u,%c", generator, d % 8 == 7 ? '\n' : ' ');
    std::fflush(stdout);
  }
}
