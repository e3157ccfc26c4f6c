#include <cmath>
#include <numbers>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/model_options.hpp"
#include "core/plain_verb.hpp"
#include "onset/aim/limits/spectrum.hpp"

namespace onset::aim {
namespace {

std::vector<Column> spectrum_columns() {
  return {{"x", "eigenvalue of S plus Gaussian noise", "", false},
          {"density", "density of eigenvalues", "", true},
          {"denoiser", "best estimate of the eigenvalue of S", "eigenvalue", true}};
}

/// Rounding of the denoiser and of edges: a few units.
constexpr double rounding = 1e-14;

/// Points of a band, dense near its ends, both ends among them.
std::vector<double> points_of(const Band& band, std::int64_t count) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < count; ++i) {
    const double s =
        std::sin(0.5 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count - 1));
    x.push_back(band.low + (band.high - band.low) * s * s);
  }
  x.back() = band.high;
  return x;
}

Result run_spectrum(const Parameters& p, const Context& context) {
  const Spectrum spectrum(p.real("rho"), p.real("delta"));
  Result result;
  result.table = Table(spectrum_columns());
  const auto& bands = spectrum.bands();
  for (const Band& band : bands) {
    for (const double x : points_of(band, p.integer("points"))) {
      context.check();
      const double denoised = spectrum.denoiser(x);
      result.table.add_row(
          {x, spectrum.density(x), Estimate{denoised, rounding * std::abs(denoised)}});
    }
  }
  const auto add = [&result](const char* name, Cell value) {
    result.summary.emplace_back(name, std::move(value));
  };
  add("bands", static_cast<std::int64_t>(bands.size()));
  add("left_edge", Estimate{bands.front().low, rounding * std::abs(bands.front().low)});
  add("right_edge", Estimate{bands.back().high, rounding * bands.back().high});
  if (bands.size() == 2) {
    add("gap_low", Estimate{bands[0].high, rounding * std::abs(bands[0].high)});
    add("gap_high", Estimate{bands[1].low, rounding * std::abs(bands[1].low)});
  }
  add("mass", spectrum.mean([](double, double) { return 1.0; }));
  add("mmse", spectrum.mmse());
  return result;
}

Cost spectrum_cost(const Parameters&) {
  return {
      "Edges by bracketed roots; at every x the one real root of a cubic gives the density and "
      "the denoiser; mass and mmse by double-exponential quadrature.",
      1e-2, 1e6};
}

}  // namespace

Verb spectrum_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "spectrum";
  verb.summary = "eigenvalues of the noisy attention matrix and their best denoiser";
  verb.details =
      "The spectrum of S + sqrt(Delta) GOE, S = W W^T/sqrt(r d) with width ratio rho = r/d: what "
      "the labels show of S when q_hat = 1/Delta (see aim curve, where alpha = n/d^2 fixes Delta). "
      "Density, edges of its one or two bands, and the best estimate of each eigenvalue of S given "
      "the noisy one.";
  Parameter rho = make_parameter("rho", ParameterKind::real, 0.5, Spectrum::min_rho,
                                 Spectrum::max_rho, "Width ratio rho = r/d of the matrix W.");
  Parameter delta = make_parameter("delta", ParameterKind::real, {}, Spectrum::min_delta,
                                   Spectrum::max_delta, "Variance Delta of the noise, 1/q_hat.");
  delta.required = true;
  verb.parameters = {rho, delta,
                     make_parameter("points", ParameterKind::integer, std::int64_t{101}, 2, 100000,
                                    "Points in each band, dense near its ends.")};
  verb.columns = spectrum_columns();
  verb.primary = "density";
  verb.default_tol = 1e-9;
  verb.examples = {"aim spectrum --rho 0.5 --delta 0.1",
                   "aim spectrum --rho 0.2 --delta 0.02 --format csv"};
  verb.cost = spectrum_cost;
  verb.run = run_spectrum;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
