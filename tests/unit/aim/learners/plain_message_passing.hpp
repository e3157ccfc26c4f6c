#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "aim/limits/spectrum.hpp"
#include "aim/model/channel.hpp"
#include "aim/model/data.hpp"
#include "numerics/linear_algebra/dense.hpp"

namespace onset::aim {

/// [aim 28] as it is written, with the d x d matrix Z_ab of every score, damped by a half.
class PlainMessagePassing {
 public:
  PlainMessagePassing(const AttentionIndexed& model, const Dataset& data)
      : model_(model),
        data_(data),
        output_(model.channel->output(model, data)),
        d_(data.dim),
        s_(d_ * d_, 0.0) {
    for (std::size_t i = 0; i < d_; ++i) s_[i * d_ + i] = std::sqrt(model.rho);
    anchor_ = s_;
    const double root = std::sqrt(static_cast<double>(d_));
    for (std::size_t s = 0; s < data.samples; ++s) {
      for (std::size_t a = 0; a < data.tokens; ++a) {
        for (std::size_t b = a; b < data.tokens; ++b) {
          const double* x = &data.inputs[(s * data.tokens + a) * d_];
          const double* y = &data.inputs[(s * data.tokens + b) * d_];
          double xx = 0.0;
          double yy = 0.0;
          std::vector<double> z(d_ * d_);
          for (std::size_t i = 0; i < d_; ++i) {
            xx += x[i] * x[i] / static_cast<double>(d_);
            yy += y[i] * y[i] / static_cast<double>(d_);
            for (std::size_t j = 0; j < d_; ++j) {
              const double one = a == b && i == j ? 1.0 : 0.0;
              z[i * d_ + j] = (0.5 * (x[i] * y[j] + x[j] * y[i]) - one) / root;
            }
          }
          z_.push_back(z);
          relative_.push_back((a == b ? 2.0 : 1.0) * xx * yy);
        }
      }
    }
    g_.assign(z_.size(), 0.0);
  }

  const std::vector<double>& iterate() {
    const std::size_t each = data_.tokens * (data_.tokens + 1) / 2;
    const double keep = omega_.empty() ? 0.0 : 0.5;
    omega_.resize(z_.size(), 0.0);
    std::vector<double> variance(z_.size());
    for (std::size_t m = 0; m < z_.size(); ++m) {
      variance[m] = v_ * relative_[m];
      double h = 0.0;
      for (std::size_t i = 0; i < d_ * d_; ++i) h += z_[m][i] * s_[i];
      omega_[m] = keep * omega_[m] + (1.0 - keep) * (h - variance[m] * g_[m]);
    }
    double q_hat = 0.0;
    for (std::size_t s = 0; s < data_.samples; ++s) {
      output_->gradient(s, {&omega_[s * each], each}, {&variance[s * each], each},
                        {&g_[s * each], each});
    }
    for (std::size_t i = 0; i < d_ * d_; ++i) anchor_[i] = keep * anchor_[i] + (1 - keep) * s_[i];
    std::vector<double> r(d_ * d_, 0.0);
    for (std::size_t m = 0; m < z_.size(); ++m) {
      q_hat += 2.0 * relative_[m] * g_[m] * g_[m] / static_cast<double>(d_ * d_);
      for (std::size_t i = 0; i < d_ * d_; ++i) r[i] += g_[m] * z_[m][i];
    }
    for (std::size_t i = 0; i < d_ * d_; ++i) {
      r[i] = anchor_[i] + 2.0 / (static_cast<double>(d_) * q_hat) * r[i];
    }
    denoise(r, q_hat);
    if (!model_.channel->fixes_length()) set_length();
    v_ = 0.75 * v_ + 0.25 * asked_;
    return s_;
  }

 private:
  void denoise(std::vector<double> r, double q_hat) {
    std::vector<double> values(d_);
    numerics::symmetric_eigen(d_, r, values);
    const NoisySpectrum spectrum(model_.rho, 1.0 / q_hat);
    std::fill(s_.begin(), s_.end(), 0.0);
    for (std::size_t k = 0; k < d_; ++k) {
      const double xi = spectrum.denoiser(values[k]);
      for (std::size_t i = 0; i < d_ * d_; ++i) {
        s_[i] += xi * r[k * d_ + i / d_] * r[k * d_ + i % d_];
      }
    }
    asked_ = spectrum.mmse().value;
  }

  /// ||S_hat||^2 / d = Q_0 + 1/d - V.
  void set_length() {
    double now = 0.0;
    for (const double x : s_) now += x * x / static_cast<double>(d_);
    const double wanted = 1.0 + model_.rho + 1.0 / static_cast<double>(d_) - asked_;
    for (double& x : s_) x *= std::sqrt(wanted / now);
  }

  const AttentionIndexed& model_;
  const Dataset& data_;
  std::unique_ptr<const OutputFunction> output_;
  std::size_t d_;
  std::vector<std::vector<double>> z_;
  std::vector<double> relative_, omega_, g_, s_, anchor_;
  double v_ = 1.0;
  double asked_ = 1.0;
};

}  // namespace onset::aim
