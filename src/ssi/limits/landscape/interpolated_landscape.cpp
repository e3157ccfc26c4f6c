#include <cmath>

#include "onset/ssi/limits/landscape.hpp"
#include "ssi/limits/flow/overlap_nodes.hpp"

namespace onset::ssi {
namespace {

/// The step of differences that second derivatives are made of.
constexpr double difference_step = 1e-4;

/// A polynomial through the risk and its slopes at nodes of the disk, for what needs derivatives
/// everywhere. The points of a sampled risk are the same at every place, so that it is as smooth as
/// the risk itself.
class InterpolatedLandscape final : public Landscape {
 public:
  InterpolatedLandscape(const Landscape& sampled, bool positional, const Context& context)
      : sampled_(sampled), positional_(positional), nodes_(positional) {
    for (const OverlapNodes::Node& node : nodes_.nodes()) {
      context.check();
      const RiskPoint at = sampled.at(node.e, node.m);
      values_.push_back({at.risk.value, at.slope_e.value, at.slope_m.value});
    }
  }

  [[nodiscard]] bool smooth() const override { return true; }

  /// What was sampled there, with slopes that know how far the polynomial is off.
  [[nodiscard]] RiskPoint at(double e, double m) const override {
    RiskPoint point = sampled_.at(e, m);
    const Values here = interpolated(e, m);
    point.slope_e.error = std::hypot(point.slope_e.error, point.slope_e.value - here.slope_e);
    point.slope_m.error = std::hypot(point.slope_m.error, point.slope_m.value - here.slope_m);
    return point;
  }

  [[nodiscard]] Jet jet(double e, double m) const override {
    const Values here = interpolated(e, m);
    Jet jet;
    jet.value = here.risk;
    jet.e = here.slope_e;
    jet.m = here.slope_m;
    const Values up = interpolated(e, m + difference_step);
    const Values down = interpolated(e, m - difference_step);
    jet.mm = (up.slope_m - down.slope_m) / (2.0 * difference_step);
    if (!positional_) return jet;
    jet.em = (up.slope_e - down.slope_e) / (2.0 * difference_step);
    jet.ee = (interpolated(e + difference_step, m).slope_e -
              interpolated(e - difference_step, m).slope_e) /
             (2.0 * difference_step);
    return jet;
  }

 private:
  struct Values {
    double risk = 0.0;
    double slope_e = 0.0;
    double slope_m = 0.0;
  };

  [[nodiscard]] Values interpolated(double e, double m) const {
    const std::vector<double> weights = nodes_.weights(e, m);
    Values sum;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum.risk += weights[i] * values_[i].risk;
      sum.slope_e += weights[i] * values_[i].slope_e;
      sum.slope_m += weights[i] * values_[i].slope_m;
    }
    return sum;
  }

  const Landscape& sampled_;
  bool positional_;
  OverlapNodes nodes_;
  std::vector<Values> values_;
};

}  // namespace

std::unique_ptr<Landscape> interpolated_risk(const Landscape& sampled, bool positional,
                                             const Context& context) {
  return std::make_unique<InterpolatedLandscape>(sampled, positional, context);
}

std::size_t interpolation_nodes(bool positional) {
  return OverlapNodes(positional).nodes().size();
}

}  // namespace onset::ssi
