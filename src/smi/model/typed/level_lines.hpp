#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "smi/model/typed/hermite_indices.hpp"
#include "smi/model/typed/node_positions.hpp"
#include "smi/model/typed/normal_form.hpp"

namespace onset::smi {

/// How finely the normals are covered.
struct LineOptions {
  std::size_t output = 0;  ///< of the link, whose roots are wanted
  /// The only value of the output that is asked for: what cannot have it is not kept.
  std::optional<double> only = {};
  /// Only the regions of discrete labels are asked for: no roots are looked for.
  bool only_regions = false;
  double spacing = 0.25;       ///< of lines
  double scan_spacing = 0.25;  ///< of points along a line
  double radius = 7.0;         ///< how far from the origin
  /// Lines and points lie closer towards this point, where a small level set is expected.
  std::optional<FieldVector> centre = {};
  std::uint64_t seed = 1;
  std::uint64_t replicate = 0;  ///< another rotation and other shifts
  std::uint64_t sample = 0;
};

/// The level sets of a link, found on lines parallel to randomly rotated axes: the integral over a
/// level set is the sum over axes of integrals over the other coordinates, in which every root on
/// a line counts with a weight of a partition of unity [links 2].
///
/// The link is scanned along all lines once; every label is then a matter of polishing roots. Of a
/// link of several outputs one is solved for; the others follow from it, or are flat, and must
/// agree with the label.
class LevelLines {
 public:
  LevelLines(const TypedLink& link, const NormalForm& form, const LineOptions& options);
  ~LevelLines();
  LevelLines(const LevelLines&) = delete;
  LevelLines& operator=(const LevelLines&) = delete;

  /// Moments of a label that has a density, or is an atom.
  [[nodiscard]] LevelMoments moments(const TypedLabel& label) const;
  /// The same with Hermite moments of the normals [links 30].
  [[nodiscard]] LevelHermite hermite(const TypedLabel& label, const HermiteIndices& indices) const;
  /// Where to look for more of the level set: the scanned point whose value is nearest to the
  /// label, or with other outputs the root that is nearest to a place where they may have it too.
  [[nodiscard]] FieldVector nearest(const TypedLabel& label) const;
  /// The scanned point with the smallest value of `sign` times the output.
  [[nodiscard]] FieldVector lowest(double sign) const;
  /// Files the cells by the values they have, for those who ask for many labels: the answers are
  /// the same, without a look at every cell.
  void file_cells();
  /// The labels of flat pieces, one after the other, as they were met.
  [[nodiscard]] std::vector<TypedLabel> atoms() const;

 private:
  /// Points that are evaluated at once: their workspace stays in the cache.
  static constexpr std::size_t block_points = 512;
  static constexpr int max_root_steps = 80;

  struct Line {
    std::size_t axis;
    FieldVector coordinates;  ///< rotated; 0 along the axis
    double weight;
    double reach;  ///< it is scanned between -reach and reach
  };
  /// A part of a line on which the link is smooth, with values and slopes at its ends.
  struct Cell {
    std::size_t line;
    double t0, t1, f0, d0, f1, d1;
  };
  /// A part of a line between switches.
  struct Segment {
    std::size_t line;
    double begin, end;  ///< may be infinite
    TypedLabel label;
    bool flat;
  };
  struct Place {
    std::size_t line;
    double t;
  };
  /// A switch that changes sign between two scanned points of a line.
  struct Cut {
    std::size_t line;
    double begin, end;  ///< the scanned points
    std::size_t switch_index;
    double lo, hi;  ///< what is left of the interval
    double s_lo, s_hi;
  };
  struct Bracket {
    std::size_t line;
    double lo, hi;
    double f_lo, f_hi;  ///< minus the label
    double guess;
    /// A point whose slope is known: how much that differs at the guess tells the curvature.
    double known;
    double known_slope;
  };
  /// The storage of lines that are no longer needed, kept for the next ones of the same thread:
  /// a posterior fills hundreds of kilobytes, which would otherwise go back to the system each
  /// time.
  struct Storage {
    std::vector<Line> lines;
    std::vector<Cell> cells;
    std::vector<Segment> segments;
  };
  static Storage& spare();
  void lay_lines(const LineOptions& options);
  void lay_grid(const LineOptions& options, std::size_t axis);
  void lay_random(const LineOptions& options, std::size_t axis);
  void scan(const LineOptions& options);
  /// A switch that changes sign twice between two scanned points.
  struct HiddenPair {
    std::size_t interval;  ///< the scanned point before it
    std::size_t switch_index;
    double t;  ///< between the two changes
    double value;
  };
  /// Looks for such pairs where a parabola through three points of a line comes near zero.
  [[nodiscard]] std::vector<HiddenPair> hidden_pairs(const std::vector<Place>& places,
                                                     const std::vector<double>& sides) const;
  /// Puts points between those of a line whose values and slopes do not fit together.
  bool add_points(std::vector<Place>& places, std::vector<double>& value,
                  std::vector<double>& slope, const std::vector<double>& sides) const;
  /// The values of all switches, switch by switch.
  [[nodiscard]] std::vector<double> switch_sides(const std::vector<Place>& places) const;
  void scan_block(std::size_t first, std::size_t last, const LineOptions& options);
  [[nodiscard]] FieldVector point(std::size_t line, double t) const;
  /// The scanned point whose value has the least distance; 0 where there is none.
  template <class Distance>
  [[nodiscard]] FieldVector closest_point(const Distance& distance) const;
  /// Of the roots of the label's solved output: one at which the other outputs have the label too,
  /// or else the one nearest to a switch, beyond which they may.
  [[nodiscard]] std::optional<Place> nearest_root(const TypedLabel& label) const;
  void find_cuts(std::vector<Cut>& cuts) const;
  /// Adds pairs of cuts of switches that vanish around a cut of another one.
  void add_corners(std::vector<Cut>& cuts) const;
  /// Adds a cell, in two parts where the link goes through a pole inside it.
  void add_cell(const Cell& cell);
  void split_cells(const std::vector<Cut>& cuts);
  void find_segments(std::size_t first, std::size_t last, const std::vector<Cut>& cuts);
  /// Columns of fields, one per place.
  [[nodiscard]] std::vector<double> fields_at(const std::vector<Place>& places) const;
  void values_along(const std::vector<Place>& places, std::vector<double>& value,
                    std::vector<double>& slope) const;
  /// Adds the root of a cell to the brackets, or to the dips where it may have two.
  static void look_into(const Cell& cell, double label, std::vector<Bracket>& brackets,
                        std::vector<Bracket>& dips);
  void search_dips(double label, std::vector<Bracket>& dips, std::vector<Bracket>& brackets) const;
  void polish(double label, std::vector<Bracket>& brackets, std::vector<Place>& roots) const;
  /// All points at which the output has this value.
  [[nodiscard]] std::vector<Place> roots_of(double value) const;
  /// Calls visit(weight, xi) for every root of a label that counts.
  template <class Visit>
  void collect(const TypedLabel& label, const Visit& visit) const;
  [[nodiscard]] LevelMoments atom(const TypedLabel& label) const;
  [[nodiscard]] LevelHermite atom_hermite(const TypedLabel& label,
                                          const HermiteIndices& indices) const;

  const TypedLink* link_;
  std::size_t output_;
  std::optional<double> only_;
  /// The beginning of a cell that was not kept whose value is nearest to the label.
  std::optional<Place> nearest_left_out_;
  double least_left_out_ = 0.0;  ///< its distance
  NormalForm form_;              ///< with the rotation in its matrix
  FieldMatrix rotation_;         ///< xi = rotation * rotated coordinates
  FieldVector centre_;           ///< in rotated coordinates; empty: none
  /// Points that lie ever closer to the centre, along every axis; empty: none.
  std::vector<std::vector<Position>> graded_;
  std::vector<Line> lines_;  ///< axis after axis
  std::vector<Cell> cells_;
  std::vector<Segment> segments_;
  /// Between shelf_[k - 1] and shelf_[k] lie labels of which only the cells filed_[k] may have
  /// roots; empty: cells are not filed.
  std::vector<double> shelf_;
  std::vector<std::vector<std::uint32_t>> filed_;
};

}  // namespace onset::smi
