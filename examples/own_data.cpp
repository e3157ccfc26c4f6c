// Message passing on data of one's own: phase retrieval, y = z^2 with z = w.x/sqrt(D). Any program
// that writes the two arrays will do; here they are drawn on the spot. Usage: own_data FOLDER

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>

#include "onset/onset.hpp"

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: own_data FOLDER\n", stderr);
    return 2;
  }
  constexpr std::size_t dimension = 300;
  constexpr std::size_t samples = 600;
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  std::vector<double> weights(dimension);
  std::vector<double> x(samples * dimension);
  std::vector<double> y(samples);
  for (double& w : weights) w = normal(engine);
  for (double& entry : x) entry = normal(engine);
  for (std::size_t i = 0; i < samples; ++i) {
    double z = 0.0;
    for (std::size_t d = 0; d < dimension; ++d) z += weights[d] * x[i * dimension + d];
    y[i] = z * z / dimension;
  }

  const std::filesystem::path folder(words[1]);
  std::filesystem::create_directories(folder / "truth");
  const auto write = [&](const char* name, std::vector<std::size_t> shape,
                         const std::vector<double>& values) {
    onset::io::write_file_atomically(folder / name, onset::io::to_npy(onset::Array{shape, values}));
  };
  write("X.npy", {samples, 1, dimension}, x);     // samples x tokens x dimension
  write("Y.npy", {samples, 1}, y);                // samples x numbers of a label
  write("truth/w.npy", {1, dimension}, weights);  // only to say how well it went

  const onset::Result result =
      onset::smi::Amp{.link = "square", .data = folder.string()}.run({.threads = 2});
  std::fputs(onset::io::to_table(result).c_str(), stdout);
  return result.status == onset::ResultStatus::ok ? 0 : 1;
}
