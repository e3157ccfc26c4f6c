#include "smi/learners/planted_start.hpp"

#include <cmath>
#include <numeric>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {

MessageStart planted_start(const Dataset& data, double overlap, std::uint64_t seed,
                           std::uint64_t run) {
  if (!(overlap > 0.0 && overlap < 1.0)) {
    throw InvalidArgument("overlap", "allowed: a number in (0, 1)");
  }
  if (data.teacher.empty()) throw InvalidArgument("teacher", "is needed for a planted start");
  const std::size_t size = data.teacher.size() / data.dimension;
  MessageStart start;
  start.directions.resize(size);
  std::iota(start.directions.begin(), start.directions.end(), std::size_t{0});
  start.weights.resize(data.teacher.size());
  numerics::Stream(seed, "smi planted start", run).normal(start.weights);
  const double noise = std::sqrt(overlap * (1.0 - overlap));
  for (std::size_t k = 0; k < start.weights.size(); ++k) {
    start.weights[k] = overlap * data.teacher[k] + noise * start.weights[k];
  }
  start.variance.assign(size * size, 0.0);
  for (std::size_t p = 0; p < size; ++p) start.variance[p * size + p] = 1.0 - overlap;
  start.messages.assign(size * data.tokens * data.samples, 0.0);
  return start;
}

}  // namespace onset::smi
