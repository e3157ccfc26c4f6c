#include "smi/model/posterior/one_layer_posterior.hpp"

#include <cmath>
#include <numbers>

namespace onset::smi {

void OneLayerPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto m = static_cast<std::size_t>(tokens_);
  const std::size_t count = query.count;
  const double variance = query.variance[0];
  const double scale = 1.0 / std::sqrt(variance);
  const double log_norm = -0.5 * tokens_ * std::log(2.0 * std::numbers::pi * variance);
  std::vector<double> plus(m);   // zeta at z = +h
  std::vector<double> minus(m);  // zeta at z = -h
  PosteriorMoments::Half& half = out.half[0];
  for (std::size_t i = 0; i < count; ++i) {
    double e_plus = 0.0;
    double e_minus = 0.0;
    for (std::size_t t = 0; t < m; ++t) {
      const double h = query.label[t * count + i];
      const double w = query.omega[t * count + i];
      plus[t] = (h - w) * scale;
      minus[t] = (-h - w) * scale;
      e_plus += 0.5 * plus[t] * plus[t];
      e_minus += 0.5 * minus[t] * minus[t];
    }
    const double low = std::fmin(e_plus, e_minus);
    const double w_plus = std::exp(low - e_plus);
    const double w_minus = std::exp(low - e_minus);
    const double z = w_plus + w_minus;
    half.log_z[i] = log_norm - low + std::log(z);
    std::size_t pair = 0;
    for (std::size_t t = 0; t < m; ++t) {
      half.mean[t * count + i] = (w_plus * plus[t] + w_minus * minus[t]) / z;
      for (std::size_t s = 0; s <= t; ++s, ++pair) {
        half.second[pair * count + i] =
            (w_plus * plus[t] * plus[s] + w_minus * minus[t] * minus[s]) / z;
      }
    }
  }
  out.half[1] = out.half[0];
}

}  // namespace onset::smi
