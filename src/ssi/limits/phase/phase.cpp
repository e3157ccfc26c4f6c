#include "ssi/limits/phase/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "ssi/limits/phase/phase_table.hpp"

namespace onset::ssi {
namespace {

constexpr const char* unresolved = "unresolved";
/// A curve that only one of two tables has lies within this of the edge.
constexpr double lost_root = 1e-6;

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

bool is_mixed(const QuadrantMinimum& x) {
  return x.e > 0.0 && x.m > 0.0;
}

std::string type_of(const QuadrantMinimum& x) {
  return is_mixed(x) ? "mixed" : (is_positional(x) ? "positional" : "semantic");
}

std::string start_of(double balance) {
  return balance < 0.0 ? "positional" : "semantic";
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

std::string region_of(const PhasePoint& point) {
  if (point.global_type == unresolved || point.start_type == unresolved) return unresolved;
  if (point.global_type == "mixed" || point.global_type == "degenerate") return point.global_type;
  if (!point.minima) return unresolved;
  return fmt::format("{} {}, {} start", point.global_type, *point.minima == 1 ? "alone" : "of two",
                     point.start_type);
}

}  // namespace

PhaseDiagram::PhaseDiagram(const Context& context, std::size_t tokens, std::uint64_t seed) {
  context.report(0.0, "the universal table");
  if (tokens == 2) {
    best_ = std::make_shared<const Table>(two_token_universal(true, context));
    others_.push_back(std::make_shared<const Table>(two_token_universal(false, context)));
    return;
  }
  SampledUniversal sampled = sampled_universal(tokens, seed, context);
  best_ = std::make_shared<const Table>(std::move(sampled.mean));
  for (auto& one : sampled.replicates) {
    others_.push_back(std::make_shared<const Table>(std::move(one)));
  }
  misfit_ = sampled.misfit;
}

double PhaseDiagram::table_seconds(std::size_t tokens) {
  return tokens == 2 ? 0.3 : 0.1 + sampled_universal_seconds(tokens);
}

double PhaseDiagram::point_seconds(std::size_t tokens) {
  constexpr double of_one_table = 1.5e-5;
  return of_one_table * (tokens == 2 ? 1.0 : 1.0 + numerics::default_replicates);
}

Estimate PhaseDiagram::judged(double best, const std::vector<double>& others) const {
  if (!sampled()) return {best, std::abs(best - others.front())};
  return {best, numerics::reduce(others, misfit_).error};
}

std::optional<Estimate> PhaseDiagram::judged(
    const std::optional<double>& best, const std::vector<std::optional<double>>& others) const {
  if (!best) return std::nullopt;
  std::vector<double> found;
  for (const auto& other : others) {
    if (other) found.push_back(*other);
  }
  if (found.size() == others.size()) return judged(*best, found);
  return Estimate{*best, sampled() ? std::min(*best, 1.0 - *best) : lost_root};
}

Jet PhaseDiagram::risk(double a, double omega, double e, double m) const {
  return best_->risk(a, omega, e, m);
}

/// At omega = 1 nothing depends on m.
void PhaseDiagram::place_valley(PhasePoint& point) const {
  const QuadrantMinimum x = best_->valley(point.a);
  std::vector<double> e;
  std::vector<double> risk;
  for (const auto& table : others_) {
    const QuadrantMinimum y = table->valley(point.a);
    e.push_back(y.e);
    risk.push_back(y.risk);
  }
  if (point.start_type == "semantic") point.start_type = "none";
  point.global_type = "degenerate";
  point.e_min = judged(x.e, e);
  point.risk_min = judged(x.risk, risk);
}

void PhaseDiagram::place_minimum(PhasePoint& point) const {
  const auto minima = best_->minima(point.a, point.omega);
  if (minima.empty()) throw Refused("no minimum was found on the disk");
  const QuadrantMinimum& x = minima.front();
  point.minima = static_cast<int>(minima.size());
  point.global_type = type_of(x);
  point.e_min = Estimate{x.e, 0.0};
  point.m_min = Estimate{x.m, 0.0};
  std::vector<double> risk;
  std::vector<double> e;
  std::vector<double> m;
  for (const auto& table : others_) {
    risk.push_back(table->risk(point.a, point.omega, x.e, x.m).value);
    if (!sampled() && !is_mixed(x)) continue;
    const auto again = table->minima(point.a, point.omega);
    e.push_back(again.empty() ? x.e + 1.0 : again.front().e);
    m.push_back(again.empty() ? x.m + 1.0 : again.front().m);
    if (!sampled()) continue;
    if (again.empty() || type_of(again.front()) != type_of(x)) point.global_type = unresolved;
    if (again.size() != minima.size()) point.minima = std::nullopt;
  }
  point.risk_min = judged(x.risk, risk);
  if (e.empty()) return;
  // Polynomials that are a little off move a minimum only where it can move.
  const auto placed = [this](double best, const std::vector<double>& others) {
    const bool fixed =
        std::all_of(others.begin(), others.end(), [best](double other) { return other == best; });
    return fixed ? Estimate{best, 0.0} : judged(best, others);
  };
  point.e_min = placed(x.e, e);
  point.m_min = placed(x.m, m);
}

PhasePoint PhaseDiagram::point(double a, double omega) const {
  PhasePoint point;
  point.a = a;
  point.omega = omega;
  point.start_type = start_of(best_->start_balance(a, omega));
  const bool agreed = std::all_of(others_.begin(), others_.end(), [&](const auto& table) {
    return start_of(table->start_balance(a, omega)) == point.start_type;
  });
  if (sampled() && !agreed) point.start_type = unresolved;
  if (omega >= 1.0) {
    place_valley(point);
  } else {
    place_minimum(point);
  }
  point.region = region_of(point);
  return point;
}

PhaseCurves PhaseDiagram::curves(double a) const {
  PhaseCurves curves;
  curves.a = a;
  const auto by_all = [&](const auto& root_of) {
    std::vector<std::optional<double>> others;
    for (const auto& table : others_) others.push_back(root_of(*table));
    return judged(root_of(*best_), others);
  };
  const auto linear = [&](double (Table::*f)(double, double) const) {
    return by_all([&](const Table& table) {
      return linear_root([&](double omega) { return (table.*f)(a, omega); });
    });
  };
  curves.positional_appears = linear(&Table::bend_positional);
  curves.semantic_ends = linear(&Table::bend_semantic);
  curves.start_switches = linear(&Table::start_balance);
  curves.global_switches = by_all([&](const Table& table) { return global_switch(table, a); });
  if (curves.global_switches) {
    const auto minima = best_->minima(a, curves.global_switches->value);
    curves.continuous = !minima.empty() && is_mixed(minima.front());
  }
  return curves;
}

}  // namespace onset::ssi
