#pragma once

#include <vector>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "smi/limits/typed/sample_form.hpp"

namespace onset::smi {

/// A sample that was drawn where some directions are known: what is known of its fields, and its
/// label. The fields are drawn from a wider law than their own and weighted back.
struct OuterSample {
  NormalForm at;
  TypedLabel label;
  double weight = 0.0;
  double radius = 0.0;  ///< how far out the posterior's mass may lie
};

/// Samples [first, last) of a set of points in form.normals() + form.centres() dimensions.
[[nodiscard]] std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                                     const numerics::PointSet& points,
                                                     std::size_t first, std::size_t last);

}  // namespace onset::smi
