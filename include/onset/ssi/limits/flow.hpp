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

/// The field of these over the disk (over the segment e = 0 without a positional encoding).
///
/// Moments of the gradient are integrated at polar Chebyshev nodes and interpolated: up to two
/// tokens by product rules, else by scrambled Sobol points with both signs of all fields; for
/// squared losses the gradient of the risk itself is exact. Tied students have one overlap, untied
/// ones none of this kind.
class FlowField {
 public:
  FlowField(const SequenceModel& model, double rate, std::uint64_t seed, const Context& context);
  ~FlowField();
  /// Roughly the seconds of a core that the constructor takes: for estimates only.
  [[nodiscard]] static double seconds(const SequenceModel& model);

  static constexpr std::size_t best = static_cast<std::size_t>(-1);
  /// Drift and noise at a point, by the best rule there is or by one of them: two product rules, or
  /// replicates.
  [[nodiscard]] Motion at(double e, double m, std::size_t rule = best) const;
  [[nodiscard]] std::size_t rules() const;
  [[nodiscard]] bool product_rules() const;
  [[nodiscard]] bool positional() const;
  [[nodiscard]] double rate() const;
  /// V(0, 0) = E|delta|^2 at the start.
  [[nodiscard]] Estimate variance_at_start() const;

 private:
  class Moments;
  std::unique_ptr<const Moments> moments_;
};

/// One number from its value under every rule: the finer of two and a multiple of their difference
/// that holds at kinks too, or mean and standard error of replicates.
[[nodiscard]] Estimate reduce_rules(const std::vector<double>& values, bool product_rules);

struct FlowOptions {
  double start_e = 0.0;
  double start_m = 0.0;
  std::vector<double> times;
  double level = 0.5;  ///< of |(e, m)|, for the escape time
};

/// The overlaps at one time.
struct FlowRow {
  double time = 0.0;
  Estimate e = {};
  Estimate m = {};
};

struct FlowPath {
  std::vector<FlowRow> rows;
  std::optional<Estimate> escape;  ///< first time with |(e, m)| >= level
  Status status;
};

/// The ODE, once per rule of the field: how they differ is the error.
[[nodiscard]] FlowPath integrate_flow(const FlowField& field, const FlowOptions& options,
                                      const Context& context);

/// Growth rates of small overlaps: -R_mm - eta V/2 and -R_ee - eta V/2 at the start. [ssi 20]
struct GrowthRates {
  Estimate m;
  Estimate e;
  Estimate lambda_m;  ///< -R_mm alone
};
[[nodiscard]] GrowthRates growth_rates(const FlowField& field);

/// The learning rate above which small m no longer grow, 2 lambda_m/V; 0 where they grow at no
/// rate, nothing where the errors do not tell. [ssi 20]
[[nodiscard]] std::optional<Estimate> max_rate(const FlowField& field);

}  // namespace onset::ssi
