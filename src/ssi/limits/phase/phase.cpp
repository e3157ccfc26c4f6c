#include "ssi/limits/phase/phase.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "onset/core/error.hpp"
#include "ssi/limits/phase/phase_table.hpp"

namespace onset::ssi {
namespace {

CrossSeries universal(const SeriesAccuracy& accuracy, const Context& context) {
  const auto p = attention_link({2, Reduction::projection, {}, {}});
  return cross_series(*p, *p, {1.0, -1.0}, true, accuracy, context);
}

/// The root in (0, 1) of a function that is linear in omega.
std::optional<double> linear_root(const std::function<double(double)>& f) {
  const double at_0 = f(0.0);
  const double slope = f(1.0) - at_0;
  const double root = -at_0 / slope;
  if (!(root > 0.0 && root < 1.0)) return std::nullopt;
  return root;
}

bool is_positional(const QuadrantMinimum& x) {
  return x.e > x.m;
}

/// Bisection on the label of the global minimiser; nothing when it is the same at both ends.
std::optional<double> global_switch(const PhaseDiagram::Table& table, double a) {
  double low = 0.0;
  double high = 1.0 - 1e-9;
  const auto positional = [&](double omega) {
    const auto minima = table.minima(a, omega);
    return !minima.empty() && is_positional(minima.front());
  };
  if (positional(low) || !positional(high)) return std::nullopt;
  while (high - low > 1e-13) {
    const double middle = 0.5 * (low + high);
    (positional(middle) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

std::optional<Estimate> compared(const std::optional<double>& fine,
                                 const std::optional<double>& coarse) {
  if (!fine) return std::nullopt;
  // A curve that only one table has lies within its error of the edge.
  return Estimate{*fine, coarse ? std::abs(*fine - *coarse) : 1e-6};
}

}  // namespace

PhaseDiagram::PhaseDiagram(const Context& context) {
  context.report(0.0, "the universal table");
  fine_ = std::make_shared<const Table>(universal({}, context));
  coarse_ = std::make_shared<const Table>(universal({0.2, 7.0, 110, 36, false}, context));
}

Jet PhaseDiagram::risk(double a, double omega, double e, double m) const {
  return fine_->risk(a, omega, e, m);
}

namespace {

std::string region_of(const PhasePoint& point) {
  if (!point.minima || point.global_type == "mixed") return point.global_type;
  return fmt::format("{} {}, {} start", point.global_type, *point.minima == 1 ? "alone" : "of two",
                     point.start_type);
}

}  // namespace

PhasePoint PhaseDiagram::point(double a, double omega) const {
  PhasePoint point;
  point.a = a;
  point.omega = omega;
  const double balance = fine_->start_balance(a, omega);
  point.start_type = balance < 0.0 ? "positional" : "semantic";
  if (omega >= 1.0) {
    const QuadrantMinimum x = fine_->valley(a);
    const QuadrantMinimum y = coarse_->valley(a);
    if (balance >= 0.0) point.start_type = "none";
    point.global_type = "degenerate";
    point.e_min = Estimate{x.e, std::abs(x.e - y.e)};
    point.risk_min = {x.risk, std::abs(x.risk - y.risk)};
    point.region = region_of(point);
    return point;
  }
  const auto minima = fine_->minima(a, omega);
  if (minima.empty()) throw Refused("no minimum was found on the disk");
  const QuadrantMinimum& x = minima.front();
  const bool mixed = x.e > 0.0 && x.m > 0.0;
  point.minima = static_cast<int>(minima.size());
  point.global_type = mixed ? "mixed" : (is_positional(x) ? "positional" : "semantic");
  const double other = coarse_->risk(a, omega, x.e, x.m).value;
  point.risk_min = {x.risk, std::abs(x.risk - other)};
  point.e_min = Estimate{x.e, 0.0};
  point.m_min = Estimate{x.m, 0.0};
  if (mixed) {
    const auto again = coarse_->minima(a, omega);
    const double de = again.empty() ? 1.0 : std::abs(again.front().e - x.e);
    const double dm = again.empty() ? 1.0 : std::abs(again.front().m - x.m);
    point.e_min->error = de;
    point.m_min->error = dm;
  }
  point.region = region_of(point);
  return point;
}

PhaseCurves PhaseDiagram::curves(double a) const {
  PhaseCurves curves;
  curves.a = a;
  const auto both = [&](double (Table::*f)(double, double) const) {
    return compared(linear_root([&](double omega) { return (fine_.get()->*f)(a, omega); }),
                    linear_root([&](double omega) { return (coarse_.get()->*f)(a, omega); }));
  };
  curves.positional_appears = both(&Table::bend_positional);
  curves.semantic_ends = both(&Table::bend_semantic);
  curves.start_switches = both(&Table::start_balance);
  curves.global_switches = compared(global_switch(*fine_, a), global_switch(*coarse_, a));
  if (curves.global_switches) {
    const auto minima = fine_->minima(a, curves.global_switches->value);
    curves.continuous = !minima.empty() && minima.front().e > 0.0 && minima.front().m > 0.0;
  }
  return curves;
}

}  // namespace onset::ssi
