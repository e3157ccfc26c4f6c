#pragma once

#include <algorithm>
#include <vector>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "smi/limits/typed/sample_form.hpp"

namespace onset::smi {

/// A level set is covered until the prior has fallen by exp(-15) below the point that made the
/// label: squared radii exceed those of that point by this.
inline constexpr double fall_of_prior = 30.0;

/// A sample that was drawn where some directions are known: what is known of its fields, and its
/// label. The fields are drawn from a wider law than their own and weighted back.
struct OuterSample {
  NormalForm at;
  FieldVector fields;  ///< that made the label
  TypedLabel label;
  double weight = 0.0;
  double radius = 0.0;  ///< how far out the posterior's mass may lie
};

/// Samples [first, last) of a set of points in form.normals() + form.centres() dimensions.
[[nodiscard]] std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                                     const numerics::PointSet& points,
                                                     std::size_t first, std::size_t last);

/// What means over outer samples may have in error although all replicates agree, relative to them:
/// jumps make them counts of points, and a point more or less in one replicate would not be seen.
[[nodiscard]] inline double count_error(const TypedLink& link, const TypedChannelOptions& options) {
  constexpr double size_of_point = 2.0;  // of what a point adds, in units of the mean
  if (link.switches() == 0) return 0.0;
  return size_of_point / static_cast<double>(options.points * options.replicates);
}

/// Sums over outer samples, one for every replicate: visit(sample, nodes, sum) adds what a sample
/// says, its posterior having nodes of its own.
template <class Sum, class Visit>
[[nodiscard]] std::vector<Sum> sums_over_samples(const TypedLink& link, const SampleForm& form,
                                                 const TypedChannelOptions& options,
                                                 const Context& context, const Sum& zero,
                                                 const Visit& visit) {
  constexpr std::size_t chunk = 16;  // samples of one task
  const std::size_t chunks = (options.points + chunk - 1) / chunk;
  const int dimensions = static_cast<int>(form.normals() + form.centres());
  std::vector<Sum> parts(options.replicates * chunks, zero);
  numerics::parallel_for(context, parts.size(), [&](std::size_t task) {
    const std::size_t first = (task % chunks) * chunk;
    TypedNodes nodes;
    nodes.spacing = options.spacing > 0.0 ? options.spacing : default_spacing(form.normals());
    nodes.spacing /= options.refinement;
    nodes.seed = options.seed;
    nodes.replicate = task / chunks;
    nodes.sample = first;
    const auto points = numerics::scrambled_sobol(dimensions, options.seed, nodes.replicate);
    const std::size_t last = std::min(first + chunk, options.points);
    for (const OuterSample& sample : outer_samples(link, form, *points, first, last)) {
      visit(sample, nodes, parts[task]);
      ++nodes.sample;
    }
  });
  std::vector<Sum> out(options.replicates, zero);
  for (std::size_t r = 0; r < options.replicates; ++r) {
    for (std::size_t c = 0; c < chunks; ++c) out[r] += parts[r * chunks + c];
  }
  return out;
}

}  // namespace onset::smi
