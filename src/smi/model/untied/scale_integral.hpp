#pragma once

namespace onset::smi {

/// What a label of one layer of attention with query and key weights of their own leaves open: a
/// scale t > 0 and a sign s, with q = s t a and kappa = s (rho / t) b for known unit vectors a, b
/// [smi 90].
struct ScalePrior {
  double rho;             ///< |q| |kappa|
  double query, key;      ///< a . omega_q and b . omega_kappa
  double query_variance;  ///< V_q
  double key_variance;    ///< V_k
};

/// log of sum_s int dt N(s t; query, V_q) N(s rho / t; key, V_k), without the normalisations of the
/// two densities, and moments of d = s t - query and e = s rho / t - key under this weight.
struct ScaleMoments {
  double log_sum = 0.0;
  double query = 0.0, query_square = 0.0;  ///< <d>, <d^2>
  double key = 0.0, key_square = 0.0;      ///< <e>, <e^2>
};

/// By a trapezoid rule in y = sinh log(t / t_0), in which the integrand is as wide as it is high at
/// any V; it errs by less than 1e-10.
[[nodiscard]] ScaleMoments scale_moments(const ScalePrior& prior);

}  // namespace onset::smi
