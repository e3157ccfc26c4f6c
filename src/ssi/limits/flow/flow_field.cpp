#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/limits/flow/gradient_moments.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

/// The power of the radius with which corrections at the rim fade inwards.
constexpr int rim_fade = 12;
/// Where a target or student has a kink, product rules are of second order, and the error of the
/// finer one is h^2/(H^2 - h^2) of their difference; H = 1.15 h.
constexpr double second_order = 3.1;

}  // namespace

class FlowField::Moments {
 public:
  Moments(const SequenceModel& model, double rate, std::uint64_t seed, const Context& context)
      : rate_(rate),
        positional_(model.positional),
        nodes_(model.positional),
        fewer_(model.positional, OverlapNodes::Density::fewer),
        tables_(gradient_moments(model, rate, nodes_, seed, context)) {
    require_moments();
    if (tables_.product_rules) {
      best_ = tables_.values[0];
    } else {
      best_.assign(tables_.values[0].size(), 0.0);
      for (const auto& table : tables_.values) {
        for (std::size_t i = 0; i < best_.size(); ++i) best_[i] += table[i];
      }
      for (double& x : best_) x /= static_cast<double>(tables_.values.size());
    }
    for (std::size_t r = 0; r < moment_rows; ++r) {
      for (const OverlapNodes::Node& node : fewer_.nodes()) {
        fewer_values_.push_back(interpolated(node.e, node.m, FlowField::best)[r]);
      }
    }
    if (has_series(model)) {
      landscape_ = population_risk(model, seed, context);
    } else if (tables_.product_rules) {
      for (std::size_t rule = 0; rule < 2; ++rule) miss_.push_back(missing_slopes(rule));
    }
  }

  [[nodiscard]] Motion at(double e, double m, std::size_t rule) const {
    auto x = interpolated(e, m, rule);
    if (landscape_) {
      const RiskSlopes risk = landscape_->slopes(e, m, series_of(rule));
      const double radial = m * risk.m + e * risk.e;
      x[mean_u] = risk.m - m * radial;
      x[mean_v] = risk.e - e * radial;
    } else if (!tables_.product_rules || rule != coarser_rule) {
      mend_rim(e, m, rule, x);
    }
    if (!miss_.empty()) {
      // The slopes at the start decide everything at large d, so they are integrated directly and
      // the interpolation is corrected there.
      const Slopes& miss = miss_[rule == FlowField::best ? 0 : rule];
      const double fade = std::pow(std::max(0.0, 1.0 - m * m - e * e), 2);
      x[mean_u] += fade * miss.m * m;
      x[mean_v] += fade * miss.e * e;
    }
    const double v = std::max(0.0, x[variance]);
    Motion motion;
    motion.variance = v;
    motion.drift_m = -x[mean_u] - 0.5 * rate_ * v * m;
    motion.drift_e = positional_ ? -x[mean_v] - 0.5 * rate_ * v * e : 0.0;
    motion.noise_mm = std::max(0.0, x[uu] - motion.drift_m * motion.drift_m);
    if (positional_) {
      const double q = 1.0 - m * m;
      const double rest = q > 0.0 ? std::max(0.0, q - e * e) / q : 0.0;
      motion.noise_em = x[uv] - motion.drift_m * motion.drift_e;
      motion.noise_ee = std::max(0.0, x[vv] - motion.drift_e * motion.drift_e) + rest * v;
    }
    return motion;
  }

  [[nodiscard]] std::vector<std::size_t> rules() const {
    std::vector<std::size_t> list(tables_.values.size());
    std::iota(list.begin(), list.end(), std::size_t{0});
    if (landscape_) {
      list.insert(list.end(), {FlowField::best, FlowField::coarse_series, FlowField::cut_series,
                               FlowField::fewer_nodes});
    }
    return list;
  }

  [[nodiscard]] Estimate reduce(std::vector<double> values) const {
    const std::size_t own = tables_.values.size();
    const std::vector<double> shared(values.begin() + static_cast<std::ptrdiff_t>(own),
                                     values.end());
    values.resize(own);
    Estimate x = tables_.product_rules
                     ? Estimate{values[0], second_order * std::abs(values[0] - values[1])}
                     : numerics::reduce(values);
    if (shared.empty()) return x;
    // The mean over replicates that stop at the rim is not where their mean leads to.
    x.error = std::hypot(x.error, x.value - shared[0]);
    for (const double other : shared) {
      x.error = std::hypot(x.error, second_order * (shared[0] - other));
    }
    return x;
  }
  [[nodiscard]] bool positional() const { return positional_; }
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] Estimate start() const {
    std::vector<double> v;
    for (const std::size_t rule : rules()) v.push_back(at(0.0, 0.0, rule).variance);
    return reduce(std::move(v));
  }
  [[nodiscard]] Estimate drift() const {
    if (landscape_) {
      const Estimate slope = landscape_->at(0.0, 0.0).slope_m;
      return {-slope.value, slope.error};
    }
    std::vector<double> by_rule;
    for (const std::size_t rule : rules()) by_rule.push_back(at(0.0, 0.0, rule).drift_m);
    return reduce(std::move(by_rule));
  }

 private:
  void require_moments() const {
    for (const auto& table : tables_.values) {
      for (const double x : table) {
        if (std::isfinite(x)) continue;
        throw Refused("the gradient has no finite moments by the rules at hand (ssi sgd runs it)");
      }
    }
  }

  static SeriesRule series_of(std::size_t rule) {
    if (rule == FlowField::coarse_series) return SeriesRule::coarse;
    return rule == FlowField::cut_series ? SeriesRule::cut : SeriesRule::fine;
  }

  using Row = std::array<double, moment_rows>;
  /// The coarser product rule leaves the rim as it is, so that the difference shows the correction
  /// too.
  static constexpr std::size_t coarser_rule = 1;

  [[nodiscard]] Row interpolated(double e, double m, std::size_t rule) const {
    const bool fewer = rule == FlowField::fewer_nodes;
    const auto w = (fewer ? fewer_ : nodes_).weights(e, m);
    const auto& values = fewer ? fewer_values_ : best_;
    const auto& table = rule < tables_.values.size() ? tables_.values[rule] : values;
    Row x{};
    for (std::size_t r = 0; r < moment_rows; ++r) {
      for (std::size_t i = 0; i < w.size(); ++i) x[r] += w[i] * table[r * w.size() + i];
    }
    return x;
  }

  /// On the rim the slope of the risk has no component across it. What interpolation leaves of one
  /// is removed, fading inwards, so that the disk is invariant.
  void mend_rim(double e, double m, std::size_t rule, Row& x) const {
    const double radius = std::hypot(e, m);
    if (radius == 0.0) return;
    const double along_e = e / radius;
    const double along_m = m / radius;
    const Row there = interpolated(along_e, along_m, rule);
    const double across = along_m * there[mean_u] + along_e * there[mean_v];
    const double fade = std::pow(radius, rim_fade) * across;
    x[mean_u] -= fade * along_m;
    x[mean_v] -= fade * along_e;
  }

  struct Slopes {
    double e;
    double m;
  };
  /// By how much the slopes of the interpolated means at the start miss the curvatures there.
  [[nodiscard]] Slopes missing_slopes(std::size_t rule) const {
    constexpr double step = 1e-4;
    const auto slope = [&](double e, double m, std::size_t row) {
      const auto plus = nodes_.weights(e, m);
      const auto minus = nodes_.weights(-e, -m);
      double rise = 0.0;
      for (std::size_t i = 0; i < plus.size(); ++i) {
        rise += (plus[i] - minus[i]) * tables_.values[rule][row * plus.size() + i];
      }
      return rise / (2.0 * step);
    };
    return {positional_ ? tables_.curvature_e[rule] - slope(step, 0.0, mean_v) : 0.0,
            tables_.curvature_m[rule] - slope(0.0, step, mean_u)};
  }

  double rate_;
  bool positional_;
  OverlapNodes nodes_;
  OverlapNodes fewer_;
  MomentTables tables_;
  std::vector<Slopes> miss_;
  std::vector<double> best_;
  std::vector<double> fewer_values_;
  std::unique_ptr<Landscape> landscape_;
};

FlowField::FlowField(const SequenceModel& model, double rate, std::uint64_t seed,
                     const Context& context) {
  if (model.student.vector_per_token) {
    throw Refused(
        "the flow of an untied student has one overlap per token; its norm follows the tied flow "
        "L times slower where the target treats tokens alike (see ssi gain)");
  }
  if (model.student.jumps()) {
    throw Refused(
        "the student jumps: SGD follows its derivatives, which miss the jumps, and not the slope "
        "of the risk (ssi sgd runs it as it is)");
  }
  require_square_integrable(model);
  Context quiet = context;
  quiet.progress = nullptr;
  moments_ = std::make_unique<const Moments>(model, rate, seed, quiet);
}

FlowField::~FlowField() = default;

double FlowField::seconds(const SequenceModel& model) {
  constexpr double of_series = 0.5;
  return gradient_moments_seconds(model, OverlapNodes(model.positional)) +
         (has_series(model) && !model.student.activation ? of_series : 0.0);
}

Motion FlowField::at(double e, double m, std::size_t rule) const {
  return moments_->at(e, m, rule);
}

std::vector<std::size_t> FlowField::rules() const {
  return moments_->rules();
}

Estimate FlowField::reduce(std::vector<double> values) const {
  return moments_->reduce(std::move(values));
}

bool FlowField::positional() const {
  return moments_->positional();
}

double FlowField::rate() const {
  return moments_->rate();
}

Estimate FlowField::variance_at_start() const {
  return moments_->start();
}

Estimate FlowField::drift_at_start() const {
  return moments_->drift();
}

}  // namespace onset::ssi
