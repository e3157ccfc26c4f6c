#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"
#include "onset/ssi/limits/landscape.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// Drift and noise of the overlaps under online SGD at learning rate eta, in time t = eta n / d.
/// [ssi 17-19]
struct Motion {
  double drift_e = 0.0;
  double drift_m = 0.0;
  double noise_ee = 0.0;  ///< Sigma: dX = drift dt + sqrt(eta/d) Sigma^{1/2} dB
  double noise_em = 0.0;
  double noise_mm = 0.0;
  double variance = 0.0;  ///< V = E|delta|^2, whose pull -eta V/2 is part of the drift
};

/// The drift and noise at every point of the disk (of the segment e = 0 without a positional
/// encoding).
///
/// Moments of the gradient are integrated at polar Chebyshev nodes and interpolated: up to two
/// tokens by product rules, else by scrambled Sobol points with both signs of all fields; for
/// squared losses the gradient of the risk itself comes from its Hermite series. Tied students have
/// one overlap; untied students, with one per token, have no such field.
class FlowField {
 public:
  FlowField(const SequenceModel& model, double rate, std::uint64_t seed, const Context& context);
  ~FlowField();
  /// Roughly the core-seconds that the constructor takes, for estimates only.
  [[nodiscard]] static double seconds(const SequenceModel& model);

  static constexpr std::size_t best = static_cast<std::size_t>(-1);
  /// The best moments, with the slope of the risk from a coarser series or from one that ends
  /// early.
  static constexpr std::size_t coarse_series = static_cast<std::size_t>(-2);
  static constexpr std::size_t cut_series = static_cast<std::size_t>(-3);
  /// The best moments, interpolated from fewer nodes.
  static constexpr std::size_t fewer_nodes = static_cast<std::size_t>(-4);
  /// Drift and noise at a point, by the best rule or by a given one.
  [[nodiscard]] Motion at(double e, double m, std::size_t rule = best) const;
  /// The rules whose differences give errors: two product rules, or replicates, and then, where the
  /// slope of the risk is a series that all of these share, `best`,
  /// `coarse_series`, `cut_series` and `fewer_nodes`.
  [[nodiscard]] std::vector<std::size_t> rules() const;
  /// Reduces the values under all rules, in their order, to one number: the value of the finer of
  /// two product rules, with a multiple of their difference that is a bound at kinks too, or the
  /// mean and standard error of replicates; what differs from `best` adds to the error.
  [[nodiscard]] Estimate reduce(std::vector<double> values) const;
  [[nodiscard]] bool positional() const;
  [[nodiscard]] double rate() const;
  /// V(0, 0) = E|delta|^2 at the start.
  [[nodiscard]] Estimate variance_at_start() const;
  /// The drift of m at the start, -R_m(0, 0): not 0 where the first visible degree is 1.
  [[nodiscard]] Estimate drift_at_start() const;

 private:
  class Moments;
  std::unique_ptr<const Moments> moments_;
};

struct FlowOptions {
  double start_e = 0.0;
  double start_m = 0.0;
  std::vector<double> times;
  double level = 0.5;  ///< the value of max(|e|, |m|) that defines the escape time
};

/// The overlaps at one time.
struct FlowRow {
  double time = 0.0;
  Estimate e = {};
  Estimate m = {};
};

struct FlowPath {
  std::vector<FlowRow> rows;
  std::optional<Estimate> escape;  ///< the first time with max(|e|, |m|) >= level, if all reach it
  /// Of how many integrations, one per rule, how many reach the level.
  std::size_t integrations = 0;
  std::size_t escaped = 0;
  Status status;
};

/// Integrates the ODE once with every rule of the field; the differences give the error.
[[nodiscard]] FlowPath integrate_flow(const FlowField& field, const FlowOptions& options,
                                      const Context& context);

/// Growth rates of small overlaps: -R_mm - eta V/2 and -R_ee - eta V/2 at the start. [ssi 20]
struct GrowthRates {
  Estimate m;
  Estimate e;
  Estimate lambda_m;  ///< -R_mm alone
};
[[nodiscard]] GrowthRates growth_rates(const FlowField& field);

/// What becomes of m that is as small as one likes, from the first degree that the student sees.
/// [ssi 20]
enum class SmallGrowth {
  at_every_rate,  ///< degree 1: the drift at the start is not 0
  up_to_a_rate,   ///< degree 2 with -R_mm > 0
  against_slope,  ///< degree 2 with -R_mm < 0: it shrinks at every rate
  not_linear,     ///< degree 3 and more: it shrinks at every rate, and only larger m may grow
  open            ///< the errors do not tell
};

/// The learning rate above which small m no longer grow: 2 lambda_m/V, 0 where they shrink at every
/// rate, and no value where they grow at every rate or where the errors leave it open. [ssi 20]
struct RateLimit {
  SmallGrowth growth = SmallGrowth::open;
  std::optional<Estimate> rate = {};
};
[[nodiscard]] RateLimit max_rate(const FlowField& field);

}  // namespace onset::ssi
