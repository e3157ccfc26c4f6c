#pragma once

#include <functional>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// An interval of the support.
struct Band {
  double low = 0.0;
  double high = 0.0;
};

/// The spectrum of S + sqrt(delta) GOE, where S = W W^T / sqrt(r d) has width ratio rho = r/d: the
/// free convolution of a scaled Marchenko-Pastur law and a semicircle of variance delta, and the
/// best denoiser of S given such a matrix [aim 8]-[aim 15].
///
/// Everything is computed from the one real root k > 0 of a cubic that every point of the support
/// has [aim 11], which keeps full precision from delta = 1e-26 to 1e26.
class NoisySpectrum {
 public:
  /// Throws InvalidArgument unless rho is within [min_rho, max_rho] and delta within [min_delta,
  /// max_delta].
  NoisySpectrum(double rho, double delta);

  static constexpr double min_delta = 1e-26;
  static constexpr double max_delta = 1e26;

  /// There is one band, or two below the boundary of [aim 10].
  [[nodiscard]] const std::vector<Band>& bands() const { return bands_; }
  /// The density of eigenvalues at x; 0 outside the support. Near an edge, where it is the square
  /// root of a difference, its error comes from rounding in the difference.
  [[nodiscard]] Estimate density(double x) const;
  /// The best estimate of an eigenvalue of S given the noisy one x [aim 12]. It is continued to
  /// where there are no eigenvalues, since matrices of finite size have some there [aim 34].
  [[nodiscard]] double denoiser(double x) const;
  /// The mean of f(eigenvalue, denoised eigenvalue) over the spectrum. Its error is twice the
  /// difference of two rules, and at least that of rounding.
  [[nodiscard]] Estimate mean(const std::function<double(double x, double denoised)>& f) const;
  /// mmse / delta: the mean divided difference of the denoiser, in (0, 1] [aim 13].
  [[nodiscard]] Estimate shrinkage() const;
  /// The least mean-square error ||S - S_hat||_F^2 / d, in (0, 1) [aim 13, 14].
  [[nodiscard]] Estimate mmse() const;
  /// What the noisy matrix tells about S: mutual information over d^2 [aim 40].
  [[nodiscard]] Estimate information() const;

 private:
  /// A stretch of the support without inner singularities, in scaled eigenvalues X = x sqrt(rho),
  /// and the values of k at its ends.
  struct Piece {
    double low, high;
    double k_low, k_high;
  };
  /// A point of the support: X, its root k, w = |Im u|, pi times the density of X, and Re u.
  struct Node {
    double x, k, w, u;
  };

  void find_edges();
  [[nodiscard]] Node node(double x, double k_start, double k_low, double k_high) const;
  [[nodiscard]] const Piece* piece_at(double x) const;
  [[nodiscard]] double physical_root(double x) const;
  [[nodiscard]] Estimate integrate(const std::function<double(const Node&)>& f) const;

  double rho_;
  double delta_;
  double root_rho_;
  double t_;                   ///< delta rho
  std::vector<double> u_;      ///< u at the edges from left to right
  std::vector<Band> bands_;    ///< in x
  std::vector<Piece> pieces_;  ///< in X
};

/// The noise delta below which the spectrum of width ratio rho has two bands; they exist only for
/// rho < 1 (0 otherwise) [aim 10].
[[nodiscard]] double two_band_delta(double rho);

/// shrinkage() for delta -> 0 [aim 15].
[[nodiscard]] double shrinkage_without_noise(double rho);

}  // namespace onset::aim
