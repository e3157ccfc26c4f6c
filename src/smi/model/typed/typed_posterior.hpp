#pragma once

#include <cstdint>
#include <vector>

#include "smi/model/typed/level_lines.hpp"

namespace onset::smi {

/// Moments of the normals xi given a label, from two independent rotations and shifts of the nodes:
/// products across the halves have no bias from their errors' squares.
struct TypedMoments {
  struct Half {
    double log_z = 0.0;
    FieldVector mean;
    FieldMatrix second;
  };
  Half half[2];
  /// False where the nodes met no point with this label.
  bool found = true;
};

/// Which nodes a posterior uses: another key gives independent errors.
struct TypedNodes {
  double spacing = 0.25;  ///< of lines
  std::uint64_t seed = 1;
  std::uint64_t replicate = 0;
  std::uint64_t sample = 0;
};

/// The spacing of lines for this many normals that keeps the error of a single posterior near 1e-3
/// for smooth links.
[[nodiscard]] double default_spacing(std::size_t normals);

/// The radius to which the normals are covered for labels that are drawn from the model.
[[nodiscard]] double covering_radius(std::size_t normals);

/// Roughly the core-seconds of one posterior of this many normals at their default spacing.
[[nodiscard]] double typed_posterior_seconds(const TypedLink& link, std::size_t normals);

/// The posterior of f(xi) = label under a standard normal xi [links 1, 2]. `radius`: how far out
/// its mass may lie. Level sets too small for the nodes are looked at more finely.
[[nodiscard]] TypedMoments typed_posterior(const TypedLink& link, const NormalForm& form,
                                           const TypedLabel& label, double radius,
                                           const TypedNodes& nodes);

/// The labels that regions of positive mass have where nothing is known.
[[nodiscard]] std::vector<TypedLabel> typed_atoms(const TypedLink& link);

/// The posterior of a label as data have it, which does not say which of its outputs have a
/// density: of all sets that the link has, the smallest one with which the label is found
/// [links 10]. `atoms`: those of the link.
[[nodiscard]] TypedMoments posterior_of_data(const TypedLink& link,
                                             const std::vector<TypedLabel>& atoms,
                                             const NormalForm& form, TypedLabel label,
                                             const TypedNodes& nodes);

/// The same for one half (0 or 1), unnormalised.
[[nodiscard]] LevelMoments half_moments(const TypedLink& link, const NormalForm& form,
                                        const TypedLabel& label, double radius,
                                        const TypedNodes& nodes, std::uint64_t half);

/// The same with Hermite moments.
[[nodiscard]] LevelHermite half_hermite(const TypedLink& link, const NormalForm& form,
                                        const TypedLabel& label, double radius,
                                        const TypedNodes& nodes, std::uint64_t half,
                                        const HermiteIndices& indices);

/// The lines of one half (0 or 1).
[[nodiscard]] LineOptions line_options(std::size_t normals, double radius, const TypedNodes& nodes,
                                       std::uint64_t half);

/// Fewer roots than this on all lines together do not resolve a level set.
inline constexpr std::size_t min_level_roots = 8;

/// The same lines, ever closer towards a point and less dense far from it.
[[nodiscard]] LineOptions centred_at(const FieldVector& centre, LineOptions options);

/// The moments of a label from lines that were made with `options`; where they meet its level set
/// too seldom, from lines that lie closer around the point nearest to it.
[[nodiscard]] LevelMoments resolved(const TypedLink& link, const NormalForm& form,
                                    const LevelLines& lines, const TypedLabel& label,
                                    const LineOptions& options);

/// The same with Hermite moments.
[[nodiscard]] LevelHermite resolved_hermite(const TypedLink& link, const NormalForm& form,
                                            const LevelLines& lines, const TypedLabel& label,
                                            const LineOptions& options,
                                            const HermiteIndices& indices);

/// Divides by z; marks what was not found.
[[nodiscard]] TypedMoments normalised(const LevelMoments& first, const LevelMoments& second);

}  // namespace onset::smi
