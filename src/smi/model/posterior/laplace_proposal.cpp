#include "smi/model/posterior/laplace_proposal.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {
namespace {

using two_token::Plane;

/// The number of steps of the search for the centre, and of halvings of one step. The search need
/// not converge: any centre gives an unbiased proposal.
constexpr int centre_steps = 6;
constexpr int step_halvings = 6;

/// As in the kernels, this keeps a vanishing eigenvalue (skip 0) from giving 0/0.
constexpr double min_lambda = 1e-18;

struct Sigmoid {
  double value;
  double slope;
};

Sigmoid sigmoid(double x) {
  const double e = std::exp(-std::abs(x));
  const double small = e / (1.0 + e);
  return {x < 0.0 ? small : 1.0 - small, e / ((1.0 + e) * (1.0 + e))};
}

double half_norm(double a, double b) {
  return 0.5 * (a * a + b * b);
}

/// Appends one row (and its right-hand side) to an upper triangular least-squares problem by Givens
/// rotations; the diagonal stays positive. Returns what is left of the right-hand side. Unlike a
/// Cholesky factor of I + K^T K this keeps the small directions when the large ones are 1e8 times
/// as stiff.
double append_row(std::vector<double>& factor, std::vector<double>& rhs, std::vector<double>& row,
                  double value) {
  const std::size_t n = rhs.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = factor[i * n + i];
    const double length = std::hypot(diagonal, row[i]);
    const double c = diagonal / length;
    const double s = row[i] / length;
    for (std::size_t j = i; j < n; ++j) {
      const double above = factor[i * n + j];
      factor[i * n + j] = c * above + s * row[j];
      row[j] = c * row[j] - s * above;
    }
    const double above = rhs[i];
    rhs[i] = c * above + s * value;
    value = c * value - s * above;
  }
  return value;
}

/// x = factor^{-1} x.
void back_substitute(const std::vector<double>& factor, std::span<double> x) {
  const std::size_t n = x.size();
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= factor[i * n + j] * x[j];
    x[i] /= factor[i * n + i];
  }
}

}  // namespace

LaplaceProposal::LaplaceProposal(const DeepAttention& model)
    : model_(model), size_(2 * static_cast<std::size_t>(model.layers - 1)) {
  slope_.resize(2 * size_);
  for (auto* v : {&mix_, &stretch_, &zeta_, &trial_, &row_}) v->resize(size_);
  centre_.resize(size_ / 2);
  component_.mean.resize(size_);
  component_.factor.resize(size_ * size_);
}

void LaplaceProposal::linearise(const TwoTokenSample& sample, std::span<const double> zeta) {
  double gain = 1.0;
  double mix = 0.0;
  double stretch = 1.0;
  std::fill(mix_.begin(), mix_.end(), 0.0);
  std::fill(stretch_.begin(), stretch_.end(), 0.0);
  const auto inner = static_cast<std::size_t>(model_.layers - 1);
  for (std::size_t l = 0; l < inner; ++l) {
    const double c = model_.skip_of(static_cast<int>(l));
    const double deviation = sample.deviation[l];
    const double plus = sample.omega[l].plus + deviation * zeta[2 * l];
    const double minus = sample.omega[l].minus + deviation * zeta[2 * l + 1];
    const double u_plus = gain * plus + mix * minus;
    const double u_minus = stretch * minus;
    const Sigmoid s1 = sigmoid(model_.beta * u_minus * (u_minus + u_plus));
    const Sigmoid s2 = sigmoid(model_.beta * u_minus * (u_minus - u_plus));
    const double lambda = std::max(s1.value + s2.value - 1.0 + c, min_lambda);
    for (std::size_t j = 0; j < 2 * l + 2; ++j) {
      const double own_plus = j == 2 * l ? deviation : 0.0;
      const double own_minus = j == 2 * l + 1 ? deviation : 0.0;
      const double du_plus = gain * own_plus + mix * own_minus + mix_[j] * minus;
      const double du_minus = stretch * own_minus + stretch_[j] * minus;
      const double even = 2.0 * u_minus * du_minus;
      const double odd = du_plus * u_minus + u_plus * du_minus;
      const double ds1 = s1.slope * model_.beta * (even + odd);
      const double ds2 = s2.slope * model_.beta * (even - odd);
      mix_[j] = (1.0 + c) * mix_[j] + (ds1 - ds2) * stretch + (s1.value - s2.value) * stretch_[j];
      stretch_[j] = lambda * stretch_[j] + (ds1 + ds2) * stretch;
    }
    mix = (1.0 + c) * mix + (s1.value - s2.value) * stretch;
    stretch *= lambda;
    gain *= 1.0 + c;
  }
  last_.minus = sign_ * sample.h.minus / stretch;
  last_.plus = (sign_ * sample.h.plus - mix * last_.minus) / gain;
  const double scale = 1.0 / sample.deviation[inner];
  for (std::size_t j = 0; j < size_; ++j) {
    const double d_minus = -last_.minus * (stretch_[j] / stretch);
    slope_[j] = -scale * (mix_[j] * last_.minus + mix * d_minus) / gain;
    slope_[size_ + j] = scale * d_minus;
  }
}

void LaplaceProposal::nearer_sign(const TwoTokenSample& sample, Plane to) {
  sign_ = 1.0;
  linearise(sample, zeta_);
  if (last_.plus * to.plus + last_.minus * to.minus < 0.0) sign_ = -1.0;
}

double LaplaceProposal::objective(const TwoTokenSample& sample, std::span<const double> zeta) {
  linearise(sample, zeta);
  const double scale = 1.0 / sample.deviation.back();
  double sum = half_norm((last_.plus - sample.omega.back().plus) * scale,
                         (last_.minus - sample.omega.back().minus) * scale);
  for (const double z : zeta) sum += 0.5 * z * z;
  return sum;
}

void LaplaceProposal::fit(const TwoTokenSample& sample, std::span<const double> zeta,
                          LaplaceComponent& out) {
  linearise(sample, zeta);
  // The step d from zeta minimises |zeta + d|^2 + |zeta_L + slope d|^2.
  std::fill(out.factor.begin(), out.factor.end(), 0.0);
  for (std::size_t j = 0; j < size_; ++j) {
    out.factor[j * size_ + j] = 1.0;
    out.mean[j] = -zeta[j];
  }
  const double scale = 1.0 / sample.deviation.back();
  const double target[2] = {-(last_.plus - sample.omega.back().plus) * scale,
                            -(last_.minus - sample.omega.back().minus) * scale};
  out.slope = slope_;
  out.offset = {-target[0], -target[1]};
  for (std::size_t j = 0; j < size_; ++j) {
    out.offset.plus -= slope_[j] * zeta[j];
    out.offset.minus -= slope_[size_ + j] * zeta[j];
  }
  out.exponent = 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    std::copy_n(slope_.begin() + static_cast<std::ptrdiff_t>(k * size_), size_, row_.begin());
    const double left = append_row(out.factor, out.mean, row_, target[k]);
    out.exponent += 0.5 * left * left;
  }
  back_substitute(out.factor, out.mean);
  out.log_determinant = 0.0;
  for (std::size_t j = 0; j < size_; ++j) {
    out.mean[j] += zeta[j];
    out.log_determinant += std::log(out.factor[j * size_ + j]);
  }
}

/// Gauss-Newton steps for the most likely point: each goes to the mean of the posterior linearised
/// where it starts.
void LaplaceProposal::find_centre(const TwoTokenSample& sample) {
  std::fill(zeta_.begin(), zeta_.end(), 0.0);
  nearer_sign(sample, sample.omega.back());
  double here = objective(sample, zeta_);
  LaplaceComponent& step = component_;
  for (int k = 0; k < centre_steps; ++k) {
    fit(sample, zeta_, step);
    double length = 1.0;
    double there = HUGE_VAL;
    for (int halving = 0; halving <= step_halvings; ++halving, length *= 0.5) {
      for (std::size_t j = 0; j < size_; ++j) {
        trial_[j] = zeta_[j] + length * (step.mean[j] - zeta_[j]);
      }
      there = objective(sample, trial_);
      if (there < here) break;
    }
    if (!(there < here)) break;
    zeta_.swap(trial_);
    here = there;
  }
}

void LaplaceProposal::build(const TwoTokenSample& sample, std::span<const Plane> centre) {
  if (centre.empty()) {
    find_centre(sample);
  } else {
    for (std::size_t l = 0; 2 * l < size_; ++l) {
      const double scale = 1.0 / sample.deviation[l];
      zeta_[2 * l] = (centre[l].plus - sample.omega[l].plus) * scale;
      zeta_[2 * l + 1] = (centre[l].minus - sample.omega[l].minus) * scale;
    }
    nearer_sign(sample, centre.back());
  }
  for (std::size_t l = 0; 2 * l < size_; ++l) {
    centre_[l] = {sample.omega[l].plus + sample.deviation[l] * zeta_[2 * l],
                  sample.omega[l].minus + sample.deviation[l] * zeta_[2 * l + 1]};
  }
  fit(sample, zeta_, component_);
}

}  // namespace onset::smi
