#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "numerics/random/stream.hpp"
#include "smi/model/typed/normal_form.hpp"

/// Where the nodes of integrals over normals lie.
namespace onset::smi {

/// A point of a one-dimensional rule.
struct Position {
  double x;
  double weight;
};

/// Positions of a trapezoid rule on [-radius, radius]: evenly spaced, or ever closer to a centre.
[[nodiscard]] std::vector<Position> positions(double radius, double spacing, double shift,
                                              std::optional<double> centre);

/// A rotation from the Haar measure.
[[nodiscard]] FieldMatrix random_rotation(std::size_t size, numerics::Stream& stream);

}  // namespace onset::smi
