#pragma once

#include <vector>

#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// A straight line through the fields of a link: origin + t * direction.
struct FieldLine {
  std::vector<double> origin, direction;

  /// The fields at some places, field after field.
  [[nodiscard]] std::vector<double> fields(const std::vector<double>& places) const;
};

/// The ends of the parts into which the switches of a link cut a line between -reach and reach, in
/// order, both ends of the line included. A fineness above 1 looks for them in that many times
/// smaller steps.
[[nodiscard]] std::vector<double> line_cuts(const TypedLink& link, const FieldLine& line,
                                            double reach, double fineness);

/// The places between neighbours of ordered ones.
[[nodiscard]] std::vector<double> middles(const std::vector<double>& ends);

}  // namespace onset::smi
