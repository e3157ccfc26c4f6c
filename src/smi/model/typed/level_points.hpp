#pragma once

#include <cstddef>
#include <vector>

#include "smi/model/typed/hermite_indices.hpp"
#include "smi/model/typed/level_lines.hpp"
#include "smi/model/typed/normal_form.hpp"

namespace onset::smi {

/// The points at which two or three outputs of a link have the values of a label, in slices along
/// randomly rotated axes: for every set I of as many coordinates as there are equations the others
/// are nodes of a trapezoid rule, and in the slice of each the roots are found by Newton's method
/// from those cells of a grid in which every output may vanish. A root counts with a weight of a
/// partition of unity over the sets, which vanishes where its slice touches the level set
/// [links 11].
class LevelPoints {
 public:
  /// At most three normals. options.spacing is that of slices, options.scan_spacing that of grids.
  LevelPoints(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
              const LineOptions& options);

  [[nodiscard]] std::size_t roots() const { return points_.size(); }
  [[nodiscard]] LevelMoments moments() const;
  [[nodiscard]] LevelHermite hermite(const HermiteIndices& indices) const;
  /// The point of all grids whose values are nearest to the label, each in its own units.
  [[nodiscard]] FieldVector nearest() const { return rotation_ * nearest_; }

 private:
  struct Point {
    double weight;
    FieldVector xi;
  };
  /// The slices of one set of coordinates.
  struct Slices {
    std::vector<Eigen::Index> solved;       ///< for which the equations are solved
    std::vector<std::vector<double>> grid;  ///< the positions along each of them

    [[nodiscard]] std::size_t points() const;
    /// A point of the grid of one slice, by its number.
    [[nodiscard]] FieldVector at(const FieldVector& base, std::size_t number) const;
  };
  /// The values of the solved outputs minus the label: value[equation * count + i].
  using Values = std::vector<double>;
  /// The same at one point with slopes along the rotated axes.
  struct Equations {
    FieldVector value;
    FieldMatrix slopes;  ///< equations x normals
    bool others_agree;   ///< the outputs that follow have the label's values
  };

  void solve(const std::vector<Eigen::Index>& solved, const LineOptions& options);
  void solve_slice(const Slices& slices, const FieldVector& base, double weight);
  [[nodiscard]] Values grid_values(const Slices& slices, const FieldVector& base) const;
  void note_nearest(const Slices& slices, const FieldVector& base, const Values& values);
  /// Newton starts in the cells in which all outputs may vanish.
  [[nodiscard]] std::vector<FieldVector> starts(const Slices& slices, const FieldVector& base,
                                                const Values& values) const;
  /// Newton's method in the solved coordinates; what does not converge is left out.
  [[nodiscard]] std::vector<FieldVector> polished(const Slices& slices,
                                                  std::vector<FieldVector> at) const;
  [[nodiscard]] std::vector<Equations> equations_at(const std::vector<FieldVector>& at) const;

  const TypedLink* link_;
  NormalForm form_;  ///< with the rotation in its matrix
  FieldMatrix rotation_;
  FieldVector centre_;  ///< in rotated coordinates; empty: none
  TypedLabel label_;
  std::vector<std::size_t> outputs_;  ///< that are solved for
  double radius_;
  std::vector<Point> points_;
  std::vector<double> units_;  ///< of the solved outputs: their size on the first grid
  double least_;               ///< how far the nearest grid point is from the label
  FieldVector nearest_;        ///< in rotated coordinates
};

}  // namespace onset::smi
