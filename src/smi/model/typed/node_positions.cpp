#include "smi/model/typed/node_positions.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {
namespace {

/// Near a centre, points lie this much closer than elsewhere, down to this distance of it.
constexpr double closest = 1.0 / 512.0;
constexpr double steps_per_fold = 2.0;  ///< points per factor e of the distance

}  // namespace

std::vector<Position> positions(double radius, double spacing, double shift,
                                std::optional<double> centre) {
  std::vector<Position> out;
  if (!centre) {
    const auto steps = static_cast<int>(std::ceil(radius / spacing)) + 1;
    for (int k = -steps; k < steps; ++k) {
      const double x = spacing * (k + shift);
      if (std::abs(x) < radius) out.push_back({x, spacing});
    }
    return out;
  }
  // The rule is even in s, an analytic and increasing function of the distance from the centre.
  const auto s_of = [&](double x) {
    return x / spacing + steps_per_fold * std::asinh(x / closest);
  };
  const auto rate = [&](double x) {
    return 1.0 / spacing + steps_per_fold / std::sqrt(x * x + closest * closest);
  };
  const auto first = static_cast<int>(std::floor(s_of(-radius - *centre)));
  const auto last = static_cast<int>(std::ceil(s_of(radius - *centre)));
  for (int k = first; k <= last; ++k) {
    const double s = k + shift;
    double x =
        std::copysign(std::min(std::abs(s) * spacing,
                               closest * std::sinh(std::min(30.0, std::abs(s) / steps_per_fold))),
                      s);
    for (int step = 0; step < 50; ++step) {
      const double change = (s_of(x) - s) / rate(x);
      x -= change;
      if (std::abs(change) < 1e-12 * (closest + std::abs(x))) break;
    }
    if (std::abs(*centre + x) < radius) out.push_back({*centre + x, 1.0 / rate(x)});
  }
  return out;
}

/// The columns of a normal matrix made orthonormal.
FieldMatrix random_rotation(std::size_t size, numerics::Stream& stream) {
  const auto n = static_cast<Eigen::Index>(size);
  FieldMatrix out(n, n);
  for (Eigen::Index c = 0; c < n; ++c) {
    do {
      for (Eigen::Index r = 0; r < n; ++r) out(r, c) = stream.normal();
      for (Eigen::Index k = 0; k < c; ++k) {
        out.col(c) -= out.col(k) * out.col(k).dot(out.col(c));
      }
    } while (out.col(c).norm() < 1e-8);
    out.col(c).normalize();
  }
  return out;
}

}  // namespace onset::smi
