#pragma once

#include <memory>
#include <optional>
#include <string>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "ssi/limits/landscape/cross_series.hpp"

namespace onset::ssi {

/// The phases of the positional-semantic model at one (a, omega). [ssi 22-28]
struct PhasePoint {
  double a = 0.0;
  double omega = 0.0;
  std::string global_type;    ///< semantic, positional, mixed; degenerate at omega = 1
  std::string start_type;     ///< the steepest direction at the start: semantic, positional or none
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

/// All of it from one universal table of E[p(z*) p(z)] and E[p^2], p = F_11, which do not depend on
/// (a, omega), for the loss |y - f|^2 / 2. Building it takes half a second, a point some
/// microseconds. Errors are the difference to a coarser table.
class PhaseDiagram {
 public:
  explicit PhaseDiagram(const Context& context);
  [[nodiscard]] PhasePoint point(double a, double omega) const;
  [[nodiscard]] PhaseCurves curves(double a) const;
  /// R(e, m), with derivatives. [ssi 24]
  [[nodiscard]] Jet risk(double a, double omega, double e, double m) const;

  /// How it is stored. Users have no need of it.
  class Table;

 private:
  std::shared_ptr<const Table> fine_;
  std::shared_ptr<const Table> coarse_;
};

}  // namespace onset::ssi
