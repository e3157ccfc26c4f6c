#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "numerics/jackknife.hpp"
#include "numerics/parallel.hpp"
#include "smi/limits/typed/label_rule.hpp"

namespace onset::smi {

/// Labels that one task averages.
inline constexpr std::size_t labels_of_task = 16;

/// The relative bias that the jackknife may leave in a ratio of pooled sums, from the relative
/// variance of the sum that it divides by: of second order, and never more than without it.
[[nodiscard]] inline double jackknifed_bias(double variance) {
  return std::min(2.0 * variance, 8.0 * variance * variance);
}

/// The relative variance of the mean of masses.
[[nodiscard]] double variance_of_mean(const std::vector<double>& masses);

/// Averages over labels, one per unit, and how much bias of ratios they may still have.
template <class Sums>
struct PooledSums {
  std::vector<Sums> units;
  double ratio_bias = 0.0;  ///< relative, the largest over all contents
};

/// Averages over labels of what moments per unit of mass make, where every one of some independent
/// units has moments of its own for every label. The moments of all units are pooled before
/// products and ratios are taken, and what is left of their bias is removed by the jackknife:
/// returned are its pseudo-values, whose mean is the estimate and whose scatter is its error [links
/// 15].
///
///   ask(unit, label)              moments: LevelMoments, or LevelHermite
///   add(moments, weight, sums)    adds a label; sums have += and *=
///   contents(moments)             as LabelContents, of which biases are relative
template <class Sums, class Ask, class Add, class Contents>
[[nodiscard]] PooledSums<Sums> pooled_sums(std::size_t units, const std::vector<LabelNode>& nodes,
                                           const Sums& zero, const Ask& ask, const Add& add,
                                           const Contents& contents, const Context& context) {
  /// The sums over all units, and those over all but one.
  struct Part {
    Sums whole;
    std::vector<Sums> without;
    std::vector<double> content, bias;

    void operator+=(const Part& other) {
      whole += other.whole;
      for (std::size_t u = 0; u < without.size(); ++u) without[u] += other.without[u];
      content.resize(std::max(content.size(), other.content.size()), 0.0);
      bias.resize(content.size(), 0.0);
      for (std::size_t k = 0; k < other.content.size(); ++k) content[k] += other.content[k];
      for (std::size_t k = 0; k < other.bias.size(); ++k) bias[k] += other.bias[k];
    }
  };
  const auto count = static_cast<double>(units);
  const Part nothing{zero, std::vector<Sums>(units > 1 ? units : 0, zero), {}, {}};
  const std::size_t tasks = (nodes.size() + labels_of_task - 1) / labels_of_task;
  std::vector<Part> parts(tasks, nothing);
  numerics::parallel_for(context, tasks, [&](std::size_t task) {
    Part& part = parts[task];
    const std::size_t first = task * labels_of_task;
    for (std::size_t k = first; k < std::min(nodes.size(), first + labels_of_task); ++k) {
      const auto& [label, weight] = nodes[k];
      using Moments = decltype(ask(std::size_t{0}, label));
      std::vector<Moments> own;
      std::vector<double> masses;
      for (std::size_t u = 0; u < units; ++u) {
        own.push_back(ask(u, label));
        masses.push_back(mass_of(own.back()));
      }
      Moments all = own.front();
      for (std::size_t u = 1; u < units; ++u) all += own[u];
      for (std::size_t u = 0; u < part.without.size(); ++u) {
        Moments rest = all;
        rest -= own[u];
        rest *= 1.0 / (count - 1.0);
        if (mass_of(rest) > 0.0) add(rest, mass_of(rest) * weight, part.without[u]);
      }
      all *= 1.0 / count;
      if (!(mass_of(all) > 0.0)) continue;  // shows in the mass of all labels
      add(all, mass_of(all) * weight, part.whole);
      if (units == 1) continue;
      std::vector<double> content = contents(all);
      const double left = jackknifed_bias(variance_of_mean(masses));
      part.content.resize(std::max(part.content.size(), content.size()), 0.0);
      part.bias.resize(part.content.size(), 0.0);
      for (std::size_t i = 0; i < content.size(); ++i) {
        part.content[i] += content[i] * weight;
        part.bias[i] += content[i] * weight * left;
      }
    }
  });
  Part sum = nothing;
  for (const Part& part : parts) sum += part;
  PooledSums<Sums> out;
  if (units == 1) {
    out.units = {sum.whole};
    return out;
  }
  for (Sums& without : sum.without) {
    out.units.push_back(numerics::pseudo_value(sum.whole, std::move(without), count));
  }
  for (std::size_t k = 0; k < sum.content.size(); ++k) {
    if (sum.content[k] > 0.0) {
      out.ratio_bias = std::max(out.ratio_bias, sum.bias[k] / sum.content[k]);
    }
  }
  return out;
}

/// The rows of `weights` times the units.
template <class Sums>
[[nodiscard]] std::vector<Sums> combined(const Eigen::MatrixXd& weights,
                                         const std::vector<Sums>& units) {
  std::vector<Sums> out;
  for (Eigen::Index r = 0; r < weights.rows(); ++r) {
    Sums sum = units.front();
    sum *= weights(r, 0);
    for (std::size_t s = 1; s < units.size(); ++s) {
      Sums other = units[s];
      other *= weights(r, static_cast<Eigen::Index>(s));
      sum += other;
    }
    out.push_back(std::move(sum));
  }
  return out;
}

}  // namespace onset::smi
