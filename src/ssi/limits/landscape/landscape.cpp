#include "onset/ssi/limits/landscape.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/limits/landscape/cross_series.hpp"
#include "ssi/limits/landscape/power_tail.hpp"
#include "ssi/limits/landscape/sampled_landscape.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t grid_tokens = 3;
/// At a student's kink rules are of second order: with steps h < H the error of the finer one is
/// h^2/(H^2 - h^2) of their difference, up to 2.8 for the steps below.
constexpr double safety = 3.0;
/// The relative rounding error of the terms that the risk is a sum of.
constexpr double term_rounding = 1e-15;

double scale_of(SampleLoss loss) {
  return loss == SampleLoss::squared ? 2.0 : 1.0;
}

/// Whether coefficients fall so slowly that slopes near |m| = 1 miss what a series leaves out:
/// where target and student both have kinks.
bool both_have_kinks(const SequenceModel& model) {
  const auto rough = [](const TokenPart& part) { return part.switches.outputs > 0; };
  const auto target = token_parts(*model.target);
  if (std::none_of(target.begin(), target.end(), rough)) return false;
  if (model.student.activation) return rough(activation_part(*model.student.activation));
  const auto student = token_parts(*model.student.link);
  return std::any_of(student.begin(), student.end(), rough);
}

/// R = E|g|^2/2 + F/2 - X, scaled by the loss. [ssi 7]
class SeriesLandscape final : public Landscape {
 public:
  SeriesLandscape(CrossSeries fine, CrossSeries coarse, const SequenceModel& model)
      : fine_(std::move(fine)),
        coarse_(std::move(coarse)),
        scale_(scale_of(model.loss)),
        cut_(fine_.degree()) {
    if (!both_have_kinks(model)) return;
    // Without the tail the slope at m = 1 is off by the degree to the power -1/2, so that half of
    // the degree shows an error of 1/(sqrt(2) - 1) = 2.4 differences; with it, by far less.
    cut_ = fine_.degree() / 2;
    // The coefficients of three tokens come from a grid, which blurs kinks.
    const bool exact = model.student.activation || model.tokens() < grid_tokens;
    if (fine_.positional() || !exact) return;
    fine_tail_ = PowerTail(fine_.coefficients());
    coarse_tail_ = PowerTail(coarse_.coefficients());
    cut_tail_ = PowerTail(fine_.coefficients().first(cut_ + 1));
  }

  [[nodiscard]] RiskSlopes slopes(double e, double m, SeriesRule rule) const override {
    switch (rule) {
      case SeriesRule::fine: break;
      case SeriesRule::coarse: return slopes_of(coarse_, coarse_.degree(), coarse_tail_, e, m);
      case SeriesRule::cut: return slopes_of(fine_, cut_, cut_tail_, e, m);
    }
    return slopes_of(fine_, fine_.degree(), fine_tail_, e, m);
  }

  [[nodiscard]] bool smooth() const override { return true; }
  [[nodiscard]] Jet jet(double e, double m) const override { return risk(fine_, e, m); }

  [[nodiscard]] RiskPoint at(double e, double m) const override {
    const Jet x = risk(fine_, e, m);
    const Jet y = risk(coarse_, e, m);
    const double order = static_cast<double>(fine_.degree()) + 1.0;
    const double tail = scale_ * fine_.tail() * std::pow(std::abs(m), order);
    const double floor = term_rounding * scale_ * (fine_.target_square() + fine_.square(e).value);
    RiskPoint point{above(floor, x.value, safety * std::abs(x.value - y.value) + tail),
                    above(floor, x.e, safety * std::abs(x.e - y.e) + tail),
                    above(floor, x.m, safety * std::abs(x.m - y.m) + order * tail)};
    if (!fine_.positional()) point.slope_e = {};
    return point;
  }

 private:
  [[nodiscard]] RiskSlopes slopes_of(const CrossSeries& series, std::size_t last,
                                     const PowerTail& tail, double e, double m) const {
    const Jet x = series.cross(e, m, last);
    return {scale_ * (0.5 * series.square(e).e - x.e), -scale_ * (x.m + tail.slope(m))};
  }

  /// A value below rounding is 0, and no error is below rounding.
  [[nodiscard]] static Estimate above(double floor, double value, double error) {
    return {std::abs(value) <= floor ? 0.0 : value, std::hypot(error, floor)};
  }

  [[nodiscard]] Jet risk(const CrossSeries& series, double e, double m) const {
    const Jet x = series.cross(e, m);
    const Jet f = series.square(e);
    Jet r;
    r.value = scale_ * (0.5 * series.target_square() + 0.5 * f.value - x.value);
    r.e = scale_ * (0.5 * f.e - x.e);
    r.m = -scale_ * x.m;
    r.ee = scale_ * (0.5 * f.ee - x.ee);
    r.em = -scale_ * x.em;
    r.mm = -scale_ * x.mm;
    return r;
  }
  CrossSeries fine_;
  CrossSeries coarse_;
  double scale_;
  std::size_t cut_;  ///< where the series ends that shows what is left out
  PowerTail fine_tail_;
  PowerTail coarse_tail_;
  PowerTail cut_tail_;
};

/// Chooses rules, degrees and Chebyshev points that give the softmax of two tokens to 1e-9; grids
/// of three tokens are coarser.
std::unique_ptr<Landscape> by_series(const SequenceModel& model, const Context& context) {
  const bool three = model.tokens() > 2;
  const auto build = [&](const SeriesAccuracy& accuracy) {
    return cross_series(*model.target, *model.student.link, model.shifts(), model.positional,
                        accuracy, context);
  };
  CrossSeries fine = build(three ? SeriesAccuracy{0.3, 8.0, 30, 24, true} : SeriesAccuracy{});
  CrossSeries coarse = build(three ? SeriesAccuracy{0.35, 7.5, 24, 20, false}
                                   : SeriesAccuracy{0.2, 7.0, 110, 36, false});
  return std::make_unique<SeriesLandscape>(std::move(fine), std::move(coarse), model);
}

}  // namespace

Jet Landscape::jet(double, double) const {
  throw InvalidArgument("landscape", "has no exact derivatives");
}

RiskSlopes Landscape::slopes(double, double, SeriesRule) const {
  throw InvalidArgument("landscape", "has no series");
}

bool has_series(const SequenceModel& model) {
  return model.loss != SampleLoss::frobenius && !model.encodings_see_teacher() &&
         (model.tokens() <= grid_tokens || model.student.activation);
}

std::unique_ptr<Landscape> population_risk(const SequenceModel& model, std::uint64_t seed,
                                           const Context& context) {
  if (model.student.vector_per_token) {
    throw Refused(
        "an untied student has one overlap per token, so its risk is no function of one e and m; "
        "its tied twin has one");
  }
  require_square_integrable(model);
  if (!has_series(model)) return sampled_landscape(model, seed, context);
  if (!model.student.activation) return by_series(model, context);
  return std::make_unique<SeriesLandscape>(activation_series(model, 64, true, context),
                                           activation_series(model, 48, false, context), model);
}

std::string type_of(double e, double m) {
  constexpr double small = 1e-3;
  if (std::hypot(e, m) < small) return "uninformed";
  if (std::abs(e) < small) return "semantic";
  if (std::abs(m) < small) return "positional";
  return "mixed";
}

}  // namespace onset::ssi
