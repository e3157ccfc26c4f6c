#pragma once

#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {

/// Whether averages where nothing is known are integrals over the label: of one output, or of
/// several that are all discrete. Otherwise labels are drawn.
[[nodiscard]] bool has_label_integral(const TypedLink& link);

/// How often the slope of a link changes its sign along a line through the fields, on average.
[[nodiscard]] double turns_along_lines(const TypedLink& link);
/// How many times longer the integral over the label of a link takes that turns often along lines,
/// for estimates of cost.
[[nodiscard]] double turning_effort(const TypedLink& link);

/// A label with the weight of a rule over labels: dy for one that has a density, 1 for an atom.
struct LabelNode {
  TypedLabel label;
  double weight;
};

/// What a label contributes per dy: numbers whose integrals the rule makes accurate, the density
/// itself first. Empty where no point has the label.
using LabelContents = std::function<std::vector<double>(const TypedLabel&)>;

/// The same from the moments of a label.
template <class Moments>
using ContentsOf = std::function<std::vector<double>(const Moments&)>;

/// A rule for integrals over labels, atoms included [links 2]: panels in asinh of the label are
/// halved until the integrals of the contents stop changing.
struct LabelRule {
  std::vector<LabelNode> nodes;
  /// What the last halvings changed altogether, one per content: bounds on the rule's errors.
  std::vector<double> error;

  /// The mass of labels that were not met, given that of the others: what is missing from 1 beyond
  /// the rule's own errors.
  [[nodiscard]] double missed(double mass) const;
};

[[nodiscard]] LabelRule label_rule(const TypedLink& link, const LabelContents& contents,
                                   const std::vector<TypedLabel>& atoms, const Context& context);

}  // namespace onset::smi
