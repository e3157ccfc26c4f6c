#include "mha/model/function_error.hpp"

#include <algorithm>
#include <cmath>

#include "mha/model/instance.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t batch_examples = 256;

}  // namespace

Estimate function_error(const Layer& found, const Layer& truth, int tokens, Inputs inputs,
                        std::uint64_t seed, const Context& context) {
  InstanceLaw law;
  law.heads = truth.heads;
  law.dim = truth.dim;
  law.tokens = tokens;
  law.inputs = inputs;
  const auto count = static_cast<std::size_t>(numerics::default_replicates) * batch_examples;
  const Examples fresh = draw_examples(law, truth, count, seed, "mha fresh", context);
  const std::vector<double> outputs = forward(found, fresh, context);
  double unit = 0.0;  // squares of labels may leave the range of doubles
  for (const double y : fresh.y) unit = std::max(unit, std::abs(y));
  std::vector<double> errors;
  const std::size_t batch = batch_examples * fresh.width();
  for (std::size_t first = 0; first < outputs.size(); first += batch) {
    double off = 0.0;
    double total = 0.0;
    for (std::size_t e = first; e < first + batch; ++e) {
      const double wanted = fresh.y[e] / unit;
      const double difference = (outputs[e] - fresh.y[e]) / unit;
      off += difference * difference;
      total += wanted * wanted;
    }
    errors.push_back(std::sqrt(off / total));
  }
  return numerics::reduce(errors);
}

}  // namespace onset::mha
