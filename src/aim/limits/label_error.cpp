#include "aim/limits/label_error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "aim/model/channels/hardmax/choices.hpp"
#include "aim/model/channels/hardmax/disagreement.hpp"

namespace onset::aim {
namespace {

constexpr double sum_rounding = 1e-14;
/// Relative, of rows of three and more tokens.
constexpr double disagreement_precision = 1e-9;

/// A function of V by two rules at V and at both ends of its error: the difference of the rules,
/// and what the error of V does.
Estimate along_error(const Estimate& v, double norm,
                     const std::function<double(double, Precision)>& value) {
  const double fine = value(v.value, Precision::fine);
  const double coarse = value(v.value, Precision::coarse);
  double error = std::abs(fine - coarse) + sum_rounding * std::abs(fine);
  if (v.error > 0.0) {
    const double high = value(std::min(norm, v.value + v.error), Precision::coarse);
    const double low = value(std::max(0.0, v.value - v.error), Precision::coarse);
    error = std::hypot(error, 0.5 * std::abs(high - low));
  }
  return {fine, error};
}

}  // namespace

LabelErrors::LabelErrors(const AttentionIndexed& model, std::uint64_t seed)
    : model_(model), seed_(seed) {}

std::optional<LabelError> LabelErrors::at(const Estimate& overlap, const Estimate& mmse) const {
  const bool published = model_.published.density || model_.published.off_scale != 1.0;
  const bool equal_noise = model_.noise_variance > 0.0 && model_.noise_kind == NoiseKind::equal;
  const bool joint = model_.layers > 1 && model_.labels != LayerLabels::separate;
  if (published || joint) return std::nullopt;
  if (mmse.value == 0.0 && model_.noise_variance == 0.0) return LabelError{};
  if (model_.channel == &linear_channel()) return linear(mmse);
  if (equal_noise) return std::nullopt;
  const double norm = overlap.value + mmse.value;
  if (model_.channel == &hardmax_channel()) return hardmax(norm, mmse);
  const double steepness = model_.beta * std::sqrt(norm + model_.noise_variance);
  if (steepness > max_steepness(SgdLoss::squared, model_.tokens)) return std::nullopt;
  return softmax(norm, mmse);
}

LabelError LabelErrors::linear(const Estimate& mmse) const {
  const double tokens = model_.tokens;
  const double noise = tokens * (model_.noise_on(true) + (tokens - 1.0) * model_.noise_on(false));
  const double entries = tokens * (tokens + 1.0);
  const Estimate error{entries * mmse.value + noise, entries * mmse.error};
  return {error, error};
}

/// Two labels of which the student knows the same part are as far from one another as twice the
/// error of the best prediction, their conditional mean. Both errors are risks of a student: with
/// the scores omega, and with scores as large as the truth's that have omega in common with them;
/// a risk is half a squared error.
LabelError LabelErrors::softmax(double norm, const Estimate& mmse) const {
  const double shown = norm + model_.noise_variance;  // of the scores behind a label
  FlowModel flow;
  flow.labels = model_;
  flow.labels.noise_variance = 0.0;
  flow.labels.rho = shown - 1.0;
  const auto fine = make_risk(flow, Precision::fine, seed_);
  const auto coarse = make_risk(flow, Precision::coarse, seed_);
  const auto risk = [&](const ScoreMoments& at, Precision precision) {
    return (precision == Precision::fine ? *fine : *coarse).drift(at).risk;
  };
  const auto unknown = [&](double v) { return v + model_.noise_variance; };
  return {
      along_error(mmse, norm,
                  [&](double v, Precision precision) {
                    return risk({.p = shown, .anti = 0.0, .q = norm - v, .error = 2.0 * unknown(v)},
                                precision);
                  }),
      along_error(mmse, norm, [&](double v, Precision precision) {
        return 2.0 *
               risk({.p = norm - v, .anti = 0.0, .q = norm - v, .error = unknown(v)}, precision);
      })};
}

LabelError LabelErrors::hardmax(double norm, const Estimate& mmse) const {
  Estimate plug_in = along_error(mmse, norm, [&](double v, Precision) {
    return row_disagreement(std::atan2(std::sqrt(v), std::sqrt(norm - v)), model_.tokens);
  });
  // Two tokens: the larger score is the more probable one.
  if (model_.tokens == 2) return {plug_in, plug_in};
  plug_in.error += disagreement_precision * plug_in.value;
  const Estimate gain = gain_of_best_choices(mmse.value / norm, model_.tokens, seed_);
  return {{plug_in.value - gain.value, std::hypot(plug_in.error, gain.error)}, plug_in};
}

}  // namespace onset::aim
