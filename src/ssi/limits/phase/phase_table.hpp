#pragma once

#include <memory>
#include <vector>

#include "ssi/limits/phase/phase.hpp"
#include "ssi/limits/phase/universal.hpp"

namespace onset::ssi {

/// A local minimum in the first quadrant.
struct QuadrantMinimum {
  double e;
  double m;
  double risk;
};

/// The universal functions of one accuracy, and what follows from them for one (a, omega).
class PhaseDiagram::Table {
 public:
  explicit Table(std::shared_ptr<const Universal> universal);

  [[nodiscard]] Jet risk(double a, double omega, double e, double m) const;
  /// The minima sorted by risk, for omega < 1.
  [[nodiscard]] std::vector<QuadrantMinimum> minima(double a, double omega) const;
  /// d^2R/dtheta^2 on the rim at (1, 0) and at (0, 1): linear in omega.
  [[nodiscard]] double bend_positional(double a, double omega) const;
  [[nodiscard]] double bend_semantic(double a, double omega) const;
  /// R_ee - R_mm at the start: negative where the start is positional. Linear in omega.
  [[nodiscard]] double start_balance(double a, double omega) const;
  /// The lowest point of the valley at omega = 1, where nothing depends on m.
  [[nodiscard]] QuadrantMinimum valley(double a) const;

 private:
  /// J, F and P of [ssi 24, 45] with derivatives; the risk is linear in them.
  struct Parts {
    Jet j;
    Jet f;
    Jet p;  ///< of tokens with +P
    Jet o;  ///< of those with -P, where they are fewer; nothing for even L
  };
  struct Mixture;  ///< the coefficients of that combination
  [[nodiscard]] Parts parts(double e, double m) const;
  [[nodiscard]] static Jet combine(const Mixture& mix, const Parts& parts);
  [[nodiscard]] double rim_slope(const Mixture& mix, double theta) const;
  void add_rim_minima(const Mixture& mix, std::vector<QuadrantMinimum>& found) const;
  void polish(const Mixture& mix, double e, double m, std::vector<QuadrantMinimum>& found) const;
  void add_inner_minima(const Mixture& mix, std::vector<QuadrantMinimum>& found) const;

  [[nodiscard]] Mixture mixture(double a, double omega) const;

  std::shared_ptr<const Universal> universal_;
  Parts start_;             ///< at (0, 0)
  Parts positional_;        ///< at (1, 0)
  Parts semantic_;          ///< at (0, 1)
  std::vector<Parts> rim_;  ///< inner points of the quarter circle, from (1, 0) to (0, 1)
  std::vector<Parts> inner_;
};

}  // namespace onset::ssi
