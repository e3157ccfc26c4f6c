#include "smi/limits/typed/pooled_labels.hpp"

namespace onset::smi {

double variance_of_mean(const std::vector<double>& masses) {
  const auto count = static_cast<double>(masses.size());
  double sum = 0.0;
  for (const double mass : masses) sum += mass;
  const double mean = sum / count;
  if (!(mean > 0.0)) return 0.0;
  double squares = 0.0;
  for (const double mass : masses) squares += (mass - mean) * (mass - mean);
  return squares / (count * (count - 1.0) * mean * mean);
}

}  // namespace onset::smi
