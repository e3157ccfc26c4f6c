#include "aim/limits/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "aim/limits/root_between.hpp"
#include "aim/limits/tanh_sinh.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {
namespace {

using std::numbers::pi;
constexpr double rounding = std::numeric_limits<double>::epsilon();

void require(bool good, const char* field, double value, const char* allowed) {
  if (!good) {
    throw InvalidArgument(field, to_text(Value(value)) + " is out of range; allowed: " + allowed);
  }
}

/// The root, to relative precision, of a function that changes sign once in (low, high), both
/// positive.
double log_root(const std::function<double(double)>& f, double low, double high) {
  const auto in_log = [&f](double y) { return f(std::exp(y)); };
  return std::exp(
      root_between(in_log, std::log(low), std::log(high), 2.0 * rounding, "an edge of the spectrum")
          .x);
}

/// The most Newton steps in log k from a start inside a bracket; a step that leaves it bisects
/// instead.
constexpr int max_newton_steps = 100;

}  // namespace

double two_band_delta(double rho) {
  return rho < 1.0 ? std::pow(1.0 - std::cbrt(rho), 3) / rho : 0.0;
}

double shrinkage_without_noise(double rho) {
  return rho < 1.0 ? rho * (2.0 - rho) : 1.0;
}

NoisySpectrum::NoisySpectrum(double rho, double delta)
    : rho_(rho), delta_(delta), root_rho_(std::sqrt(rho)), t_(delta * rho) {
  require(rho >= min_rho && rho <= max_rho, "rho", rho, "1e-6 to 1e6");
  require(delta >= min_delta && delta <= max_delta, "delta", delta, "1e-26 to 1e26");
  find_edges();
}

/// Edges are the real solutions of dX/du = 0 [aim 9], each in a bracket of its own, so that none
/// is lost however close two of them are. At an edge k = rho / (t (1-u)^2).
void NoisySpectrum::find_edges() {
  const double t = t_;
  const double rho = rho_;
  const auto edge = [&](double u, double one_minus_u) {
    return 1.0 / u + rho / one_minus_u + t * u;
  };
  const auto k_at = [&](double one_minus_u) { return rho / (t * one_minus_u * one_minus_u); };
  // Left edge, u = -v: 1/v^2 - rho/(1+v)^2 = t.
  const double v =
      log_root([&](double x) { return 1.0 - rho * std::pow(x / (1.0 + x), 2) - t * x * x; },
               0.99 / std::sqrt(t + rho), 1.01 / std::sqrt(t));
  // Right edge, u = s/(1+s): (1+s)^2 (1/s^2 - rho) = t.
  const double s = log_root(
      [&](double x) {
        return (1.0 - root_rho_ * x) * (1.0 + root_rho_ * x) - t * std::pow(x / (1.0 + x), 2);
      },
      0.99 / std::sqrt(rho + t), 1.01 / root_rho_);
  const double low = edge(-v, 1.0 + v);
  const double high = edge(s / (1.0 + s), 1.0 / (1.0 + s));
  const double k_low = k_at(1.0 + v);
  const double k_high = k_at(1.0 / (1.0 + s));
  if (delta_ < two_band_delta(rho)) {
    // 1/u^2 - rho/(1-u)^2 rises from -infinity at u = 1 to its maximum and falls to 0; j = u - 1.
    const auto slope = [&](double j) { return std::pow(j / (1.0 + j), 2) - rho - t * j * j; };
    const double top = std::cbrt(rho) / (1.0 - std::cbrt(rho));
    const double j2 = slope(top) > 0.0 ? log_root(slope, root_rho_, top) : top;
    const double j1 = slope(top) > 0.0 ? log_root(slope, top, 1.01 / std::sqrt(t)) : top;
    const double end = edge(1.0 + j1, -j1);
    const double start = std::max(end, edge(1.0 + j2, -j2));
    pieces_ = {{low, end, k_low, k_at(j1)}, {start, high, k_at(j2), k_high}};
    u_ = {-v, 1.0 + j1, 1.0 + j2, s / (1.0 + s)};
    bands_ = {{low / root_rho_, end / root_rho_}, {start / root_rho_, high / root_rho_}};
  } else {
    // The other two solutions are complex; near the boundary they come close to the support, so it
    // is cut at the nearest point X(Re u).
    const double u_r = s / (1.0 + s);
    const double half_sum = 1.0 - 0.5 * (u_r - v);
    const double imag2 = std::max(0.0, 1.0 / (t * v * u_r) - half_sum * half_sum);
    const double u2 = half_sum * half_sum + imag2;
    const double w2 = (1.0 - half_sum) * (1.0 - half_sum) + imag2;
    const double cut = half_sum / u2 + rho * (1.0 - half_sum) / w2 + t * half_sum;
    pieces_ = {{low, high, k_low, k_high}};
    if (cut > low && cut < high) {
      const double k = node(cut, std::sqrt(k_low * k_high), k_low, k_high).k;
      pieces_ = {{low, cut, k_low, k}, {cut, high, k, k_high}};
    }
    u_ = {-v, u_r};
    bands_ = {{low / root_rho_, high / root_rho_}};
  }
}

NoisySpectrum::Node NoisySpectrum::node(double x, double k_start, double k_low,
                                        double k_high) const {
  double low = k_low;
  double high = k_high;
  double k = std::clamp(k_start, low, high);
  for (int step = 0; step < max_newton_steps; ++step) {
    const double value = t_ * (1.0 + k) + 1.0 / (1.0 + k) - rho_ / k - x;
    if (value == 0.0) break;
    (value < 0.0 ? low : high) = k;
    const double slope = t_ - 1.0 / ((1.0 + k) * (1.0 + k)) + rho_ / (k * k);
    double next = k * std::exp(std::clamp(-value / (slope * k), -2.0, 2.0));
    if (!(next > low && next < high)) next = std::sqrt(low) * std::sqrt(high);
    const bool done = std::abs(next - k) <= rounding * k;
    k = next;
    if (done) break;
  }
  // The sum of the two complex roots is computed by whichever form cancels less [aim 11].
  const double sum = std::max(std::abs(x), t_ * k) < std::max(1.0 / (1.0 + k), rho_ / k)
                         ? x / t_ - k
                         : 1.0 + (1.0 / (1.0 + k) - rho_ / k) / t_;
  const double product = 1.0 / (t_ * (1.0 + k));
  return {x, k, std::sqrt(std::max(0.0, product - 0.25 * sum * sum)), 0.5 * sum};
}

const NoisySpectrum::Piece* NoisySpectrum::piece_at(double x) const {
  for (const Piece& piece : pieces_) {
    if (x >= piece.low && x <= piece.high) return &piece;
  }
  return nullptr;
}

Estimate NoisySpectrum::density(double x) const {
  const Piece* piece = piece_at(x * root_rho_);
  if (piece == nullptr) return {};
  const Node n =
      node(x * root_rho_, std::sqrt(piece->k_low * piece->k_high), piece->k_low, piece->k_high);
  const double blur = 16.0 * rounding / (t_ * (1.0 + n.k));
  const double error = std::min(std::sqrt(blur), blur / n.w);
  return {root_rho_ / pi * n.w, root_rho_ / pi * error};
}

/// Outside the support u = g / sqrt(rho) is real, and falls from an edge to the next.
double NoisySpectrum::physical_root(double x) const {
  const auto f = [&](double u) { return 1.0 / u + rho_ / (1.0 - u) + t_ * u - x; };
  if (x < pieces_.front().low) {
    return -log_root([&](double v) { return f(-v); },
                     0.5 / (std::abs(x) + 1.0 / -u_.front() + rho_ + t_), -u_.front());
  }
  if (x > pieces_.back().high) return log_root(f, 0.5 / x, u_.back());
  return log_root(f, u_[2], u_[1]);
}

double NoisySpectrum::denoiser(double x) const {
  const double scaled = x * root_rho_;
  if (const Piece* piece = piece_at(scaled)) {
    return delta_ * root_rho_ *
           node(scaled, std::sqrt(piece->k_low * piece->k_high), piece->k_low, piece->k_high).k;
  }
  const double continued = (scaled - 2.0 * t_ * physical_root(scaled)) / root_rho_;
  const bool below = scaled < pieces_.front().low;
  if (!below && scaled < pieces_.back().high) return continued;  // in the gap
  // Beyond an edge [aim 34] S has the share 1/(1 + delta) of what is too far out.
  const double edge = delta_ * root_rho_ * (below ? pieces_.front().k_low : pieces_.back().k_high);
  return edge + (continued - edge) / (1.0 + delta_);
}

Estimate NoisySpectrum::integrate(const std::function<double(const Node&)>& f) const {
  double fine = 0.0;
  double coarse = 0.0;
  double size = 0.0;
  for (const Piece& piece : pieces_) {
    const double half = 0.5 * (piece.high - piece.low);
    double k = piece.k_low;
    for (const TanhSinhNode& rule : tanh_sinh()) {
      const double x =
          rule.from_low ? piece.low + half * rule.distance : piece.high - half * rule.distance;
      const Node point = node(x, k, piece.k_low, piece.k_high);
      k = point.k;
      const double term = f(point) * half;
      fine += rule.fine_weight * term;
      coarse += rule.coarse_weight * term;
      size += rule.fine_weight * std::abs(term);
    }
  }
  return {fine, std::max(2.0 * std::abs(fine - coarse), 16.0 * rounding * size)};
}

Estimate NoisySpectrum::mean(const std::function<double(double, double)>& f) const {
  return integrate(
      [&](const Node& n) { return f(n.x / root_rho_, delta_ * root_rho_ * n.k) * n.w / pi; });
}

Estimate NoisySpectrum::shrinkage() const {
  const Estimate cube = integrate([](const Node& n) { return n.w * n.w * n.w; });
  const double factor = 4.0 * t_ / (3.0 * pi);
  return {1.0 - factor * cube.value, factor * cube.error};
}

Estimate NoisySpectrum::mmse() const {
  if (delta_ < 1.0) {
    const Estimate f = shrinkage();
    return {delta_ * f.value, delta_ * f.error};
  }
  // 1 - F cancels for large noise; the variance of the denoised eigenvalues does not.
  const Estimate variance = integrate([this](const Node& n) {
    const double deviation = delta_ * n.k - 1.0;
    return deviation * deviation * n.w;
  });
  return {1.0 - rho_ / pi * variance.value, rho_ / pi * variance.error + rounding};
}

/// The logarithmic potential of the law is elementary, because X is a rational function of u.
Estimate NoisySpectrum::information() const {
  const Estimate energy = integrate([this](const Node& n) {
    const double u2 = 1.0 / (t_ * (1.0 + n.k));
    const double v2 = rho_ / (t_ * n.k);
    const double potential = -0.5 * std::log(u2) +
                             rho_ * ((1.0 - n.u) / v2 + 0.5 * std::log(v2) - 1.0) +
                             t_ * (n.u * n.u - 0.5 * u2);
    return potential * n.w;
  });
  const double value = energy.value / pi - 0.5 * std::log(t_) + 0.25;
  return {0.5 * value,
          0.5 * (energy.error / pi + 16.0 * rounding * (1.0 + rho_ + std::abs(std::log(t_))))};
}

}  // namespace onset::aim
