#include "smi/model/posterior/two_token_kernels.hpp"

#include <cmath>

#include "numerics/simd/clones.hpp"

namespace onset::smi::two_token {
namespace {

/// Keeps a vanishing eigenvalue (skip 0) from giving 0/0; its weight underflows to 0 all the same.
constexpr double min_lambda = 1e-18;

/// Keeps u_minus = 0 (a feasible edge after rounding) from giving 0/0; its weight underflows to 0.
constexpr double min_score = 1e-200;

/// Partial sums have a fixed number of lanes, which vectorises without fast-math and gives the same
/// bits everywhere.
constexpr std::size_t lanes = 4;

}  // namespace

ONSET_CLONES void rotate(double cosine, double sine, const double* __restrict a,
                         const double* __restrict b, double* __restrict plus,
                         double* __restrict minus, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    plus[i] = cosine * a[i] - sine * b[i];
    minus[i] = sine * a[i] + cosine * b[i];
  }
}

ONSET_CLONES void fold(Plane omega, Plane centre, Field zeta, Folded out, std::size_t n) {
  const double* __restrict p = zeta.plus;
  const double* __restrict m = zeta.minus;
  double* __restrict plus = out.plus;
  double* __restrict minus = out.minus;
  double* __restrict exponent = out.exponent;
  double* __restrict centre_plus = out.centre_plus;
  double* __restrict centre_minus = out.centre_minus;
  double* __restrict log_side = out.side;
  double* __restrict unchanged = out.unchanged;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double x = omega.plus + p[i];
    const double y = omega.minus + m[i];
    const double a = x * omega.plus + y * omega.minus;
    const double side = x * centre.plus + y * centre.minus;
    const double other_p = -p[i] - 2.0 * omega.plus;
    const double other_m = -m[i] - 2.0 * omega.minus;
    plus[i] = a < 0.0 ? other_p : p[i];
    minus[i] = a < 0.0 ? other_m : m[i];
    exponent[i] = a < 0.0 ? 2.0 * a : -2.0 * a;
    centre_plus[i] = side < 0.0 ? other_p : p[i];
    centre_minus[i] = side < 0.0 ? other_m : m[i];
    // Where the signs of a and of the side differ, the centre's side is the further one.
    const double differ = (a < 0.0 ? -1.0 : 1.0) * (side < 0.0 ? -1.0 : 1.0);
    log_side[i] = differ < 0.0 ? exponent[i] : 0.0;
    unchanged[i] = side < 0.0 ? 0.0 : unchanged[i];
  }
}

ONSET_CLONES void mirror(Plane omega, Field zeta, double* __restrict plus, double* __restrict minus,
                         std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    plus[i] = -zeta.plus[i] - 2.0 * omega.plus;
    minus[i] = -zeta.minus[i] - 2.0 * omega.minus;
  }
}

ONSET_CLONES void sign_mean(Plane omega, const double* __restrict other, Field zeta,
                            double* __restrict plus, double* __restrict minus, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    plus[i] = zeta.plus[i] - 2.0 * other[i] * (zeta.plus[i] + omega.plus);
    minus[i] = zeta.minus[i] - 2.0 * other[i] * (zeta.minus[i] + omega.minus);
  }
}

ONSET_CLONES void scores(const Stack& stack, const DrawnField& drawn, Attention out,
                         std::size_t n) {
  const double* __restrict eta_plus = drawn.eta.plus;
  const double* __restrict eta_minus = drawn.eta.minus;
  const double* __restrict mix = stack.mix;
  const double* __restrict stretch = stack.stretch;
  double* __restrict u_minus = out.minus;
  double* __restrict l1 = out.first;
  double* __restrict l2 = out.second;
  const auto [omega, deviation] = drawn.prior;
  const double beta = stack.layer.beta;
  const double gain = stack.layer.gain;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double p = omega.plus + deviation * eta_plus[i];
    const double m = omega.minus + deviation * eta_minus[i];
    const double up = gain * p + mix[i] * m;
    const double um = stretch[i] * m;
    u_minus[i] = um;
    l1[i] = beta * (um * um + up * um);
    l2[i] = beta * (um * um - up * um);
  }
}

ONSET_CLONES void advance(const Stack& stack, Attention softmax, std::size_t n) {
  const double* __restrict s1 = softmax.first;
  const double* __restrict s2 = softmax.second;
  double* __restrict mix = stack.mix;
  double* __restrict stretch = stack.stretch;
  const double c = stack.layer.skip;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double lambda = s1[i] + s2[i] - 1.0 + c;
    mix[i] = (1.0 + c) * mix[i] + (s1[i] - s2[i]) * stretch[i];
    stretch[i] *= lambda > min_lambda ? lambda : min_lambda;
  }
}

ONSET_CLONES void solve_last(const Stack& stack, Plane h, const Prior& last, Attention softmax,
                             Solution out, std::size_t n) {
  const double* __restrict u_minus = softmax.minus;
  const double* __restrict s1 = softmax.first;
  const double* __restrict s2 = softmax.second;
  const double* __restrict mix = stack.mix;
  const double* __restrict stretch = stack.stretch;
  const Layer layer = stack.layer;
  const auto [omega, deviation] = last;
  double* __restrict plus = out.plus;
  double* __restrict minus = out.minus;
  double* __restrict lambdas = out.lambda;
  double* __restrict jacobian = out.jacobian;
  double* __restrict feasible = out.feasible;
  const double c = layer.skip;
  const double inverse_gain = 1.0 / (layer.gain * (1.0 + c));
  const double jacobian_factor = 8.0 * layer.beta * layer.beta / (1.0 + c);
  const double scale = 1.0 / deviation;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double raw = s1[i] + s2[i] - 1.0 + c;
    const double lambda = raw > min_lambda ? raw : min_lambda;
    const double full_mix = (1.0 + c) * mix[i] + (s1[i] - s2[i]) * stretch[i];
    const double zm = h.minus / (lambda * stretch[i]);
    const double zp = (h.plus - full_mix * zm) * inverse_gain;
    const double slope = zm * u_minus[i] * stretch[i];
    lambdas[i] = lambda;
    jacobian[i] = jacobian_factor * slope * slope * (s1[i] * (1.0 - s1[i])) *
                  (s2[i] * (1.0 - s2[i])) / lambda;
    plus[i] = (zp - omega.plus) * scale;
    minus[i] = (zm - omega.minus) * scale;
    feasible[i] = 1.0;
  }
}

ONSET_CLONES void invert_softmax(const Stack& stack, Plane h, const DrawnField& last,
                                 Attention softmax, Odds odds, Solution out, std::size_t n) {
  const double* __restrict eta_plus = last.eta.plus;
  const double* __restrict eta_minus = last.eta.minus;
  const double* __restrict mix = stack.mix;
  const double* __restrict stretch = stack.stretch;
  double* __restrict z_minus = softmax.minus;
  double* __restrict s1 = softmax.first;
  double* __restrict s2 = softmax.second;
  double* __restrict odds1 = odds.first;
  double* __restrict odds2 = odds.second;
  const Layer layer = stack.layer;
  const auto [omega, deviation] = last.prior;
  double* __restrict lambdas = out.lambda;
  double* __restrict feasible = out.feasible;
  const double c = layer.skip;
  const double full_gain = layer.gain * (1.0 + c);
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double zp = omega.plus + deviation * eta_plus[i];
    const double zm = omega.minus + deviation * eta_minus[i];
    const double sign = h.minus * zm < 0.0 ? -1.0 : 1.0;  // lambda > 0 leaves one sign of h
    const double per_stretch = 1.0 / (zm * stretch[i]);
    const double lambda = sign * h.minus * per_stretch;
    const double t = (sign * h.plus - full_gain * zp - (1.0 + c) * mix[i] * zm) * per_stretch;
    const double a = 0.5 * (lambda - c + 1.0 + t);
    const double b = 0.5 * (lambda - c + 1.0 - t);
    // This tests that a and b lie in (0, 1) and a + b > 1, as one number so that the loop stays
    // free of branches.
    const double room_a = a < 1.0 - a ? a : 1.0 - a;
    const double room_b = b < 1.0 - b ? b : 1.0 - b;
    const double room = room_a < room_b ? room_a : room_b;
    const double excess = a + b - 1.0;
    const double slack = room < excess ? room : excess;
    const double ok = slack > 0.0 ? 1.0 : 0.0;
    const double safe_a = slack > 0.0 ? a : 0.75;
    const double safe_b = slack > 0.0 ? b : 0.75;
    lambdas[i] = slack > 0.0 ? lambda : 1.0;
    feasible[i] = ok;
    z_minus[i] = zm;
    s1[i] = safe_a;
    s2[i] = safe_b;
    odds1[i] = safe_a / (1.0 - safe_a);
    odds2[i] = safe_b / (1.0 - safe_b);
  }
}

ONSET_CLONES void solve_inner(const Stack& stack, const Prior& inner, Attention softmax,
                              Odds log_odds, Solution out, std::size_t n) {
  const double* __restrict z_minus = softmax.minus;
  const double* __restrict s1 = softmax.first;
  const double* __restrict s2 = softmax.second;
  const double* __restrict l1 = log_odds.first;
  const double* __restrict l2 = log_odds.second;
  const double* __restrict mix = stack.mix;
  const double* __restrict stretch = stack.stretch;
  const Layer layer = stack.layer;
  const auto [omega, deviation] = inner;
  double* __restrict plus = out.plus;
  double* __restrict minus = out.minus;
  double* __restrict jacobian = out.jacobian;
  const double* __restrict lambda = out.lambda;
  const double inverse_beta = 0.5 / layer.beta;
  const double inverse_gain = 1.0 / layer.gain;
  const double jacobian_factor = 8.0 * layer.beta * layer.beta / (1.0 + layer.skip);
  const double scale = 1.0 / deviation;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = l1[i] + l2[i];
    const double um = std::sqrt((sum > min_score ? sum : min_score) * inverse_beta);
    const double up = (l1[i] - l2[i]) * inverse_beta / um;
    const double zm = um / stretch[i];
    const double zp = (up - mix[i] * zm) * inverse_gain;
    const double slope = z_minus[i] * um * stretch[i];
    jacobian[i] = jacobian_factor * slope * slope * (s1[i] * (1.0 - s1[i])) *
                  (s2[i] * (1.0 - s2[i])) / lambda[i];
    plus[i] = (zp - omega.plus) * scale;
    minus[i] = (zm - omega.minus) * scale;
  }
}

ONSET_CLONES double exponents(const double* __restrict plus, const double* __restrict minus,
                              double* __restrict exponent, std::size_t n) {
  double low[lanes] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  for (std::size_t i = 0; i < n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const double e = 0.5 * (plus[i + k] * plus[i + k] + minus[i + k] * minus[i + k]);
      exponent[i + k] = e;
      low[k] = e < low[k] ? e : low[k];
    }
  }
  double lowest = low[0];
  for (std::size_t k = 1; k < lanes; ++k) lowest = low[k] < lowest ? low[k] : lowest;
  return lowest;
}

ONSET_CLONES void draw(const Gaussian& gaussian, double* const* zeta, std::size_t n) {
  const std::size_t size = gaussian.size;
  for (std::size_t row = size; row-- > 0;) {
    const double* factor = gaussian.factor + row * size;
    double* __restrict x = zeta[row];
    for (std::size_t j = row + 1; j < size; ++j) {
      const double* __restrict y = zeta[j];
      const double f = factor[j];
      for (std::size_t i = 0; i < n; ++i) x[i] -= f * y[i];
    }
    const double scale = 1.0 / factor[row];
    for (std::size_t i = 0; i < n; ++i) x[i] *= scale;
  }
  for (std::size_t row = 0; row < size; ++row) {
    double* __restrict x = zeta[row];
    const double mean = gaussian.mean[row];
    for (std::size_t i = 0; i < n; ++i) x[i] += mean;
  }
}

namespace {

/// log_ratio() for the next `count` nodes.
template <std::size_t count>
[[gnu::always_inline]] inline void log_ratio_block(const LinearLabel& label, double constant,
                                                   const double* const* zeta, std::size_t first,
                                                   double* __restrict out) {
  double a[count];
  double b[count];
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = label.offset.plus;
    b[i] = label.offset.minus;
  }
  for (std::size_t j = 0; j < label.size; ++j) {
    const double* __restrict z = zeta[j] + first;
    const double up = label.slope[j];
    const double down = label.slope[label.size + j];
    for (std::size_t i = 0; i < count; ++i) {
      a[i] += up * z[i];
      b[i] += down * z[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[first + i] = constant - 0.5 * (a[i] * a[i] + b[i] * b[i]);
  }
}

}  // namespace

ONSET_CLONES void log_ratio(const LinearLabel& label, double constant, const double* const* zeta,
                            double* __restrict out, std::size_t n) {
  constexpr std::size_t wide = 4 * lanes;
  std::size_t first = 0;
  for (; first + wide <= n; first += wide) {
    log_ratio_block<wide>(label, constant, zeta, first, out);
  }
  for (; first < n; first += lanes) log_ratio_block<lanes>(label, constant, zeta, first, out);
}

ONSET_CLONES void weights(const WeightScales& scales, const WeightTerms& terms,
                          const double* __restrict stretch, const Solution& solution,
                          double* __restrict weight, std::size_t n) {
  const auto [total_gain, last, one, inner] = scales;
  const double* __restrict jacobian = solution.jacobian;
  const double* __restrict lambda = solution.lambda;
  const double* __restrict feasible = solution.feasible;
  const double* __restrict exp_last = terms.exp_last;
  const double* __restrict other_last = terms.other_last;
  const double* __restrict ratio = terms.ratio;
  const double* __restrict exp_inner = terms.exp_inner;
  const double* __restrict other_inner = terms.other_inner;
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < n; ++i) {
    const double determinant = total_gain * lambda[i] * stretch[i];
    const double of_last = last * exp_last[i] * (1.0 - other_last[i]) * (one + ratio[i]);
    // A flat map stays flat where the exponential overflows.
    const double flow = jacobian[i] > 0.0 ? jacobian[i] * exp_inner[i] : 0.0;
    const double of_inner = inner * flow * (1.0 - other_inner[i]);
    weight[i] = feasible[i] / (determinant * (of_last + of_inner));
  }
}

ONSET_CLONES void add_product(double factor, Field a, Field b, double* __restrict out,
                              std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] += factor * (a.plus[i] * b.plus[i] + a.minus[i] * b.minus[i]);
  }
}

ONSET_CLONES double product_sum(const double* __restrict w, Field a, Field b, std::size_t n) {
  double sum[lanes] = {};
  for (std::size_t i = 0; i < n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const double product = a.plus[i + k] * b.plus[i + k] + a.minus[i + k] * b.minus[i + k];
      sum[k] += w[i + k] * product;
    }
  }
  double total = 0.0;
  for (const double lane : sum) total += lane;
  return total;
}

ONSET_CLONES std::array<double, 6> moment_sums(const double* __restrict w,
                                               const double* __restrict p,
                                               const double* __restrict m, std::size_t n) {
  double sum[6][lanes] = {};
  for (std::size_t i = 0; i < n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const double wp = w[i + k] * p[i + k];
      const double wm = w[i + k] * m[i + k];
      sum[0][k] += w[i + k];
      sum[1][k] += wp;
      sum[2][k] += wm;
      sum[3][k] += wp * p[i + k];
      sum[4][k] += wp * m[i + k];
      sum[5][k] += wm * m[i + k];
    }
  }
  std::array<double, 6> total{};
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t k = 0; k < lanes; ++k) total[row] += sum[row][k];
  }
  return total;
}

ONSET_CLONES std::array<double, 6> folded_moment_sums(const double* __restrict w,
                                                      const double* __restrict other, Plane omega,
                                                      Field zeta, std::size_t n) {
  const double* __restrict p = zeta.plus;
  const double* __restrict m = zeta.minus;
  const double shift_p = 2.0 * omega.plus;
  const double shift_m = 2.0 * omega.minus;
  double sum[6][lanes] = {};
  for (std::size_t i = 0; i < n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const double x = p[i + k];
      const double y = m[i + k];
      const double other_x = -x - shift_p;
      const double other_y = -y - shift_m;
      const double second = w[i + k] * other[i + k];
      const double first = w[i + k] - second;
      sum[0][k] += w[i + k];
      sum[1][k] += first * x + second * other_x;
      sum[2][k] += first * y + second * other_y;
      sum[3][k] += first * x * x + second * other_x * other_x;
      sum[4][k] += first * x * y + second * other_x * other_y;
      sum[5][k] += first * y * y + second * other_y * other_y;
    }
  }
  std::array<double, 6> total{};
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t k = 0; k < lanes; ++k) total[row] += sum[row][k];
  }
  return total;
}

}  // namespace onset::smi::two_token
