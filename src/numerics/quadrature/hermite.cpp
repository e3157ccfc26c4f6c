#include "onset/numerics/hermite.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// The number of points per call of a BatchFunction.
constexpr std::size_t points_at_once = 512;
/// The largest number of values that a projection may need.
constexpr double max_values = 2e8;

std::size_t power(std::size_t base, std::size_t exponent) {
  std::size_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// f at all points of the grid, output by output; the last axis runs fastest.
std::vector<double> on_grid(const BatchFunction& f, const Rule& rule,
                            std::span<const double> shift) {
  const std::size_t n = rule.nodes.size();
  const std::size_t points = power(n, f.dimensions);
  std::vector<double> values(f.outputs * points);
  std::vector<double> x(f.dimensions * points_at_once);
  std::vector<double> out(f.outputs * points_at_once);
  for (std::size_t first = 0; first < points; first += points_at_once) {
    const std::size_t count = std::min(points_at_once, points - first);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t rest = first + i;
      for (std::size_t d = f.dimensions; d-- > 0; rest /= n) {
        x[d * count + i] = rule.nodes[rest % n] + (shift.empty() ? 0.0 : shift[d]);
      }
    }
    f.evaluate(count, x.data(), out.data());
    for (std::size_t k = 0; k < f.outputs; ++k) {
      std::copy_n(out.data() + k * count, count, values.data() + k * points + first);
    }
  }
  return values;
}

double mean_square(const std::vector<double>& values, const Rule& rule, std::size_t dimensions,
                   std::size_t outputs) {
  const std::size_t n = rule.nodes.size();
  std::vector<double> squares(values.size() / outputs, 0.0);
  for (std::size_t k = 0; k < outputs; ++k) {
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double v = values[k * squares.size() + i];
      squares[i] += v * v;
    }
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t rows = squares.size() / n;
    std::vector<double> next(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < n; ++j) next[r] += rule.weights[j] * squares[r * n + j];
    }
    squares = std::move(next);
  }
  return squares[0];
}

/// Turns [rows][n] into [degree + 1][rows]: the last axis is contracted, and its order comes first.
std::vector<double> contract(const std::vector<double>& values, std::size_t n,
                             std::span<const double> weighted, std::size_t orders) {
  const std::size_t rows = values.size() / n;
  std::vector<double> out(orders * rows, 0.0);
  for (std::size_t k = 0; k < orders; ++k) {
    const double* w = weighted.data() + k * n;
    for (std::size_t r = 0; r < rows; ++r) {
      const double* v = values.data() + r * n;
      double lanes[4] = {0.0, 0.0, 0.0, 0.0};
      std::size_t j = 0;
      for (; j + 4 <= n; j += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] += w[j + lane] * v[j + lane];
      }
      for (; j < n; ++j) lanes[0] += w[j] * v[j];
      out[k * rows + r] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }
  return out;
}

}  // namespace

void hermite_polynomials(double x, std::span<double> out) {
  double before = 0.0;
  double now = 1.0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = now;
    const auto order = static_cast<double>(k);
    const double next = (x * now - std::sqrt(order) * before) / std::sqrt(order + 1.0);
    before = now;
    now = next;
  }
}

HermiteSeries::HermiteSeries(std::size_t dimensions, std::size_t outputs, std::size_t degree)
    : dimensions_(dimensions),
      outputs_(outputs),
      degree_(degree),
      box_(power(degree + 1, dimensions)),
      coefficients_(outputs * box_, 0.0) {}

std::size_t HermiteSeries::place(std::span<const std::size_t> k) const {
  std::size_t place = 0;
  for (const std::size_t order : k) place = place * (degree_ + 1) + order;
  return place;
}

void HermiteSeries::for_each(std::size_t s, const Visit& visit) const {
  std::vector<std::size_t> k(dimensions_, 0);
  // Distributes what is left of s over the axes from `axis` on; the last takes the rest.
  const std::function<void(std::size_t, std::size_t)> distribute = [&](std::size_t axis,
                                                                       std::size_t left) {
    if (axis + 1 == dimensions_) {
      k[axis] = left;
      visit(place(k), k);
      return;
    }
    for (std::size_t order = 0; order <= left; ++order) {
      k[axis] = order;
      distribute(axis + 1, left - order);
    }
  };
  if (s <= degree_) distribute(0, s);
}

double HermiteSeries::weight(std::size_t s) const {
  return product(*this, s);
}

double HermiteSeries::product(const HermiteSeries& other, std::size_t s) const {
  if (other.dimensions_ != dimensions_ || other.outputs_ != outputs_) {
    throw InvalidArgument("series", "two series of different shapes have no product");
  }
  double total = 0.0;
  if (s > degree_ || s > other.degree_) return total;
  for_each(s, [&](std::size_t p, std::span<const std::size_t> k) {
    const std::size_t q = other.place(k);
    for (std::size_t o = 0; o < outputs_; ++o) total += at(o, p) * other.at(o, q);
  });
  return total;
}

HermiteSeries HermiteSeries::derivative(std::span<const double> direction) const {
  HermiteSeries result(dimensions_, outputs_, degree_ == 0 ? 0 : degree_ - 1);
  if (degree_ == 0) return result;
  std::vector<std::size_t> raised(dimensions_);
  for (std::size_t s = 0; s < degree_; ++s) {
    result.for_each(s, [&](std::size_t p, std::span<const std::size_t> k) {
      for (std::size_t i = 0; i < dimensions_; ++i) {
        std::copy(k.begin(), k.end(), raised.begin());
        ++raised[i];
        const double factor = direction[i] * std::sqrt(static_cast<double>(raised[i]));
        const std::size_t q = place(raised);
        for (std::size_t o = 0; o < outputs_; ++o) result.at(o, p) += factor * at(o, q);
      }
    });
  }
  return result;
}

double HermiteProjection::rest() const {
  double inside = 0.0;
  for (std::size_t s = 0; s <= series.degree(); ++s) inside += series.weight(s);
  return std::max(0.0, square - inside);
}

HermiteProjection hermite_series(const BatchFunction& f, const Rule& rule, std::size_t degree,
                                 std::span<const double> shift) {
  const std::size_t n = rule.nodes.size();
  const double size =
      std::pow(static_cast<double>(std::max(n, degree + 1)), static_cast<double>(f.dimensions)) *
      static_cast<double>(f.outputs);
  if (!(size <= max_values)) {
    throw InvalidArgument("degree", "the grid of this projection has too many points");
  }
  std::vector<double> weighted((degree + 1) * n);
  std::vector<double> polynomials(degree + 1);
  for (std::size_t j = 0; j < n; ++j) {
    hermite_polynomials(rule.nodes[j], polynomials);
    for (std::size_t k = 0; k <= degree; ++k) {
      weighted[k * n + j] = polynomials[k] * rule.weights[j];
    }
  }
  const std::vector<double> values = on_grid(f, rule, shift);
  HermiteProjection result{HermiteSeries(f.dimensions, f.outputs, degree),
                           mean_square(values, rule, f.dimensions, f.outputs)};
  const std::size_t points = power(n, f.dimensions);
  for (std::size_t o = 0; o < f.outputs; ++o) {
    std::vector<double> array(values.begin() + static_cast<std::ptrdiff_t>(o * points),
                              values.begin() + static_cast<std::ptrdiff_t>((o + 1) * points));
    for (std::size_t d = 0; d < f.dimensions; ++d) array = contract(array, n, weighted, degree + 1);
    std::copy(
        array.begin(), array.end(),
        result.series.coefficients_.begin() + static_cast<std::ptrdiff_t>(o * result.series.box_));
  }
  return result;
}

}  // namespace onset::numerics
