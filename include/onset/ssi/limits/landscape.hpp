#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// A function of (e, m) with its first and second derivatives.
struct Jet {
  double value = 0.0;
  double e = 0.0;
  double m = 0.0;
  double ee = 0.0;
  double em = 0.0;
  double mm = 0.0;
};

/// The risk at a point and its slopes; a slope is NaN where there is none: at the cone that the
/// unsquared loss has where the fit is perfect.
struct RiskPoint {
  Estimate risk;
  Estimate slope_e;
  Estimate slope_m;
};

/// Ways to compute a Hermite series: the finest one, one with coarser integrals, which shows the
/// error of coefficients, and one that ends early, which shows what is left out.
enum class SeriesRule { fine, coarse, cut };

/// The slopes of the risk.
struct RiskSlopes {
  double e = 0.0;
  double m = 0.0;
};

/// The population risk R(e, m) of a model on the closed unit disk. [ssi 6]
class Landscape {
 public:
  virtual ~Landscape() = default;
  [[nodiscard]] virtual RiskPoint at(double e, double m) const = 0;
  /// Whether the value and its derivatives are exact to quadrature.
  [[nodiscard]] virtual bool smooth() const { return false; }
  [[nodiscard]] virtual Jet jet(double e, double m) const;
  /// The slopes by one of these rules, for those who follow them along a path: three times the
  /// difference of a rule from the finest one bounds the error that it shows. Where both functions
  /// have kinks, series are continued beyond their last degree. [ssi 46]
  [[nodiscard]] virtual RiskSlopes slopes(double e, double m, SeriesRule rule) const;
};

/// Whether the risk of a model is a Hermite series: squared losses of up to three tokens whose
/// encodings lie across the teacher, and students of one activation for any number.
[[nodiscard]] bool has_series(const SequenceModel& model);

/// Makes the landscape of a model. Squared losses of up to three tokens, and tied students of any
/// number, use Hermite series with errors from two rules; everything else uses quasi-Monte Carlo at
/// every point, with errors from replicates. Throws Refused for an untied student, which has one
/// overlap per token.
[[nodiscard]] std::unique_ptr<Landscape> population_risk(const SequenceModel& model,
                                                         std::uint64_t seed,
                                                         const Context& context);

/// A smooth landscape through a sampled one at some nodes of the disk, so that minima can be looked
/// for; the sampled one must outlive it. It is for squared losses: the unsquared norm has a cone
/// where the fit is perfect.
[[nodiscard]] std::unique_ptr<Landscape> interpolated_risk(const Landscape& sampled,
                                                           bool positional, const Context& context);
/// How many places that looks at, for estimates of cost.
[[nodiscard]] std::size_t interpolation_nodes(bool positional);

struct Minimum {
  Estimate e;  ///< its error is that of the slope over the curvature of the risk
  Estimate m;
  Estimate risk;
  std::string type;  ///< semantic, positional, mixed or uninformed
};

/// The type of a point: uninformed near the origin, semantic (e = 0), positional (m = 0) or mixed.
[[nodiscard]] std::string type_of(double e, double m);

/// The isolated minima, lowest first, and whether there are valleys: places from which the risk
/// rises along some directions and stays the same, within its error, along others.
struct LocalMinima {
  std::vector<Minimum> list;
  bool valley = false;
};

/// The local minima of a smooth landscape on the closed disk (on the segment e = 0 without a
/// positional encoding).
[[nodiscard]] LocalMinima local_minima(const Landscape& landscape, bool positional,
                                       const Context& context);

}  // namespace onset::ssi
