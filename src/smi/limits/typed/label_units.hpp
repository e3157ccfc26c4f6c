#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "smi/limits/typed/label_bins.hpp"
#include "smi/limits/typed/label_lines.hpp"
#include "smi/limits/typed/label_rule.hpp"

namespace onset::smi {

/// By what units know labels: usually what suits the number of fields. Densities of labels need
/// lines.
enum class LabelCover { usual, lines };

/// What independent units know of every label where nothing else is known, for sums over labels:
/// the halves of sets of lines or, where lines meet level sets too seldom, sets of samples in bins.
class LabelUnits {
 public:
  /// `max_degree`: of the Hermite moments that are asked for.
  LabelUnits(const TypedLink& link, const SampleForm& form, const TypedChannelOptions& options,
             int max_degree, const Context& context, LabelCover cover = LabelCover::usual);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] LevelMoments moments(std::size_t unit, const TypedLabel& label) const;
  [[nodiscard]] LevelHermite hermite(std::size_t unit, const TypedLabel& label) const;
  [[nodiscard]] const HermiteIndices& indices() const { return indices_; }

  /// The rule over labels, made for the contents that moments have.
  [[nodiscard]] LabelRule rule(const ContentsOf<LevelMoments>& contents,
                               const Context& context) const;
  [[nodiscard]] LabelRule rule(const ContentsOf<LevelHermite>& contents,
                               const Context& context) const;
  /// A relative error that the scatter of units may not show.
  [[nodiscard]] double common_error() const { return bins_ ? 0.0 : lines_.front()->corner_error(); }

 private:
  const TypedLink* link_;
  HermiteIndices indices_;
  std::size_t count_;
  std::vector<std::unique_ptr<LabelLines>> lines_;
  std::optional<LabelBins> bins_;  ///< instead of lines
};

}  // namespace onset::smi
