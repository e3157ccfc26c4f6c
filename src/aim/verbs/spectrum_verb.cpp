#include <cmath>
#include <numbers>

#include "aim/limits/spectrum.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct SpectrumRow {
  double x = 0.0;
  Estimate density;
  Estimate denoiser;
};

Columns<SpectrumRow> spectrum_columns() {
  return Columns<SpectrumRow>()
      .add("x", &SpectrumRow::x, "eigenvalue of S plus Gaussian noise")
      .add("density", &SpectrumRow::density, "density of eigenvalues")
      .add("denoiser", &SpectrumRow::denoiser, "best estimate of the eigenvalue of S",
           "eigenvalue");
}

/// The denoiser and edges are good to a few units of rounding.
Estimate rounded(double value) {
  constexpr double rounding = 1e-14;
  return {value, rounding * std::abs(value)};
}

/// Points of a band, dense near its ends, both ends among them.
std::vector<double> points_of(const Band& band, int count) {
  std::vector<double> x;
  for (int i = 0; i < count; ++i) {
    const double s = std::sin(0.5 * std::numbers::pi * i / (count - 1));
    x.push_back(band.low + (band.high - band.low) * s * s);
  }
  x.back() = band.high;
  return x;
}

NoisySpectrum settle_spectrum(Spectrum& request) {
  return {request.rho, *request.delta};
}

void run_spectrum(const Spectrum& request, const NoisySpectrum& spectrum, const Context& context,
                  Result& result) {
  const auto columns = spectrum_columns();
  result.table = columns.table();
  const auto& bands = spectrum.bands();
  for (const Band& band : bands) {
    for (const double x : points_of(band, request.points)) {
      context.check();
      result.table.add_row(columns.cells(
          {.x = x, .density = spectrum.density(x), .denoiser = rounded(spectrum.denoiser(x))}));
    }
  }
  const auto add = [&result](const char* name, Cell value) {
    result.summary.emplace_back(name, std::move(value));
  };
  add("bands", static_cast<std::int64_t>(bands.size()));
  add("left_edge", rounded(bands.front().low));
  add("right_edge", rounded(bands.back().high));
  if (bands.size() == 2) {
    add("gap_low", rounded(bands[0].high));
    add("gap_high", rounded(bands[1].low));
  }
  add("mass", spectrum.mean([](double, double) { return 1.0; }));
  add("mmse", spectrum.mmse());
}

Cost spectrum_cost(const Spectrum&, const NoisySpectrum&) {
  return {prose(R"(
      Edges by bracketed roots; at every x the one real root of a cubic gives the density and
      the denoiser; mass and mmse by double-exponential quadrature.)"),
          1e-2, 1e6};
}

}  // namespace

VerbOf<Spectrum> Spectrum::verb() {
  Definition<Spectrum, NoisySpectrum> d;
  d.family = "aim";
  d.name = "spectrum";
  d.summary = "eigenvalues of the noisy attention matrix and their best denoiser";
  d.details = prose(R"(
      Gives the spectrum of S + sqrt(Delta) GOE, where S = W W^T/sqrt(r d) has the width ratio
      rho = r/d: this is what the labels show of S when q_hat = 1/Delta (in aim curve, alpha =
      n/d^2 fixes Delta). The rows have the density and the best estimate of each eigenvalue of
      S given the noisy one; the summary has the edges of the one or two bands. Everything is
      exact to rounding, whatever the tolerance.)");
  d.fields
      .add("rho", &Spectrum::rho, {.min = min_rho, .max = max_rho},
           "Width ratio rho = r/d of the matrix W.")
      .add("delta", &Spectrum::delta,
           {.min = NoisySpectrum::min_delta, .max = NoisySpectrum::max_delta, .required = true},
           "Variance Delta of the noise, 1/q_hat.")
      .add("points", &Spectrum::points, {.min = 2, .max = 100000},
           "Points in each band, dense near its ends.");
  d.rows = {{"", spectrum_columns().list()}};
  d.primary = "density";
  d.examples = {"aim spectrum --rho 0.5 --delta 0.1",
                "aim spectrum --rho 0.2 --delta 0.02 --format csv"};
  d.settle = settle_spectrum;
  d.cost = spectrum_cost;
  d.run = run_spectrum;
  return d.verb();
}

}  // namespace onset::aim
