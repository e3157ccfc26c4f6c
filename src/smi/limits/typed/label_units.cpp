#include "smi/limits/typed/label_units.hpp"

#include "numerics/parallel.hpp"

namespace onset::smi {

LabelUnits::LabelUnits(const TypedLink& link, const SampleForm& form,
                       const TypedChannelOptions& options, int max_degree, const Context& context,
                       LabelCover cover)
    : link_(&link),
      indices_(form.normals(), max_degree),
      // One normal has one line: no rotation, no shift, and so no scatter.
      count_(form.normals() == 1 ? 1 : 2 * options.replicates) {
  if (cover == LabelCover::usual && needs_bins(link)) {
    bins_.emplace(link, form, indices_, count_, options, context);
    return;
  }
  lines_.resize((count_ + 1) / 2);
  numerics::parallel_for(context, lines_.size(), [&](std::size_t r) {
    lines_[r] = std::make_unique<LabelLines>(link, form, options, r);
  });
}

LevelMoments LabelUnits::moments(std::size_t unit, const TypedLabel& label) const {
  return bins_ ? bins_->moments(unit, label) : lines_[unit / 2]->half(label, unit % 2);
}

LevelHermite LabelUnits::hermite(std::size_t unit, const TypedLabel& label) const {
  return bins_ ? bins_->hermite(unit, label) : lines_[unit / 2]->hermite(label, unit % 2, indices_);
}

LabelRule LabelUnits::rule(const ContentsOf<LevelMoments>& contents, const Context& context) const {
  if (bins_) return bins_->rule(contents, context);
  const auto of_label = [&](const TypedLabel& label) { return contents(moments(0, label)); };
  return label_rule(*link_, of_label, lines_.front()->atoms(), context);
}

LabelRule LabelUnits::rule(const ContentsOf<LevelHermite>& contents, const Context& context) const {
  if (bins_) return bins_->rule(contents, context);
  const auto of_label = [&](const TypedLabel& label) { return contents(hermite(0, label)); };
  return label_rule(*link_, of_label, lines_.front()->atoms(), context);
}

}  // namespace onset::smi
