#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "numerics/parallel.hpp"
#include "smi/limits/typed/sample_form.hpp"
#include "smi/limits/typed/typed_channel.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {

/// A level set is covered until the prior has fallen by exp(-15) below the point that made the
/// label: squared radii exceed those of that point by this.
inline constexpr double fall_of_prior = 30.0;

/// A sample that was drawn where some directions are known: what is known of its fields, and its
/// label. The fields are drawn from a wider law than their own and weighted back. Labels that are
/// discrete given what is known are not drawn: each is one after the other, with its probability.
struct OuterSample {
  NormalForm at;
  FieldVector fields;  ///< that made the label; empty where it was not drawn
  TypedLabel label;
  double weight = 0.0;
  double radius = 0.0;            ///< how far out the posterior's mass may lie
  double radius_of_fields = 0.0;  ///< the same where nothing is known
};

/// `count` samples from number nodes.sample on. Where a label is one number and several normals
/// make it, only its rank may be drawn: posteriors depend on nothing else, in one dimension instead
/// of many.
[[nodiscard]] std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                                     const TypedNodes& nodes, std::size_t count,
                                                     bool by_rank);

/// The regions of all labels given what is known of a sample, where these are discrete, from both
/// halves of lines.
class SampleRegions {
 public:
  SampleRegions(const TypedLink& link, const OuterSample& sample, const TypedNodes& nodes);

  struct Region {
    TypedLabel label;
    LevelMoments half[2];
    /// The probability of the label.
    [[nodiscard]] double mass() const { return 0.5 * (half[0].z + half[1].z); }
  };
  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }
  [[nodiscard]] const LevelLines& lines(std::uint64_t half) const { return *lines_[half]; }

 private:
  std::unique_ptr<LevelLines> lines_[2];
  std::vector<Region> regions_;
};

/// The posterior of the label of a sample, by two independent halves.
class SamplePosterior {
 public:
  SamplePosterior(const TypedLink& link, const OuterSample& sample, const TypedNodes& nodes)
      : link_(&link), sample_(&sample), nodes_(&nodes) {}
  /// That of a region.
  SamplePosterior(const TypedLink& link, const OuterSample& sample, const TypedNodes& nodes,
                  const SampleRegions& all, const SampleRegions::Region& region)
      : link_(&link), sample_(&sample), nodes_(&nodes), all_(&all), region_(&region) {}

  [[nodiscard]] TypedMoments moments() const;
  [[nodiscard]] LevelHermite hermite(std::uint64_t half, const HermiteIndices& indices) const;
  /// Other nodes than these would be independent of them.
  [[nodiscard]] const TypedNodes& nodes() const { return *nodes_; }

 private:
  const TypedLink* link_;
  const OuterSample* sample_;
  const TypedNodes* nodes_;
  const SampleRegions* all_ = nullptr;
  const SampleRegions::Region* region_ = nullptr;
};

/// What means over outer samples may have in error although all replicates agree, relative to them:
/// jumps make them counts of points, and a point more or less in one replicate would not be seen.
/// Sums over all labels count no points.
[[nodiscard]] inline double count_error(const TypedLink& link, const SampleForm& form,
                                        const TypedChannelOptions& options) {
  constexpr double size_of_point = 2.0;  // of what a point adds, in units of the mean
  if (link.switches() == 0 || form.labels_are_discrete(link)) return 0.0;
  return size_of_point / static_cast<double>(options.points * options.replicates);
}

/// Sums over outer samples, one for every replicate: visit(sample, posterior, sum) adds what a
/// sample says, its posterior having nodes of its own.
template <class Sum, class Visit>
[[nodiscard]] std::vector<Sum> sums_over_samples(const TypedLink& link, const SampleForm& form,
                                                 const TypedChannelOptions& options,
                                                 const Context& context, const Sum& zero,
                                                 const Visit& visit) {
  constexpr std::size_t chunk = 16;  // samples of one task
  const std::size_t chunks = (options.points + chunk - 1) / chunk;
  const bool all_labels = form.labels_are_discrete(link);
  std::vector<Sum> parts(options.replicates * chunks, zero);
  numerics::parallel_for(context, parts.size(), [&](std::size_t task) {
    const std::size_t first = (task % chunks) * chunk;
    TypedNodes nodes;
    nodes.spacing = options.spacing > 0.0 ? options.spacing : default_spacing(form.normals());
    nodes.spacing /= options.refinement;
    nodes.seed = options.seed;
    nodes.replicate = task / chunks;
    nodes.sample = first;
    const std::size_t count = std::min(chunk, options.points - first);
    for (OuterSample& sample : outer_samples(link, form, nodes, count, options.by_rank)) {
      if (all_labels) {
        const SampleRegions all(link, sample, nodes);
        for (const SampleRegions::Region& region : all.regions()) {
          sample.label = region.label;
          sample.weight = region.mass();
          visit(sample, SamplePosterior(link, sample, nodes, all, region), parts[task]);
        }
      } else {
        visit(sample, SamplePosterior(link, sample, nodes), parts[task]);
      }
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
