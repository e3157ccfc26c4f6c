#include "smi/limits/typed/label_lines.hpp"

#include <utility>

namespace onset::smi {
namespace {

/// Lines of a posterior at overlap 0: they are scanned once for all labels, of which a discrete
/// link has few.
double fine_spacing(const TypedLink& link) {
  // The corners of the regions of a discrete link make the rule one of second order.
  if (link.fields().size() <= 2) return link.is_discrete() ? 0.125 / 32.0 : 0.125;
  return link.is_discrete() ? 0.125 : 0.5;
}

/// A level set that lines meet less often is asked for around the extreme values of the link too.
constexpr std::size_t plenty_of_roots = 64;
/// Steps of the search for such a value.
constexpr double first_step = 0.25;
constexpr double last_step = 1e-5;
/// What corners may add to a mean over rotations that has none of the few that matter, in squares
/// of the spacing.
constexpr double corner_part = 0.2;
/// An extreme value closer than this to the end of what lines cover may be none.
constexpr double from_rim = 1.0;

}  // namespace

LabelLines::LabelLines(const TypedLink& link, const SampleForm& form,
                       const TypedChannelOptions& options, std::uint64_t replicate)
    : link_(&link), symmetries_(link, form.matrix()) {
  form_.matrix = form.matrix();
  form_.origin = FieldVector::Zero(form_.matrix.rows());
  const std::size_t n = form.normals();
  TypedNodes nodes;
  nodes.seed = options.seed;
  nodes.replicate = replicate;
  nodes.spacing = options.spacing > 0.0 ? options.spacing : fine_spacing(link);
  nodes.spacing /= options.refinement;
  for (std::uint64_t h = 0; h < 2; ++h) {
    const double radius = options.radius > 0.0 ? options.radius : covering_radius(n);
    half_[h].options = line_options(n, radius, nodes, h);
    half_[h].options.only_regions = link.is_discrete();
    half_[h].lines = std::make_unique<LevelLines>(link, form_, half_[h].options);
    half_[h].lines->file_cells();
  }
}

FieldVector LabelLines::bottom(FieldVector at, double sign) const {
  const auto value = [&](const FieldVector& xi) {
    const FieldVector fields = form_.matrix * xi;
    std::vector<double> out(link_->outputs());
    link_->values(1, fields.data(), out.data());
    return sign * out[half_[0].options.output];
  };
  double least = value(at);
  for (double step = first_step; step > last_step; step *= 0.5) {
    for (bool moved = true; moved && at.norm() < half_[0].options.radius;) {
      moved = false;
      for (Eigen::Index k = 0; k < at.size(); ++k) {
        for (const double side : {-step, step}) {
          FieldVector next = at;
          next(k) += side;
          const double there = value(next);
          if (!(there < least)) continue;
          at = next;
          least = there;
          moved = true;
        }
      }
    }
  }
  return at;
}

const LevelLines* LabelLines::around(Extreme& extreme, double sign, const Half& half) const {
  std::call_once(extreme.asked, [&] {
    const FieldVector centre = bottom(half.lines->lowest(sign), sign);
    if (!(centre.norm() < half.options.radius - from_rim)) return;
    extreme.lines = std::make_unique<LevelLines>(*link_, form_, centred_at(centre, half.options));
    extreme.lines->file_cells();
  });
  return extreme.lines.get();
}

template <class Ask>
auto LabelLines::best(const TypedLabel& label, const Half& half, const Ask& ask) const {
  auto found = ask(*half.lines);
  const std::size_t n = form_.normals();
  if (label.is_atom() || n == 1 || n > 3 || found.roots >= plenty_of_roots) return found;
  for (const double sign : {1.0, -1.0}) {
    const LevelLines* lines = around(sign > 0.0 ? half.lowest : half.highest, sign, half);
    if (!lines) continue;
    auto other = ask(*lines);
    if (other.roots > found.roots) found = std::move(other);
  }
  return found;
}

LevelMoments LabelLines::half(const TypedLabel& label, std::size_t h) const {
  LevelMoments found =
      best(label, half_[h], [&](const LevelLines& lines) { return lines.moments(label); });
  if (found.roots < min_level_roots) {
    found = resolved(*link_, form_, *half_[h].lines, label, half_[h].options);
  }
  return symmetries_.mean(found);
}

LevelHermite LabelLines::hermite(const TypedLabel& label, std::size_t h,
                                 const HermiteIndices& indices) const {
  LevelHermite found =
      best(label, half_[h], [&](const LevelLines& lines) { return lines.hermite(label, indices); });
  if (found.roots >= min_level_roots) return found;
  return resolved_hermite(*link_, form_, *half_[h].lines, label, half_[h].options, indices);
}

double LabelLines::corner_error() const {
  const double spacing = half_[0].options.spacing;
  return link_->is_discrete() && form_.normals() == 2 ? corner_part * spacing * spacing : 0.0;
}

}  // namespace onset::smi
