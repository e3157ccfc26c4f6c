#include "smi/learners/learning_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/outcome.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

bool is_finished(const TextRun& run) {
  return run.end == TextRun::End::finished;
}

/// The step at which the layer is learned. At the latest that is the last one, where its similarity
/// is 1.
double steps_until(const TextRun& run, std::size_t layer, const LearnedWhen& when) {
  const double start = when.relative ? run.rows.front().similarity[layer] : 0.0;
  const double level = start + when.level * (1.0 - start);
  const auto reached = std::find_if(run.rows.begin(), run.rows.end(), [&](const TextRow& row) {
    return row.similarity[layer] >= level;
  });
  if (reached == run.rows.begin()) return 0.0;
  if (reached == run.rows.end()) return static_cast<double>(run.rows.back().step);
  const TextRow& before = *std::prev(reached);
  const double part =
      (level - before.similarity[layer]) / (reached->similarity[layer] - before.similarity[layer]);
  return std::lerp(static_cast<double>(before.step), static_cast<double>(reached->step), part);
}

/// Whether this entry is smaller than every other.
bool is_first(const std::vector<double>& steps, std::size_t layer) {
  for (std::size_t l = 0; l < steps.size(); ++l) {
    if (l != layer && steps[l] <= steps[layer]) return false;
  }
  return true;
}

}  // namespace

std::vector<LayerTiming> learning_order(std::span<const TextRun> runs, const LearnedWhen& when) {
  std::vector<const TextRun*> finished;
  for (const TextRun& run : runs) {
    if (is_finished(run)) finished.push_back(&run);
  }
  if (finished.empty()) return {};
  const std::size_t layers = finished.front()->rows.front().similarity.size();
  std::vector<std::vector<double>> steps;  // one list per run, one entry per layer
  for (const TextRun* run : finished) {
    steps.emplace_back();
    for (std::size_t l = 0; l < layers; ++l) steps.back().push_back(steps_until(*run, l, when));
  }
  std::vector<LayerTiming> timings;
  for (std::size_t l = 0; l < layers; ++l) {
    std::vector<double> start;
    std::vector<double> until;
    std::int64_t first = 0;
    for (std::size_t r = 0; r < finished.size(); ++r) {
      start.push_back(finished[r]->rows.front().similarity[l]);
      until.push_back(steps[r][l]);
      first += is_first(steps[r], l) ? 1 : 0;
    }
    timings.push_back(
        {numerics::mean_over_runs(start), numerics::mean_over_runs(until),
         numerics::binomial_fraction(first, static_cast<std::int64_t>(finished.size()))});
  }
  return timings;
}

std::vector<std::size_t> in_order(std::span<const LayerTiming> layers) {
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layers[a].steps.value < layers[b].steps.value;
  });
  return order;
}

Estimate mean_accuracy(std::span<const TextRun> runs, std::int64_t questions) {
  std::vector<double> accuracies;
  std::int64_t correct = 0;
  for (const TextRun& run : runs) {
    if (!is_finished(run)) continue;
    correct += run.rows.back().correct;
    accuracies.push_back(numerics::binomial_fraction(run.rows.back().correct, questions).value);
  }
  if (accuracies.empty()) return no_estimate;
  const auto count = static_cast<std::int64_t>(accuracies.size());
  const Estimate of_questions = numerics::binomial_fraction(correct / count, questions);
  if (count == 1) return of_questions;
  const Estimate of_runs = numerics::mean_over_runs(accuracies);
  return {of_runs.value, std::hypot(of_runs.error, of_questions.error)};
}

}  // namespace onset::smi
