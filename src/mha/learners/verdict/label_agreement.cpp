#include "mha/learners/verdict/label_agreement.hpp"

#include <algorithm>
#include <cmath>

#include "mha/learners/subset.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {

Agreement agreement_of(const Layer& layer, const Examples& examples, double tolerance,
                       const Context& context) {
  const std::size_t width = examples.width();
  std::vector<double> off(examples.count);
  std::vector<double> outputs(examples.count);
  std::vector<double> labels(examples.count);
  numerics::parallel_for(
      context, (examples.count + subset_chunk - 1) / subset_chunk, [&](std::size_t chunk) {
        std::vector<double> out(width);
        const std::size_t end = std::min(examples.count, (chunk + 1) * subset_chunk);
        for (std::size_t n = chunk * subset_chunk; n < end; ++n) {
          forward_one(layer, examples, n, out.data());
          for (std::size_t e = 0; e < width; ++e) {
            const double y = examples.y[n * width + e];
            off[n] += (out[e] - y) * (out[e] - y);
            outputs[n] += out[e] * out[e];
            labels[n] += y * y;
          }
        }
      });
  const double size = numerics::ordered_sum(outputs.data(), outputs.size()) /
                      static_cast<double>(std::max<std::size_t>(1, examples.count));
  Agreement agreement;
  agreement.residual = std::sqrt(numerics::ordered_sum(off.data(), off.size()) /
                                 numerics::ordered_sum(labels.data(), labels.size()));
  agreement.first = examples.count;
  for (std::size_t n = 0; n < examples.count; ++n) {
    if (off[n] <= tolerance * tolerance * size) continue;
    ++agreement.disagreeing;
    agreement.first = std::min(agreement.first, n);
  }
  return agreement;
}

}  // namespace onset::mha
