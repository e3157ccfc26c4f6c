#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "smi/limits/typed/label_symmetries.hpp"
#include "smi/limits/typed/sample_form.hpp"
#include "smi/limits/typed/typed_channel.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {

/// The level lines of both halves of one replicate where nothing is known: they are laid once and
/// serve every label. Small level sets lie around an extreme value of the link, where a second set
/// of lines lies ever closer. Moments are averaged over the symmetries that keep the label, as if
/// lines had been laid in every one of their images.
class LabelLines {
 public:
  LabelLines(const TypedLink& link, const SampleForm& form, const TypedChannelOptions& options,
             std::uint64_t replicate);

  [[nodiscard]] LevelMoments half(const TypedLabel& label, std::size_t h) const;
  /// Normalised Hermite moments instead.
  [[nodiscard]] LevelHermite hermite(const TypedLabel& label, std::size_t h,
                                     const HermiteIndices& indices) const;
  /// A relative error that the scatter of rotations may not show. The corners of the regions of a
  /// discrete link of two fields make errors of second order in the spacing, most of which come
  /// with the few rotations that lay lines along an edge.
  [[nodiscard]] double corner_error() const;
  [[nodiscard]] std::vector<TypedLabel> atoms() const { return half_[0].lines->atoms(); }

 private:
  /// Lines around an extreme value, laid when somebody first asks for them; none where the link has
  /// no such value inside the radius that lines cover.
  struct Extreme {
    std::once_flag asked;
    std::unique_ptr<LevelLines> lines;
  };
  struct Half {
    LineOptions options;
    std::unique_ptr<LevelLines> lines;
    mutable Extreme lowest, highest;
  };
  /// The answer of the lines that meet the level set of the label most often.
  template <class Ask>
  [[nodiscard]] auto best(const TypedLabel& label, const Half& half, const Ask& ask) const;
  [[nodiscard]] const LevelLines* around(Extreme& extreme, double sign, const Half& half) const;
  /// From a point downhill, of `sign` times the link.
  [[nodiscard]] FieldVector bottom(FieldVector at, double sign) const;

  const TypedLink* link_;
  NormalForm form_;
  Half half_[2];
  LabelSymmetries symmetries_;
};

}  // namespace onset::smi
