#include "mha/model/visibility.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "mha/model/instance.hpp"
#include "numerics/linear_algebra/singular_values.hpp"

namespace onset::mha {
namespace {

constexpr int slabs_per_unknown = 8;
/// Keys with less attention than this give no slab.
constexpr double least_attention = 0.02;
/// Part of the median tolerance that is added to every one, so that no slab outweighs all others.
constexpr double softening = 0.3;
/// Inputs that are looked at between two checks for interruption.
constexpr std::size_t inputs_at_once = 4096;
constexpr std::size_t most_examples = std::size_t{1} << 20;
/// Part of all distinct inputs beyond which more examples bring hardly any new ones.
constexpr double nearly_all = 0.98;

/// A slab as the heads themselves make it: they agree on log(p_key/p_reference) up to `tolerance`.
struct AgreedSlab {
  std::size_t example;
  int query;
  int key;
  int reference;
  double centre;
  double tolerance;
  double relative;  ///< tolerance over the norm of the slab's normal
};

/// Attention of all heads in one row: p[head * tokens + key].
void attend(const Layer& layer, const double* x, int tokens, int query, std::vector<double>& p) {
  const int d = layer.dim;
  std::vector<double> left(static_cast<std::size_t>(d));
  for (int i = 0; i < layer.heads; ++i) {
    const std::span<const double> theta = layer.theta_of(i);
    std::fill(left.begin(), left.end(), 0.0);
    for (int c = 0; c < d; ++c) {
      const double sign = x[query * d + c];
      for (int e = 0; e < d; ++e) left[e] += sign * theta[c * d + e];
    }
    double* own = p.data() + static_cast<std::ptrdiff_t>(i) * tokens;
    for (int b = 0; b < tokens; ++b) {
      own[b] = 0.0;
      for (int e = 0; e < d; ++e) own[b] += left[e] * x[b * d + e];
    }
    const double top = *std::max_element(own, own + tokens);
    double sum = 0.0;
    for (int b = 0; b < tokens; ++b) sum += own[b] = std::exp(own[b] - top);
    for (int b = 0; b < tokens; ++b) own[b] /= sum;
  }
}

double squared_length(const double* x, int size) {
  double sum = 0.0;
  for (int c = 0; c < size; ++c) sum += x[c] * x[c];
  return sum;
}

double squared_distance(const double* x, const double* y, int size) {
  double sum = 0.0;
  for (int c = 0; c < size; ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return sum;
}

/// Adds the slabs of one row of an example with the tokens x.
void add_slabs(const Layer& layer, const double* x, int k, AgreedSlab row, std::vector<double>& p,
               std::vector<AgreedSlab>& out) {
  attend(layer, x, k, row.query, p);
  std::vector<double> mean(static_cast<std::size_t>(k), 0.0);
  for (int i = 0; i < layer.heads; ++i) {
    for (int b = 0; b < k; ++b) mean[b] += p[i * k + b] / layer.heads;
  }
  double off = 0.0;
  for (int i = 0; i < layer.heads; ++i) {
    for (int b = 0; b < k; ++b) off = std::max(off, std::abs(p[i * k + b] - mean[b]));
  }
  const auto token = [&](int a) { return x + static_cast<std::ptrdiff_t>(a) * layer.dim; };
  row.reference = static_cast<int>(std::max_element(mean.begin(), mean.end()) - mean.begin());
  for (row.key = 0; row.key < k; ++row.key) {
    if (row.key == row.reference || mean[row.key] < least_attention) continue;
    const double apart = squared_distance(token(row.key), token(row.reference), layer.dim);
    if (apart == 0.0) continue;
    row.centre = std::log(mean[row.key] / mean[row.reference]);
    row.tolerance = off * (1.0 / mean[row.key] + 1.0 / mean[row.reference]);
    row.relative = row.tolerance / std::sqrt(apart * squared_length(token(row.query), layer.dim));
    out.push_back(row);
  }
}

/// Keeps the `count` slabs of smallest relative tolerance.
void keep_best(std::size_t count, std::vector<AgreedSlab>& slabs) {
  if (slabs.size() <= count) return;
  const auto better = [](const AgreedSlab& a, const AgreedSlab& b) {
    if (a.relative != b.relative) return a.relative < b.relative;
    if (a.example != b.example) return a.example < b.example;
    return a.query != b.query ? a.query < b.query : a.key < b.key;
  };
  const auto last = slabs.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(slabs.begin(), last, slabs.end(), better);
  slabs.resize(count);
}

std::vector<AgreedSlab> best_slabs(const Layer& layer, const Examples& examples, std::size_t count,
                                   const Context& context) {
  std::vector<AgreedSlab> slabs;
  std::vector<double> p(static_cast<std::size_t>(layer.heads * examples.tokens));
  std::vector<double> x(examples.width());
  const std::vector<std::uint32_t> distinct = distinct_examples(examples);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    examples.copy_input(distinct[i], x.data());
    for (int a = 0; a < examples.tokens; ++a) {
      add_slabs(layer, x.data(), examples.tokens, {distinct[i], a, 0, 0, 0.0, 0.0, 0.0}, p, slabs);
    }
    if (i % inputs_at_once != 0) continue;
    context.check();
    keep_best(count, slabs);
  }
  keep_best(count, slabs);
  return slabs;
}

/// The rows (A, -b/sd(b)) of the slabs, weighted by their tolerances. [mha 15]
std::vector<double> lifted_rows(const Examples& examples, const std::vector<AgreedSlab>& slabs) {
  const auto d = static_cast<std::size_t>(examples.dim);
  std::vector<double> tolerances;
  double mean = 0.0;
  double square = 0.0;
  for (const AgreedSlab& slab : slabs) {
    tolerances.push_back(slab.tolerance);
    mean += slab.centre / static_cast<double>(slabs.size());
    square += slab.centre * slab.centre / static_cast<double>(slabs.size());
  }
  const auto middle = tolerances.begin() + static_cast<std::ptrdiff_t>(tolerances.size() / 2);
  std::nth_element(tolerances.begin(), middle, tolerances.end());
  const double scatter = std::sqrt(std::max(square - mean * mean, 1e-300));
  std::vector<double> rows;
  rows.reserve(slabs.size() * (d * d + 1));
  std::vector<double> x(examples.width());
  for (const AgreedSlab& slab : slabs) {
    const double weight = 1.0 / (slab.tolerance + softening * *middle);
    examples.copy_input(slab.example, x.data());
    const double* query = x.data() + static_cast<std::size_t>(slab.query) * d;
    const double* key = x.data() + static_cast<std::size_t>(slab.key) * d;
    const double* reference = x.data() + static_cast<std::size_t>(slab.reference) * d;
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t e = 0; e < d; ++e) {
        rows.push_back(weight * query[c] * (key[e] - reference[e]));
      }
    }
    rows.push_back(-weight * slab.centre / scatter);
  }
  return rows;
}

}  // namespace

double oracle_gap(const Layer& layer, const Examples& examples, const Context& context) {
  const auto unknowns = static_cast<std::size_t>(layer.dim) * static_cast<std::size_t>(layer.dim);
  const std::vector<AgreedSlab> slabs =
      best_slabs(layer, examples, slabs_per_unknown * unknowns, context);
  if (slabs.size() < unknowns + 1) return 0.0;
  const std::vector<double> rows = lifted_rows(examples, slabs);
  const std::vector<double> s =
      numerics::singular_values({rows.data(), slabs.size(), unknowns + 1});
  const std::size_t first = s.size() - static_cast<std::size_t>(layer.heads);
  return s[first] > 0.0 ? s[first - 1] / s[first] : 0.0;
}

ExamplesNeeded examples_needed(const Layer& layer, int tokens, Inputs inputs, std::uint64_t seed,
                               const Context& context) {
  InstanceLaw law;
  law.heads = layer.heads;
  law.dim = layer.dim;
  law.tokens = tokens;
  law.inputs = inputs;
  const double exist = distinct_inputs(tokens, layer.dim);
  ExamplesNeeded need;
  double before = 0.0;
  // Every row gives at most k - 1 slabs; with fewer examples the phases have too few.
  std::size_t count = 64;
  const double slabs_of_example = static_cast<double>(tokens) * (tokens - 1);
  const double slabs = static_cast<double>(slabs_per_unknown) * layer.dim * layer.dim;
  while (static_cast<double>(count) * slabs_of_example < slabs) count *= 2;
  for (; count <= most_examples && !need.exhausted; count *= 2) {
    const Examples examples = draw_examples(law, layer, count, seed, "mha inspect", context);
    need.tried = count;
    need.gap = oracle_gap(layer, examples, context);
    need.exhausted = inputs == Inputs::boolean &&
                     static_cast<double>(distinct_examples(examples).size()) >= nearly_all * exist;
    if (need.gap < telling_gap) {
      before = need.gap;
      continue;
    }
    // Between the last two numbers the gap grows like a power.
    const double part =
        before > 0.0 ? std::log(telling_gap / before) / std::log(need.gap / before) : 1.0;
    need.examples = 0.5 * static_cast<double>(count) * std::pow(2.0, part);
    return need;
  }
  return need;
}

}  // namespace onset::mha
