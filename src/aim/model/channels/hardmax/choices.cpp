#include "aim/model/channels/hardmax/choices.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/point_sets/sobol.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr int points_bits = 10;
/// The trapezoidal rule over the unknown part of one score.
constexpr double node_step = 0.25;
constexpr int nodes_to_a_side = 32;

/// The probability that the score at `place` is the largest: known parts, and the deviations of the
/// unknown ones.
double largest_probability(const std::vector<double>& known, const std::vector<double>& deviation,
                           std::size_t place) {
  double sum = 0.0;
  for (int i = -nodes_to_a_side; i <= nodes_to_a_side; ++i) {
    const double z = node_step * i;
    const double score = known[place] + deviation[place] * z;
    double term = std::exp(-0.5 * z * z);
    for (std::size_t other = 0; other < known.size(); ++other) {
      if (other == place) continue;
      term *= 0.5 * std::erfc((known[other] - score) / (std::numbers::sqrt2 * deviation[other]));
    }
    sum += term;
  }
  return sum * node_step / std::sqrt(2.0 * std::numbers::pi);
}

/// The mean over one set of points. Scores off the diagonal have one variance, so that the largest
/// known part is the best choice among them.
double mean_gain(double unknown, std::size_t tokens, std::uint64_t seed, std::uint64_t replicate) {
  const std::size_t count = std::size_t{1} << static_cast<unsigned>(points_bits);
  std::vector<double> uniform(count * tokens);
  numerics::scrambled_sobol_prefix(static_cast<int>(tokens), seed, replicate, points_bits)
      ->points(0, count, uniform);
  std::vector<double> normal(uniform.size());
  numerics::simd::normal_quantile(uniform, normal);
  std::vector<double> deviation(tokens, std::sqrt(unknown));
  deviation[0] *= std::numbers::sqrt2;
  std::vector<double> known(tokens);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < tokens; ++t) {
      known[t] = std::sqrt(1.0 - unknown) * normal[t * count + i];
    }
    known[0] *= std::numbers::sqrt2;
    const auto best_other =
        static_cast<std::size_t>(std::max_element(known.begin() + 1, known.end()) - known.begin());
    const double diagonal = largest_probability(known, deviation, 0);
    const double other = largest_probability(known, deviation, best_other);
    sum += std::max(diagonal, other) - (known[0] > known[best_other] ? diagonal : other);
  }
  return sum / static_cast<double>(count);
}

}  // namespace

std::size_t most_probable_choice(const std::vector<double>& known, std::size_t diagonal,
                                 double variance) {
  std::size_t other = diagonal == 0 ? 1 : 0;  // the largest off the diagonal
  for (std::size_t b = 0; b < known.size(); ++b) {
    if (b != diagonal && known[b] > known[other]) other = b;
  }
  // Two tokens: the larger score is the more probable one.
  if (known.size() == 2 || !(variance > 0.0)) {
    return known[diagonal] > known[other] ? diagonal : other;
  }
  std::vector<double> deviation(known.size(), std::sqrt(variance));
  deviation[diagonal] *= std::numbers::sqrt2;
  const bool on_diagonal = largest_probability(known, deviation, diagonal) >
                           largest_probability(known, deviation, other);
  return on_diagonal ? diagonal : other;
}

Estimate gain_of_best_choices(double unknown, int tokens, std::uint64_t seed) {
  if (unknown <= 0.0) return {0.0, 0.0};
  const double part = std::min(unknown, 1.0);
  numerics::Replicates means;
  for (std::size_t r = 0; r < numerics::default_replicates; ++r) {
    means.push_back(mean_gain(part, static_cast<std::size_t>(tokens), seed, r));
  }
  return numerics::reduce(means);
}

}  // namespace onset::aim
