#include "smi/model/two_token_kernels.hpp"

#include <cmath>

#include "onset/numerics/simd/clones.hpp"

namespace onset::smi::two_token {
namespace {

/// Keeps a vanishing eigenvalue (skip 0) out of 0/0; its weight underflows to 0 all the same.
constexpr double smallest_lambda = 1e-18;

/// Keeps u_minus = 0 (a feasible edge after rounding) out of 0/0; its weight underflows to 0.
constexpr double smallest_score = 1e-200;

/// Partial sums with a fixed number of lanes: vectorises without fast-math, same bits everywhere.
constexpr std::size_t lanes = 4;

}  // namespace

ONSET_CLONES void rotate(double cosine, double sine, const double* __restrict a,
                         const double* __restrict b, double* __restrict plus,
                         double* __restrict minus, double* __restrict half_norm, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double p = cosine * a[i] - sine * b[i];
    const double m = sine * a[i] + cosine * b[i];
    plus[i] = p;
    minus[i] = m;
    half_norm[i] = 0.5 * (p * p + m * m);
  }
}

ONSET_CLONES void scores(const Layer& layer, Plane omega, double deviation,
                         const double* __restrict eta_plus, const double* __restrict eta_minus,
                         const double* __restrict mix, const double* __restrict stretch,
                         double* __restrict u_minus, double* __restrict l1, double* __restrict l2,
                         std::size_t n) {
  const double beta = layer.beta;
  const double gain = layer.gain;
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

ONSET_CLONES void advance(const Layer& layer, const double* __restrict s1,
                          const double* __restrict s2, double* __restrict mix,
                          double* __restrict stretch, std::size_t n) {
  const double c = layer.skip;
  for (std::size_t i = 0; i < n; ++i) {
    const double lambda = s1[i] + s2[i] - 1.0 + c;
    mix[i] = (1.0 + c) * mix[i] + (s1[i] - s2[i]) * stretch[i];
    stretch[i] *= lambda > smallest_lambda ? lambda : smallest_lambda;
  }
}

ONSET_CLONES void solve_last(const Layer& layer, Plane h, Plane omega, double deviation,
                             const double* __restrict u_minus, const double* __restrict s1,
                             const double* __restrict s2, const double* __restrict mix,
                             const double* __restrict stretch, Solution out, std::size_t n) {
  double* __restrict plus = out.plus;
  double* __restrict minus = out.minus;
  double* __restrict lambdas = out.lambda;
  double* __restrict jacobian = out.jacobian;
  double* __restrict feasible = out.feasible;
  const double c = layer.skip;
  const double inverse_gain = 1.0 / (layer.gain * (1.0 + c));
  const double jacobian_factor = 8.0 * layer.beta * layer.beta / (1.0 + c);
  const double scale = 1.0 / deviation;
  for (std::size_t i = 0; i < n; ++i) {
    const double raw = s1[i] + s2[i] - 1.0 + c;
    const double lambda = raw > smallest_lambda ? raw : smallest_lambda;
    const double full_mix = (1.0 + c) * mix[i] + (s1[i] - s2[i]) * stretch[i];
    const double zm = h.minus / (lambda * stretch[i]);
    const double zp = (h.plus - full_mix * zm) * inverse_gain;
    const double slope = zm * u_minus[i] * stretch[i];
    lambdas[i] = lambda;
    jacobian[i] = jacobian_factor * slope * slope * (s1[i] * (1.0 - s1[i])) *
                  (s2[i] * (1.0 - s2[i])) / lambda;
    plus[i] = (zp - omega.plus) * scale;
    minus[i] = (zm - omega.minus) * scale;
    plus[n + i] = (-zp - omega.plus) * scale;
    minus[n + i] = (-zm - omega.minus) * scale;
    feasible[i] = 1.0;
  }
}

ONSET_CLONES void invert_softmax(const Layer& layer, Plane h, Plane omega, double deviation,
                                 const double* __restrict eta_plus,
                                 const double* __restrict eta_minus, const double* __restrict mix,
                                 const double* __restrict stretch, double* __restrict z_minus,
                                 double* __restrict s1, double* __restrict s2,
                                 double* __restrict odds1, double* __restrict odds2, Solution out,
                                 std::size_t n) {
  double* __restrict lambdas = out.lambda;
  double* __restrict feasible = out.feasible;
  const double c = layer.skip;
  const double full_gain = layer.gain * (1.0 + c);
  for (std::size_t i = 0; i < n; ++i) {
    const double zp = omega.plus + deviation * eta_plus[i];
    const double zm = omega.minus + deviation * eta_minus[i];
    const double sign = h.minus * zm < 0.0 ? -1.0 : 1.0;  // lambda > 0 leaves one sign of h
    const double per_stretch = 1.0 / (zm * stretch[i]);
    const double lambda = sign * h.minus * per_stretch;
    const double t = (sign * h.plus - full_gain * zp - (1.0 + c) * mix[i] * zm) * per_stretch;
    const double a = 0.5 * (lambda - c + 1.0 + t);
    const double b = 0.5 * (lambda - c + 1.0 - t);
    // All of a, b in (0, 1) and a + b > 1, as one number so that the loop stays free of branches.
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

ONSET_CLONES void solve_inner(const Layer& layer, Plane omega, double deviation,
                              const double* __restrict z_minus, const double* __restrict s1,
                              const double* __restrict s2, const double* __restrict l1,
                              const double* __restrict l2, const double* __restrict mix,
                              const double* __restrict stretch, Solution out, std::size_t n) {
  double* __restrict plus = out.plus;
  double* __restrict minus = out.minus;
  double* __restrict jacobian = out.jacobian;
  const double* __restrict lambda = out.lambda;
  const double inverse_beta = 0.5 / layer.beta;
  const double inverse_gain = 1.0 / layer.gain;
  const double jacobian_factor = 8.0 * layer.beta * layer.beta / (1.0 + layer.skip);
  const double scale = 1.0 / deviation;
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = l1[i] + l2[i];
    const double um = std::sqrt((sum > smallest_score ? sum : smallest_score) * inverse_beta);
    const double up = (l1[i] - l2[i]) * inverse_beta / um;
    const double zm = um / stretch[i];
    const double zp = (up - mix[i] * zm) * inverse_gain;
    const double slope = z_minus[i] * um * stretch[i];
    jacobian[i] = jacobian_factor * slope * slope * (s1[i] * (1.0 - s1[i])) *
                  (s2[i] * (1.0 - s2[i])) / lambda[i];
    plus[i] = (zp - omega.plus) * scale;
    minus[i] = (zm - omega.minus) * scale;
    plus[n + i] = (-zp - omega.plus) * scale;
    minus[n + i] = (-zm - omega.minus) * scale;
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

ONSET_CLONES void log_ratio(const Gaussian& gaussian, double constant, const double* const* zeta,
                            double* __restrict out, std::size_t n) {
  const std::size_t size = gaussian.size;
  // Two rows at a time; beyond the diagonal block the images of the rows are sums over coordinates.
  constexpr std::size_t chunk = 4 * lanes;
  for (std::size_t i = 0; i < n; ++i) out[i] = constant;
  for (std::size_t row = 0; row < size; row += 2) {
    const double* upper = gaussian.factor + row * size;
    const double* lower = upper + size;
    const double* __restrict p = zeta[row];
    const double* __restrict m = zeta[row + 1];
    const double mean_p = gaussian.mean[row];
    const double mean_m = gaussian.mean[row + 1];
    const double pp = upper[row];
    const double pm = upper[row + 1];
    const double mm = lower[row + 1];
    if (row + 2 == size) {
      for (std::size_t i = 0; i < n; ++i) {
        const double a = pp * (p[i] - mean_p) + pm * (m[i] - mean_m);
        const double b = mm * (m[i] - mean_m);
        out[i] += 0.5 * ((p[i] * p[i] - a * a) + (m[i] * m[i] - b * b));
      }
      continue;
    }
    for (std::size_t first = 0; first < n; first += chunk) {
      const std::size_t count = n - first < chunk ? n - first : chunk;
      double a[chunk];
      double b[chunk];
      for (std::size_t i = 0; i < count; ++i) {
        a[i] = pp * (p[first + i] - mean_p) + pm * (m[first + i] - mean_m);
        b[i] = mm * (m[first + i] - mean_m);
      }
      for (std::size_t j = row + 2; j < size; ++j) {
        const double* __restrict z = zeta[j] + first;
        for (std::size_t i = 0; i < count; ++i) {
          a[i] += upper[j] * (z[i] - gaussian.mean[j]);
          b[i] += lower[j] * (z[i] - gaussian.mean[j]);
        }
      }
      for (std::size_t i = 0; i < count; ++i) {
        const double x = p[first + i];
        const double y = m[first + i];
        out[first + i] += 0.5 * ((x * x - a[i] * a[i]) + (y * y - b[i] * b[i]));
      }
    }
  }
}

ONSET_CLONES void weights(double total_gain, double last, double one, double inner,
                          const WeightTerms& terms, const double* __restrict stretch,
                          const Solution& solution, double* __restrict weight,
                          double* __restrict weight_sum, std::size_t n) {
  const double* __restrict jacobian = solution.jacobian;
  const double* __restrict lambda = solution.lambda;
  const double* __restrict feasible = solution.feasible;
  for (std::size_t sign = 0; sign < 2; ++sign) {
    const double* __restrict exp_last = terms.exp_last[sign];
    const double* __restrict ratio = terms.ratio[sign];
    const double* __restrict exp_inner = terms.exp_inner[sign];
    double* __restrict out = weight + sign * n;
    for (std::size_t i = 0; i < n; ++i) {
      const double determinant = total_gain * lambda[i] * stretch[i];
      const double prior = last * exp_last[i] * (one + ratio[i]);
      out[i] = feasible[i] / (determinant * (prior + inner * jacobian[i] * exp_inner[i]));
    }
  }
  for (std::size_t i = 0; i < n; ++i) weight_sum[i] = weight[i] + weight[n + i];
}

ONSET_CLONES void add_product(double factor, Field a, Field b, double* __restrict out,
                              std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] += factor * (a.plus[i] * b.plus[i] + a.minus[i] * b.minus[i]);
  }
}

ONSET_CLONES void scale(const double* __restrict factor, double* __restrict weight,
                        double* __restrict weight_sum, std::size_t n) {
  for (std::size_t i = 0; i < 2 * n; ++i) weight[i] *= factor[i];
  for (std::size_t i = 0; i < n; ++i) weight_sum[i] = weight[i] + weight[n + i];
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

}  // namespace onset::smi::two_token
