#include "smi/model/typed/typed_posterior.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "smi/model/typed/level_points.hpp"

namespace onset::smi {
namespace {

constexpr double scan_spacing = 0.25;
/// Far from a centre around which lines and points lie ever closer they need not be dense.
constexpr double centred_spacing = 0.5;
/// Cells in which the roots of several equations are looked for.
constexpr double cell_spacing = 0.35;
/// A label that no line meets may lie further out than labels drawn from the model: the radius is
/// doubled so often before a sample counts as lost.
constexpr int max_doublings = 2;
/// Lines are laid around what is nearest to a label so often before what they met is all of it.
constexpr int max_centrings = 4;
/// A single normal costs so little that it is scanned finely.
constexpr double single_scan_spacing = 0.05;

/// The one output that has a density.
std::size_t solved_output(const TypedLabel& label) {
  return label.is_atom() ? 0 : static_cast<std::size_t>(std::countr_zero(label.density));
}

/// Asks the lines, and closer ones where these meet the level set too seldom.
template <class Ask>
auto resolved_by(const TypedLink& link, const NormalForm& form, const LevelLines& lines,
                 const TypedLabel& label, const LineOptions& options, const Ask& ask) {
  const std::size_t n = form.normals();
  auto found = ask(lines);
  if (label.is_atom() || n == 1 || n > 3 || found.roots >= min_level_roots) return found;
  FieldVector centre = lines.nearest(label);
  for (int k = 0; k < max_centrings && found.roots < min_level_roots; ++k) {
    const LevelLines closer(link, form, centred_at(centre, options));
    found = ask(closer);
    centre = closer.nearest(label);
  }
  return found;
}

/// The points of a label with several outputs that have a density, in slices; closer ones where
/// these meet it too seldom. Where there are as many equations as normals nothing is integrated.
LevelPoints resolved_points(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                            LineOptions options) {
  const std::size_t enough = form.normals() == label.rank() ? 1 : min_level_roots;
  options.scan_spacing = cell_spacing;
  LevelPoints points(link, form, label, options);
  if (points.roots() >= enough) return points;
  LevelPoints closer(link, form, label, centred_at(points.nearest(), std::move(options)));
  return closer.roots() >= points.roots() ? closer : points;
}

}  // namespace

double default_spacing(std::size_t normals) {
  return normals <= 2 ? 0.25 : 0.5;
}

double typed_posterior_seconds(const TypedLink& link, std::size_t normals) {
  // Values with their slopes, both halves, roots and refinements included.
  constexpr double lines[] = {5e2, 5e3, 4e4, 1.6e5};
  // The same of slices, where several outputs have a density.
  constexpr double slices[] = {5e2, 1e3, 1.6e5, 1.6e5};
  const double* evaluations = link.max_rank() > 1 ? slices : lines;
  return 2.0 * link.seconds() * evaluations[std::clamp<std::size_t>(normals, 1, 4) - 1];
}

double covering_radius(std::size_t normals) {
  // The fourth moment beyond it is 1e-13 of one normal, 1e-8 of two, 1e-5 of three and four.
  return normals == 1 ? 8.6 : (normals == 2 ? 7.0 : 6.5);
}

TypedMoments normalised(const LevelMoments& first, const LevelMoments& second) {
  TypedMoments out;
  const LevelMoments* const halves[2] = {&first, &second};
  for (std::size_t h = 0; h < 2; ++h) {
    const LevelMoments& from = *halves[h];
    out.found = out.found && from.z > 0.0;
    const double scale = from.z > 0.0 ? 1.0 / from.z : 0.0;
    out.half[h] = {std::log(from.z), from.mean * scale, from.second * scale};
  }
  return out;
}

LineOptions centred_at(const FieldVector& centre, LineOptions options) {
  options.centre = centre;
  options.spacing = std::max(options.spacing, centred_spacing);
  options.scan_spacing = centred_spacing;
  return options;
}

LevelMoments resolved(const TypedLink& link, const NormalForm& form, const LevelLines& lines,
                      const TypedLabel& label, const LineOptions& options) {
  return resolved_by(link, form, lines, label, options,
                     [&](const LevelLines& some) { return some.moments(label); });
}

LevelHermite resolved_hermite(const TypedLink& link, const NormalForm& form,
                              const LevelLines& lines, const TypedLabel& label,
                              const LineOptions& options, const HermiteIndices& indices) {
  return resolved_by(link, form, lines, label, options,
                     [&](const LevelLines& some) { return some.hermite(label, indices); });
}

LineOptions line_options(std::size_t normals, double radius, const TypedNodes& nodes,
                         std::uint64_t half) {
  LineOptions options;
  options.radius = radius;
  options.seed = nodes.seed;
  options.sample = nodes.sample;
  options.replicate = 2 * nodes.replicate + half;
  options.spacing = nodes.spacing;
  options.scan_spacing = normals == 1 ? single_scan_spacing : scan_spacing;
  return options;
}

LevelMoments half_moments(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                          double radius, const TypedNodes& nodes, std::uint64_t half) {
  LineOptions options = line_options(form.normals(), radius, nodes, half);
  if (label.rank() > 1) return resolved_points(link, form, label, options).moments();
  options.output = solved_output(label);
  options.only = label.value[options.output];
  return resolved(link, form, LevelLines(link, form, options), label, options);
}

LevelHermite half_hermite(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                          double radius, const TypedNodes& nodes, std::uint64_t half,
                          const HermiteIndices& indices) {
  LineOptions options = line_options(form.normals(), radius, nodes, half);
  if (label.rank() > 1) return resolved_points(link, form, label, options).hermite(indices);
  options.output = solved_output(label);
  options.only = label.value[options.output];
  return resolved_hermite(link, form, LevelLines(link, form, options), label, options, indices);
}

TypedMoments typed_posterior(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                             double radius, const TypedNodes& nodes) {
  return normalised(half_moments(link, form, label, radius, nodes, 0),
                    half_moments(link, form, label, radius, nodes, 1));
}

std::vector<TypedLabel> typed_atoms(const TypedLink& link) {
  if (!link.has_atoms()) return {};
  const auto n = static_cast<Eigen::Index>(link.fields().size());
  const NormalForm plain{FieldVector::Zero(n), FieldMatrix::Identity(n, n)};
  const auto size = static_cast<std::size_t>(n);
  TypedNodes nodes;
  nodes.spacing = default_spacing(size);
  return LevelLines(link, plain, line_options(size, covering_radius(size), nodes, 0)).atoms();
}

TypedMoments posterior_of_data(const TypedLink& link, const std::vector<TypedLabel>& atoms,
                               const NormalForm& form, TypedLabel label, const TypedNodes& nodes) {
  const bool is_atom = std::any_of(atoms.begin(), atoms.end(), [&](const TypedLabel& atom) {
    return link.same_label(atom, label);
  });
  double radius = covering_radius(form.normals());
  TypedMoments found;
  found.found = false;
  for (int k = 0; k <= max_doublings && !found.found; ++k) {
    for (const unsigned density : link.densities()) {
      if ((density == 0) != is_atom || found.found) continue;
      label.density = density;
      found = typed_posterior(link, form, label, radius, nodes);
    }
    radius *= 2.0;
  }
  return found;
}

}  // namespace onset::smi
