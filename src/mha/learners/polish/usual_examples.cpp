#include "mha/learners/polish/usual_examples.hpp"

#include <algorithm>
#include <numeric>

#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t few_share = 20;  // one in this many may be left out
/// Labels that are off by less, relative to the outputs, are off by rounding.
constexpr double rounding_of_example = 5e-10;
/// A wrong label pulls the fit towards itself, so that a smaller excess than in a judgement shows
/// it; what the others leave then decides.
constexpr double outlying_in_fit = 3.0;
constexpr int max_fits = 10;

}  // namespace

Subset usual_examples(const Subset& sample, const Layer& layer, double times,
                      const Context& context) {
  const std::size_t most = sample.size() / few_share;
  if (most == 0) return sample;
  const std::size_t width = sample.examples->width();
  std::vector<double> off(sample.size());
  std::vector<double> outputs(sample.size());
  numerics::parallel_for(context, chunks_of(sample), [&](std::size_t chunk) {
    std::vector<double> out(width);
    const std::size_t end = std::min(sample.size(), (chunk + 1) * subset_chunk);
    for (std::size_t n = chunk * subset_chunk; n < end; ++n) {
      forward_one(layer, *sample.examples, sample.index[n], out.data());
      for (std::size_t e = 0; e < width; ++e) {
        const double miss = out[e] - sample.y(n)[e];
        off[n] += miss * miss;
        outputs[n] += out[e] * out[e];
      }
    }
  });
  const double size =
      numerics::ordered_sum(outputs.data(), outputs.size()) / static_cast<double>(sample.size());
  std::vector<std::size_t> order(sample.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&off](std::size_t a, std::size_t b) { return off[a] > off[b]; });
  const double usual = std::max(rounding_of_example * rounding_of_example * size,
                                times * times * off[order[sample.size() / 2]]);
  std::vector<bool> left_out(sample.size());
  for (std::size_t i = 0; i < most && off[order[i]] > usual; ++i) left_out[order[i]] = true;
  Subset out{sample.examples, {}};
  for (std::size_t n = 0; n < sample.size(); ++n) {
    if (!left_out[n]) out.index.push_back(sample.index[n]);
  }
  return out;
}

FitOutcome fit_usual(const Subset& sample, const std::vector<Vector>& start,
                     const FitOptions& options, double explained, const Context& context) {
  FitOutcome whole = fit_layer(sample, start, nullptr, options, context);
  FitOutcome last = whole;
  Subset seen = sample;
  for (int fits = 1; fits < max_fits && !(last.residual <= explained); ++fits) {
    Subset fewer = usual_examples(sample, last.layer, outlying_in_fit, context);
    if (fewer.index == seen.index) break;
    seen = std::move(fewer);
    last = fit_layer(seen, start, nullptr, options, context);
    whole.steps += last.steps;
    whole.evaluations += last.evaluations;
  }
  if (last.residual <= explained) {
    whole.layer = std::move(last.layer);
    whole.residual = last.residual;
  }
  return whole;
}

}  // namespace onset::mha
