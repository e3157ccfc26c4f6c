#include <algorithm>
#include <memory>

#include "numerics/parallel.hpp"
#include "smi/limits/typed/label_rule.hpp"

namespace onset::smi {
namespace {

/// Mass, pull and growth of one label.
std::vector<double> contents_of(const LevelMoments& m) {
  if (!(m.z > 0.0)) return {};
  const auto n = m.mean.size();
  const FieldMatrix excess = m.second - m.z * FieldMatrix::Identity(n, n);
  return {m.z, m.mean.squaredNorm() / m.z, excess.squaredNorm() / m.z};
}

}  // namespace

std::vector<TypedAverages> typed_channel_at_zero(const TypedLink& link,
                                                 const TypedChannelOptions& options,
                                                 const Context& context) {
  const KnownDirections nothing = KnownDirections::none(link.directions());
  if (!has_label_integral(link)) return typed_channel(link, nothing, options, context);
  const SampleForm form(link, nothing);
  // One normal has one line: no rotation, no shift, and so no scatter.
  const std::size_t replicates = form.normals() == 1 ? 1 : options.replicates;
  std::vector<std::unique_ptr<LabelLines>> lines(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    lines[r] = std::make_unique<LabelLines>(link, form, options, r);
  });
  const auto contents = [&](const TypedLabel& label) {
    return contents_of(lines[0]->half(label, 0));
  };
  const LabelRule rule = label_rule(link, contents, lines[0]->atoms(), context);
  const std::vector<LabelNode>& nodes = rule.nodes;
  double rule_error = 0.0;
  for (const double error : rule.error) rule_error = std::max(rule_error, error);
  constexpr std::size_t chunk = 64;
  const std::size_t chunks = (nodes.size() + chunk - 1) / chunk;
  std::vector<TypedAverages> parts(replicates * chunks);
  numerics::parallel_for(context, parts.size(), [&](std::size_t task) {
    const LabelLines& replicate = *lines[task / chunks];
    const std::size_t first = (task % chunks) * chunk;
    TypedAverages sum = form.zero();
    for (std::size_t k = first; k < std::min(nodes.size(), first + chunk); ++k) {
      const LevelMoments a = replicate.half(nodes[k].label, 0);
      const LevelMoments b = replicate.half(nodes[k].label, 1);
      const TypedMoments moments = normalised(a, b);
      if (moments.found) form.add(moments, 0.5 * (a.z + b.z) * nodes[k].weight, sum);
    }
    parts[task] = std::move(sum);
  });
  std::vector<TypedAverages> out;
  for (std::size_t r = 0; r < replicates; ++r) {
    TypedAverages sum = form.zero();
    for (std::size_t c = 0; c < chunks; ++c) sum += parts[r * chunks + c];
    sum.rule_error = rule_error;
    out.push_back(std::move(sum));
  }
  return out;
}

}  // namespace onset::smi
