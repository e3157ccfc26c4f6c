#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <string>

#include "aim/limits/erm/training.hpp"
#include "aim/limits/spectrum.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/training_fields.hpp"
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

struct LearnedRow {
  double x = 0.0;
  Estimate density;
  double weight = 0.0;
  Estimate weight_density;
};

Columns<LearnedRow> learned_columns() {
  return Columns<LearnedRow>()
      .add("x", &LearnedRow::x, "eigenvalue of the trained matrix S")
      .add("density", &LearnedRow::density, "density of eigenvalues, without the atom at 0")
      .add("weight", &LearnedRow::weight, "sqrt(x): singular value of the student's W/(r d)^(1/4)",
           "singular value")
      .add("weight_density", &LearnedRow::weight_density, "its density, without the atom at 0");
}

struct SettledSpectrum {
  std::optional<NoisySpectrum> noisy;
  std::shared_ptr<const Training> training;  ///< with `learned`
};

void forbid(bool given, const char* option, const char* why) {
  if (given) throw InvalidArgument(option, std::string(why) + "; allowed: leaving it out");
}

SettledSpectrum settle_spectrum(Spectrum& request) {
  const AttentionIndexed model = settle_model(request);
  if (!request.learned) {
    forbid(request.alpha.has_value(), "alpha", "is for `learned`");
    forbid(request.decay.has_value(), "decay", "is for `learned`");
    forbid(request.loss.has_value(), "loss", "is for `learned`");
    if (!request.delta) {
      throw InvalidArgument("delta",
                            "is missing; allowed: a number in [1e-26, 1e26], or `learned`");
    }
    return {NoisySpectrum(request.rho, *request.delta), nullptr};
  }
  forbid(request.delta.has_value(), "delta", "follows from `alpha` and `decay` with `learned`");
  if (!request.alpha)
    throw InvalidArgument("alpha", "is missing with `learned`; allowed: a number above 0");
  if (!request.decay)
    throw InvalidArgument("decay", "is missing with `learned`; allowed: 0 or more");
  settle_loss(model, request.loss);
  return {std::nullopt, std::make_shared<const Training>(
                            checked_training(model, *request.loss, Penalty::trace, request.seed))};
}

/// The law of S [aim 103]: what is above the threshold, moved and scaled, and an atom at 0.
void run_learned(const Spectrum& request, const Training& training, const Context& context,
                 Result& result) {
  const auto columns = learned_columns();
  result.table = columns.table();
  Conjugates start{};
  const TrainedPoint p = training.at(*request.alpha, *request.decay, start, context);
  const double threshold = p.threshold->value;
  const double scale = p.scale.value;
  const auto add = [&result](const char* name, Cell value) {
    result.summary.emplace_back(name, std::move(value));
  };
  add("atom", Estimate{1.0 - p.rank->value, p.rank->error});
  add("rank", *p.rank);
  add("delta", p.delta);
  add("threshold", *p.threshold);
  add("scale", p.scale);
  add("status", std::string(to_string(p.validity)));
  if (p.status.reason == StopReason::diverged) result.unconverged("the equations were not solved");
  if (p.validity == Validity::zero || p.delta.value < NoisySpectrum::min_delta) {
    result.notes.emplace_back(p.validity == Validity::zero
                                  ? "The decay leaves S = 0: the law is its atom."
                                  : "S is the teacher's matrix exactly, without noise.");
    return;
  }
  const NoisySpectrum spectrum(request.rho, p.delta.value);
  for (const Band& band : spectrum.bands()) {
    if (band.high <= threshold) continue;
    for (const double y : points_of({std::max(band.low, threshold), band.high}, request.points)) {
      context.check();
      const double x = std::max(0.0, scale * (y - threshold));
      const Estimate density = spectrum.density(y);
      // The density changes with the numbers that it is made from as these do.
      const double relative = p.delta.error / p.delta.value + p.scale.error / scale;
      const Estimate scaled{density.value / scale,
                            density.error / scale + relative * density.value / scale};
      const double weight = std::sqrt(x);
      result.table.add_row(columns.cells(
          {.x = x,
           .density = scaled,
           .weight = weight,
           .weight_density = {2.0 * weight * scaled.value, 2.0 * weight * scaled.error}}));
    }
  }
  const double edge = spectrum.bands().back().high;
  add("edge", Estimate{scale * (edge - threshold),
                       scale * p.threshold->error + p.scale.error * (edge - threshold) +
                           0.5 * scale * edge * p.delta.error / p.delta.value});
}

void run_noisy(const Spectrum& request, const NoisySpectrum& spectrum, const Context& context,
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

void run_spectrum(const Spectrum& request, const SettledSpectrum& settled, const Context& context,
                  Result& result) {
  if (settled.training) {
    run_learned(request, *settled.training, context, result);
  } else {
    run_noisy(request, *settled.noisy, context, result);
  }
}

Cost spectrum_cost(const Spectrum&, const SettledSpectrum& settled) {
  if (settled.training) {
    constexpr double solving_seconds = 1.0;
    return {
        "The minimum of training as in aim erm, and the spectrum of the noisy matrix that it cuts.",
        settled.training->quadratic() ? 1e-2 : solving_seconds, 2e7};
  }
  return {
      "Edges by bracketed roots; at every x the one real root of a cubic gives the density and the "
      "denoiser; mass and mmse by double-exponential quadrature.",
      1e-2, 1e6};
}

}  // namespace

VerbOf<Spectrum> Spectrum::verb() {
  Definition<Spectrum, SettledSpectrum> d;
  d.family = "aim";
  d.name = "spectrum";
  d.summary = "eigenvalues of the noisy attention matrix and their best denoiser";
  d.details = prose(R"(
      The spectrum of S + sqrt(Delta) GOE, S = W W^T/sqrt(r d) with width ratio rho = r/d:
      what the labels show of S when q_hat = 1/Delta (see aim curve, where alpha = n/d^2
      fixes Delta). Density, edges of its one or two bands, and the best estimate of each
      eigenvalue of S given the noisy one. Everything is exact to rounding, whatever the
      tolerance. With `learned` instead the law of the matrix S that training with weight
      decay ends at (see aim erm): an atom at 0, and the density and edge of the rest.)");
  d.fields = model_fields<Spectrum>();
  d.fields.edit("beta").text =
      "Inverse temperature of softmax labels; it has an effect only with `learned`.";
  d.fields
      .add("delta", &Spectrum::delta,
           {.min = NoisySpectrum::min_delta, .max = NoisySpectrum::max_delta},
           "Variance Delta of the noise, 1/q_hat; must be given without `learned`.")
      .add("learned", &Spectrum::learned, {},
           "The law of the trained matrix; only then do options of the labels have an effect.")
      .add("alpha", &Spectrum::alpha, {.min = 0.0, .max = max_alpha, .open_min = true},
           "With `learned`: sample ratio n/d^2 (samples over dimension squared).")
      .add("decay", &Spectrum::decay, {.min = 0.0, .max = max_training_decay},
           "With `learned`: weight decay lambda; 0: the limit of small ones.")
      .add_word(
          "loss", &Spectrum::loss,
          std::vector{TrainingLoss::square, TrainingLoss::fields, TrainingLoss::cross_entropy},
          "With `learned`: the loss, as in aim erm.")
      .add("points", &Spectrum::points, {.min = 2, .max = 100000},
           "Points in each band, dense near its ends.");
  d.rows = {{"", spectrum_columns().list()}, {"with `learned`", learned_columns().list()}};
  d.primary = "density";
  d.method = 3;
  d.examples = {"aim spectrum --rho 0.5 --delta 0.1",
                "aim spectrum --rho 0.2 --delta 0.02 --format csv",
                "aim spectrum --learned --loss fields --rho 0.2 --alpha 0.12 --decay 0.01"};
  d.settle = settle_spectrum;
  d.cost = spectrum_cost;
  d.run = run_spectrum;
  return d.verb();
}

}  // namespace onset::aim
