#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "onset/core/context.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/label_symmetries.hpp"
#include "smi/limits/typed/sample_form.hpp"
#include "smi/model/typed/hermite_indices.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// Whether labels have so many fields that lines meet their level sets and regions too seldom:
/// where nothing is known they are put into bins then.
[[nodiscard]] bool needs_bins(const TypedLink& link);

/// Roughly the core-seconds of the samples of some units, and of sums over their bins.
[[nodiscard]] double binned_seconds(const TypedLink& link, double refinement,
                                    std::size_t units = 16);

/// What the labels in narrow bins say of the fields that made them, by quasi-Monte Carlo over all
/// fields: a link with the bin as its label [links 20]. Edges follow from ranks of labels and so do
/// not depend on how labels are written; regions of positive mass with one label are bins by
/// themselves.
class LabelBins {
 public:
  /// `units`: independent sets of samples, which options.refinement multiplies.
  LabelBins(const TypedLink& link, const SampleForm& form, const HermiteIndices& indices,
            std::size_t units, const TypedChannelOptions& options, const Context& context);

  /// Of the bin of a label, by the samples of one unit.
  [[nodiscard]] LevelMoments moments(std::size_t unit, const TypedLabel& label) const;
  [[nodiscard]] const LevelHermite& hermite(std::size_t unit, const TypedLabel& label) const;

  /// A label of every bin. The errors, what bins twice as wide lose more, bound what these lose.
  [[nodiscard]] LabelRule rule(const ContentsOf<LevelMoments>& contents,
                               const Context& context) const;
  [[nodiscard]] LabelRule rule(const ContentsOf<LevelHermite>& contents,
                               const Context& context) const;

 private:
  /// Without bins.
  LabelBins(const TypedLink& link, const HermiteIndices& indices, const LabelSymmetries& symmetries)
      : link_(&link), indices_(indices), symmetries_(symmetries) {}
  void find_bins(const FieldMatrix& matrix, std::size_t samples, double bins,
                 const Context& context);
  /// Edges between labels in order.
  void add_edges(std::span<const double> labels, double bins_per_label);
  /// Calls visit(xi, label) for `count` samples of a set whose label is a number.
  template <class Visit>
  void for_samples(const numerics::PointSet& points, const FieldMatrix& matrix, std::size_t first,
                   std::size_t count, const Context& context, const Visit& visit) const;
  [[nodiscard]] std::size_t bin_of(const TypedLabel& label) const;
  [[nodiscard]] std::vector<LabelNode> nodes() const;
  /// The same samples in bins of which each holds two of these: a bin and the one after it, or,
  /// from the first edge on, the one before.
  [[nodiscard]] LabelBins coarser(std::size_t first) const;
  /// `ask`: the moments of a label by a unit, in some bins.
  template <class Ask, class Contents>
  [[nodiscard]] LabelRule rule_of(const Ask& ask, const Contents& contents,
                                  const Context& context) const;

  const TypedLink* link_;
  HermiteIndices indices_;
  LabelSymmetries symmetries_;
  std::vector<double> edges_;                    ///< between bins of labels that have a density
  std::vector<TypedLabel> atoms_;                ///< whose bins come after those
  std::vector<std::vector<LevelHermite>> sums_;  ///< unit by unit, bin by bin
};

}  // namespace onset::smi
