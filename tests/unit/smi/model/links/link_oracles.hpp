#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "onset/smi/model/sequence_model.hpp"

/// What the tests of links compare with: posteriors asked one at a time, and integrals of the prior
/// that share nothing with the library.
namespace onset::smi::link_oracle {

struct Moments {
  double log_z = 0.0;
  std::vector<double> mean;
  std::vector<double> second;
};

/// The library's posterior for one sample.
inline Moments ask(const SequenceModel& model, const std::vector<double>& label,
                   const std::vector<double>& omega, const std::vector<double>& variance) {
  PosteriorMoments moments(model.shape(), 1);
  model.posterior({})->moments({1, label, omega, variance, 0, 0, {}}, moments);
  return {moments.half[0].log_z[0], moments.half[0].mean, moments.half[0].second};
}

inline double density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}
inline double cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// An integral over consecutive pieces, each cut into `parts` for a 30-point rule: exact to
/// rounding when a part is not longer than a few lengths over which f changes.
template <class F>
double integral(const F& f, const std::vector<double>& ends, int parts = 8) {
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double width = (ends[i + 1] - ends[i]) / parts;
    for (int k = 0; k < parts && width > 0.0; ++k) {
      const double from = ends[i] + k * width;
      sum += boost::math::quadrature::gauss<double, 30>::integrate(f, from, from + width);
    }
  }
  return sum;
}

/// Where label(z) crosses a level, for z within 12 standard deviations of omega: scanned finely,
/// then bisected.
template <class Label>
std::vector<double> crossings(const Label& label, double level, double omega, double deviation) {
  constexpr int cells = 20000;
  std::vector<double> out;
  const double low = omega - 12.0 * deviation;
  const double width = 24.0 * deviation / cells;
  for (int i = 0; i < cells; ++i) {
    double a = low + i * width;
    double b = a + width;
    const bool below = label(a) < level;
    if (below == (label(b) < level)) continue;
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (a + b);
      ((label(middle) < level) == below ? a : b) = middle;
    }
    out.push_back(0.5 * (a + b));
  }
  return out;
}

/// E[f(zeta) 1(from < label < to)] of one field under its prior.
template <class Label, class F>
double restricted(const Label& label, const F& f, double from, double to, double omega,
                  double variance) {
  const double deviation = std::sqrt(variance);
  std::vector<double> ends = {omega - 12.0 * deviation, omega, omega + 12.0 * deviation};
  for (const double level : {from, to}) {
    const std::vector<double> found = crossings(label, level, omega, deviation);
    ends.insert(ends.end(), found.begin(), found.end());
  }
  std::sort(ends.begin(), ends.end());
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double inside = label(0.5 * (ends[i] + ends[i + 1]));
    if (inside < from || inside > to) continue;
    sum += integral([&](double zeta) { return f(zeta) * density(zeta); },
                    {(ends[i] - omega) / deviation, (ends[i + 1] - omega) / deviation});
  }
  return sum;
}

}  // namespace onset::smi::link_oracle
