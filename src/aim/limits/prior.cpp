#include "aim/limits/prior.hpp"

#include <cmath>

#include "aim/limits/spectrum.hpp"

namespace onset::aim {
namespace {

class WishartPrior : public Prior {
 public:
  explicit WishartPrior(double rho) : rho_(rho) {}
  [[nodiscard]] double second_moment() const override { return 1.0 + rho_; }
  [[nodiscard]] double known() const override { return rho_; }
  [[nodiscard]] double max_delta() const override { return NoisySpectrum::max_delta; }
  [[nodiscard]] double shrinkage_at_zero() const override { return shrinkage_without_noise(rho_); }
  [[nodiscard]] Point at(double delta) const override {
    const NoisySpectrum spectrum(rho_, delta);
    if (delta < 1.0) {
      const Estimate f = spectrum.shrinkage();
      return {{delta * f.value, delta * f.error}, f};
    }
    const Estimate mmse = spectrum.mmse();
    return {mmse, {mmse.value / delta, mmse.error / delta}};
  }
  [[nodiscard]] Estimate information(double delta) const override {
    return NoisySpectrum(rho_, delta).information();
  }

 private:
  double rho_;
};

/// The prior of small widths [aim 25]: spikes that leave the semicircle at t = 1.
class SpikePrior : public Prior {
 public:
  [[nodiscard]] double second_moment() const override { return 1.0; }
  [[nodiscard]] double known() const override { return 0.0; }
  [[nodiscard]] double max_delta() const override { return 1.0; }
  [[nodiscard]] double shrinkage_at_zero() const override { return 2.0; }
  [[nodiscard]] Point at(double t) const override {
    if (t >= 1.0) return {{1.0, 0.0}, {1.0 / t, 0.0}};
    return {{t * (2.0 - t), 0.0}, {2.0 - t, 0.0}};
  }
  [[nodiscard]] Estimate information(double t) const override {
    return {t >= 1.0 ? 0.25 / t : 0.25 * t - 0.5 * std::log(t), 0.0};
  }
};

/// A Gaussian prior, for which the precisions of signal and noise add up.
class WignerPrior : public Prior {
 public:
  explicit WignerPrior(double variance) : variance_(variance) {}
  [[nodiscard]] double second_moment() const override { return variance_; }
  [[nodiscard]] double known() const override { return 0.0; }
  [[nodiscard]] double max_delta() const override { return NoisySpectrum::max_delta; }
  [[nodiscard]] double shrinkage_at_zero() const override { return 1.0; }
  [[nodiscard]] Point at(double delta) const override {
    const double f = variance_ / (variance_ + delta);
    return {{delta * f, 0.0}, {f, 0.0}};
  }
  [[nodiscard]] Estimate information(double delta) const override {
    return {0.25 * std::log1p(variance_ / delta), 0.0};
  }

 private:
  double variance_;
};

}  // namespace

std::unique_ptr<Prior> make_prior(const AttentionIndexed& model) {
  if (model.prior == PriorKind::wigner) {
    const bool sum = model.labels == LayerLabels::sum;
    return std::make_unique<WignerPrior>(sum ? model.layers : 1.0);
  }
  if (model.rho == 0.0) return std::make_unique<SpikePrior>();
  return std::make_unique<WishartPrior>(model.rho);
}

}  // namespace onset::aim
