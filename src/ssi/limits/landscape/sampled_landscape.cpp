#include "ssi/limits/landscape/sampled_landscape.hpp"

#include <algorithm>
#include <cmath>

#include "core/outcome.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "ssi/limits/landscape/diverging_slope.hpp"
#include "ssi/model/sample_slopes.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t landscape_points = 1024;

/// Closer to m = +-1 than this (in q = sqrt(1 - m^2)) the slope in m is extrapolated from q and 2
/// q.
constexpr double rim = 0.01;

/// The rounding of sums of slopes whose terms cancel, relative to the risk.
constexpr double slope_rounding = 1e-14;

class SampledLandscape final : public Landscape {
 public:
  SampledLandscape(const SequenceModel& model, std::uint64_t seed, const Context& context)
      : model_(model), seed_(seed), context_(context) {}

  [[nodiscard]] RiskPoint at(double e, double m) const override {
    const double q = std::sqrt(std::max(0.0, 1.0 - m * m));
    RiskPoint here = averages(e, m);
    if (q >= rim) return here;
    // A slope a little inside stands in for it. The change between them, of order q^2, is far below
    // the error of sampling, unless the slope diverges.
    const auto inside = [&](double distance) {
      return averages(e, std::copysign(std::sqrt(1.0 - distance * distance), m)).slope_m;
    };
    const Estimate near = inside(rim);
    const Estimate far = inside(2.0 * rim);
    if (diverges(near, far)) {
      // The risk has a cone: it falls like q, and like |e|.
      here.slope_m = no_estimate;
      if (model_.positional) here.slope_e = no_estimate;
      return here;
    }
    here.slope_m = {near.value, std::hypot(near.error, near.value - far.value)};
    return here;
  }

 private:
  [[nodiscard]] RiskPoint averages(double e, double m) const {
    numerics::ExpectationOptions options;
    options.dimensions = static_cast<int>(2 * model_.tokens());
    options.outputs = 3;
    options.points = landscape_points;
    options.seed = seed_;
    const auto rows = numerics::gaussian_expectation(
        options,
        [&](const numerics::NormalBatch& batch, std::span<double> out) {
          // With both signs of zeta the part that a slope divides by q cancels, up to a term of
          // order q.
          std::fill(out.begin(), out.end(), 0.0);
          add(e, m, 1.0, batch, out);
          add(e, m, -1.0, batch, out);
        },
        context_);
    const Estimate risk = numerics::reduce(rows[0]);
    return {risk, above_rounding(numerics::reduce(rows[1]), risk.value),
            above_rounding(numerics::reduce(rows[2]), risk.value)};
  }

  /// What both signs of the fields leave of a slope that vanishes is rounding: it is 0.
  [[nodiscard]] static Estimate above_rounding(const Estimate& slope, double risk) {
    const double floor = slope_rounding * std::abs(risk);
    return std::abs(slope.value) <= floor && slope.error <= floor ? Estimate{} : slope;
  }

  /// Adds half of the loss and of its slopes: with z = m (z* + tau) + q zeta + e pi these are E of
  /// delta times dz/de and dz/dm.
  void add(double e, double m, double sign, const numerics::NormalBatch& batch,
           std::span<double> out) const {
    const std::size_t count = batch.count;
    const std::size_t tokens = model_.tokens();
    const auto shifts = model_.shifts();
    const auto teacher_shifts = model_.teacher_shifts();
    const double q = sign * std::sqrt(std::max(0.0, 1.0 - m * m));
    const double turn = q != 0.0 ? m / q : 0.0;
    const double* teacher = batch.normals.data();
    const double* zeta = teacher + tokens * count;
    std::vector<double> z(tokens * count);
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t p = i * count; p < (i + 1) * count; ++p) {
        z[p] = m * (teacher[p] + teacher_shifts[i]) + q * zeta[p] + e * shifts[i];
      }
    }
    const auto [loss, delta] = sample_slopes(model_, count, teacher, z.data());
    for (std::size_t p = 0; p < count; ++p) out[p] += 0.5 * loss[p];
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t p = 0; p < count; ++p) {
        const double d = 0.5 * delta[i * count + p];
        out[count + p] += d * shifts[i];
        // dz/dm = z* + its shift - (m/q) zeta, with the zeta of this sign.
        out[2 * count + p] +=
            d * (teacher[i * count + p] + teacher_shifts[i] - turn * zeta[i * count + p]);
      }
    }
  }

  SequenceModel model_;
  std::uint64_t seed_;
  Context context_;
};

}  // namespace

std::unique_ptr<Landscape> sampled_landscape(const SequenceModel& model, std::uint64_t seed,
                                             const Context& context) {
  Context own = context;
  own.progress = nullptr;
  return std::make_unique<SampledLandscape>(model, seed, own);
}

}  // namespace onset::ssi
