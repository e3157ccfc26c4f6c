#include "smi/model/typed/typed_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace onset::smi {
namespace {

/// Fewer roots than this on all lines together do not resolve a level set.
constexpr std::size_t min_roots = 8;
constexpr double scan_spacing = 0.25;
/// Far from a centre around which lines and points lie ever closer they need not be dense.
constexpr double centred_spacing = 0.5;
/// A single normal costs so little that it is scanned finely.
constexpr double single_scan_spacing = 0.05;

/// Asks the lines, and closer ones where these meet the level set too seldom.
template <class Ask>
auto resolved_by(const TypedLink& link, const NormalForm& form, const LevelLines& lines,
                 const TypedLabel& label, LineOptions options, const Ask& ask) {
  const std::size_t n = form.normals();
  auto found = ask(lines);
  if (label.is_atom || n == 1 || n > 3 || found.roots >= min_roots) return found;
  options.centre = lines.nearest(label.value);
  options.spacing = std::max(options.spacing, centred_spacing);
  options.scan_spacing = centred_spacing;
  return ask(LevelLines(link, form, options));
}

}  // namespace

double default_spacing(std::size_t normals) {
  return normals <= 2 ? 0.25 : 0.5;
}

double typed_posterior_seconds(const TypedLink& link, std::size_t normals) {
  // Values with their slopes, both halves, roots and refinements included.
  constexpr double evaluations[] = {5e2, 8e3, 1.6e5, 1.6e5};
  return 2.0 * link.seconds() * evaluations[std::clamp<std::size_t>(normals, 1, 4) - 1];
}

double covering_radius(std::size_t normals) {
  return normals <= 2 ? 7.0 : 6.5;
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

LevelMoments resolved(const TypedLink& link, const NormalForm& form, const LevelLines& lines,
                      const TypedLabel& label, LineOptions options) {
  return resolved_by(link, form, lines, label, std::move(options), [&](const LevelLines& some) {
    return label.is_atom ? some.atom(label.value) : some.density(label.value);
  });
}

LevelHermite resolved_hermite(const TypedLink& link, const NormalForm& form,
                              const LevelLines& lines, const TypedLabel& label, LineOptions options,
                              const HermiteIndices& indices) {
  return resolved_by(link, form, lines, label, std::move(options), [&](const LevelLines& some) {
    return label.is_atom ? some.atom_hermite(label.value, indices)
                         : some.density_hermite(label.value, indices);
  });
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

TypedMoments typed_posterior(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                             double radius, const TypedNodes& nodes) {
  const std::size_t n = form.normals();
  LevelMoments halves[2] = {LevelMoments(n), LevelMoments(n)};
  for (std::uint64_t h = 0; h < 2; ++h) {
    const LineOptions options = line_options(n, radius, nodes, h);
    halves[h] = resolved(link, form, LevelLines(link, form, options), label, options);
  }
  return normalised(halves[0], halves[1]);
}

}  // namespace onset::smi
