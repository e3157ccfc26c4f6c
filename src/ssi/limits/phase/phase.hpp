#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {

/// The phases of the positional-semantic model at one (a, omega). [ssi 22-28]
struct PhasePoint {
  double a = 0.0;
  double omega = 0.0;
  /// semantic, positional, mixed; degenerate at omega = 1; unresolved where errors leave it open.
  std::string global_type;
  /// The steepest direction at the start: semantic, positional, none or unresolved.
  std::string start_type;
  std::optional<int> minima;  ///< local minima in the closed first quadrant
  std::optional<Estimate> e_min;
  std::optional<Estimate> m_min;
  Estimate risk_min;
  /// What SGD will do: which minimum is the global one, whether it is alone, and whither the start
  /// leads; "mixed" and "degenerate" say all.
  std::string region;
};

/// The values of omega at which something changes, for one a; empty where it does not happen in (0,
/// 1).
struct PhaseCurves {
  double a = 0.0;
  std::optional<Estimate> positional_appears;  ///< (1, 0) becomes a local minimum
  std::optional<Estimate> start_switches;      ///< steepest direction: semantic to positional
  std::optional<Estimate> global_switches;     ///< the global minimiser crosses e = m
  std::optional<Estimate> semantic_ends;       ///< (0, 1) stops being a local minimum
  bool continuous = false;  ///< whether the global minimiser passes through mixed points
};

/// All of it from functions of the overlaps that do not depend on (a, omega), for the loss
/// |y - f|^2 / 2. Of two tokens they are series: building a table of them takes half a second, a
/// point some microseconds, and errors are the difference to a coarser table. Of more tokens they
/// are sampled: errors are the scatter of 16 tables, and a category that not all of them agree on
/// is unresolved. [ssi 45]
class PhaseDiagram {
 public:
  explicit PhaseDiagram(const Context& context, std::size_t tokens = 2, std::uint64_t seed = 1);
  [[nodiscard]] PhasePoint point(double a, double omega) const;
  [[nodiscard]] PhaseCurves curves(double a) const;
  /// R(e, m), with derivatives. [ssi 24]
  [[nodiscard]] Jet risk(double a, double omega, double e, double m) const;

  /// How it is stored. Users have no need of it.
  class Table;

  /// Roughly the core-seconds of building it and of one point, for estimates only.
  [[nodiscard]] static double table_seconds(std::size_t tokens);
  [[nodiscard]] static double point_seconds(std::size_t tokens);

 private:
  /// A number by the best table with what the others say of it: the difference to one coarser
  /// table, or the scatter of replicates and how far the polynomials are off.
  [[nodiscard]] Estimate judged(double best, const std::vector<double>& others) const;
  [[nodiscard]] std::optional<Estimate> judged(
      const std::optional<double>& best, const std::vector<std::optional<double>>& others) const;
  [[nodiscard]] bool sampled() const { return others_.size() > 1; }
  void place_minimum(PhasePoint& point) const;
  void place_valley(PhasePoint& point) const;

  std::shared_ptr<const Table> best_;
  std::vector<std::shared_ptr<const Table>> others_;
  double misfit_ = 0.0;
};

}  // namespace onset::ssi
