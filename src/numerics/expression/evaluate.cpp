#include <cmath>
#include <numbers>
#include <span>

#include "numerics/expression/tape.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::numerics {
namespace {

template <class Function>
void each(std::size_t count, const double* x, double* out, const Function& f) {
  for (std::size_t i = 0; i < count; ++i) out[i] = f(x[i]);
}

/// Computes He_k by its recurrence.
void hermite(std::size_t order, double scale, std::size_t count, const double* x, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    double before = 0.0;
    double now = scale;
    for (std::size_t k = 0; k < order; ++k) {
      const double next = x[i] * now - static_cast<double>(k) * before;
      before = now;
      now = next;
    }
    out[i] = now;
  }
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double sign(double x) {
  return static_cast<double>(x > 0.0) - static_cast<double>(x < 0.0);
}

void unary_value(Operation operation, std::size_t count, const double* x, double* out) {
  const std::span<const double> in(x, count);
  const std::span<double> result(out, count);
  switch (operation) {
    case Operation::negate: return each(count, x, out, [](double v) { return -v; });
    case Operation::exp: return simd::exp(in, result);
    case Operation::log: return simd::log(in, result);
    case Operation::sigmoid: return simd::sigmoid(in, result);
    case Operation::sqrt: return each(count, x, out, [](double v) { return std::sqrt(v); });
    case Operation::sin: return each(count, x, out, [](double v) { return std::sin(v); });
    case Operation::cos: return each(count, x, out, [](double v) { return std::cos(v); });
    case Operation::tan: return each(count, x, out, [](double v) { return std::tan(v); });
    case Operation::sinh: return each(count, x, out, [](double v) { return std::sinh(v); });
    case Operation::cosh: return each(count, x, out, [](double v) { return std::cosh(v); });
    case Operation::tanh: return each(count, x, out, [](double v) { return std::tanh(v); });
    case Operation::atan: return each(count, x, out, [](double v) { return std::atan(v); });
    case Operation::erf: return each(count, x, out, [](double v) { return std::erf(v); });
    case Operation::softplus: return each(count, x, out, softplus);
    case Operation::abs: return each(count, x, out, [](double v) { return std::abs(v); });
    case Operation::sign: return each(count, x, out, sign);
    case Operation::step: return each(count, x, out, [](double v) { return v > 0.0 ? 1.0 : 0.0; });
    default: return each(count, x, out, [](double v) { return v > 0.0 ? v : 0.0; });  // relu
  }
}

/// The derivative of a function of one argument, whose value is y.
void unary_slope(Operation operation, std::size_t count, const double* x, const double* y,
                 double* out) {
  const auto from_x = [&](const auto& f) { each(count, x, out, f); };
  const auto from_y = [&](const auto& f) { each(count, y, out, f); };
  switch (operation) {
    case Operation::negate: return from_x([](double) { return -1.0; });
    case Operation::exp: return from_y([](double v) { return v; });
    case Operation::log: return from_x([](double v) { return 1.0 / v; });
    case Operation::sigmoid: return from_y([](double v) { return v * (1.0 - v); });
    case Operation::sqrt: return from_y([](double v) { return 0.5 / v; });
    case Operation::sin: return from_x([](double v) { return std::cos(v); });
    case Operation::cos: return from_x([](double v) { return -std::sin(v); });
    case Operation::tan: return from_y([](double v) { return 1.0 + v * v; });
    case Operation::sinh: return from_x([](double v) { return std::cosh(v); });
    case Operation::cosh: return from_x([](double v) { return std::sinh(v); });
    case Operation::tanh: return from_y([](double v) { return 1.0 - v * v; });
    case Operation::atan: return from_x([](double v) { return 1.0 / (1.0 + v * v); });
    case Operation::erf:
      return from_x([](double v) { return 2.0 * std::numbers::inv_sqrtpi * std::exp(-v * v); });
    case Operation::softplus: return simd::sigmoid({x, count}, {out, count});
    case Operation::abs: return from_x([](double v) { return v > 0.0 ? 1.0 : -1.0; });
    case Operation::sign:
    case Operation::step: return from_x([](double) { return 0.0; });
    default: return from_x([](double v) { return v > 0.0 ? 1.0 : 0.0; });  // relu
  }
}

/// x^p. Small whole powers are products, so that they are as exact as the user's z*z*z, and fast;
/// the first is the slope of a square.
double power(double x, double p) {
  if (p == 1.0) return x;
  if (p == 2.0) return x * x;
  if (p == 3.0) return x * x * x;
  if (p == 4.0) return x * x * (x * x);
  return std::pow(x, p);
}

double power_slope(std::size_t argument, double x, double p) {
  if (argument == 0) return p == 0.0 ? 0.0 : p * power(x, p - 1.0);
  return std::pow(x, p) * std::log(x);
}

}  // namespace

void evaluate_node(const Node& node, std::size_t count, const double* inputs,
                   const std::vector<const double*>& values, double* out) {
  switch (node.operation) {
    case Operation::constant:
      for (std::size_t i = 0; i < count; ++i) out[i] = node.value;
      return;
    case Operation::variable:
      for (std::size_t i = 0; i < count; ++i) out[i] = inputs[node.index * count + i];
      return;
    case Operation::sum:
      for (std::size_t i = 0; i < count; ++i) out[i] = values[0][i];
      for (std::size_t a = 1; a < values.size(); ++a) {
        for (std::size_t i = 0; i < count; ++i) out[i] += values[a][i];
      }
      return;
    case Operation::multiply:
      for (std::size_t i = 0; i < count; ++i) out[i] = values[0][i] * values[1][i];
      return;
    case Operation::divide:
      for (std::size_t i = 0; i < count; ++i) out[i] = values[0][i] / values[1][i];
      return;
    case Operation::power:
      for (std::size_t i = 0; i < count; ++i) out[i] = power(values[0][i], values[1][i]);
      return;
    case Operation::minimum:
      for (std::size_t i = 0; i < count; ++i) out[i] = std::min(values[0][i], values[1][i]);
      return;
    case Operation::maximum:
      for (std::size_t i = 0; i < count; ++i) out[i] = std::max(values[0][i], values[1][i]);
      return;
    case Operation::hermite: return hermite(node.index, node.value, count, values[0], out);
    default: return unary_value(node.operation, count, values[0], out);
  }
}

void differentiate_node(const Node& node, std::size_t a, std::size_t count,
                        const std::vector<const double*>& values, const double* value,
                        double* out) {
  const auto fill = [&](const auto& f) {
    for (std::size_t i = 0; i < count; ++i) out[i] = f(i);
  };
  const double* x = values[0];
  const double* y = values.size() > 1 ? values[1] : nullptr;
  switch (node.operation) {
    case Operation::sum: return fill([](std::size_t) { return 1.0; });
    case Operation::multiply: return fill([&](std::size_t i) { return values[1 - a][i]; });
    case Operation::divide:
      if (a == 0) return fill([&](std::size_t i) { return 1.0 / y[i]; });
      return fill([&](std::size_t i) { return -value[i] / y[i]; });
    case Operation::power: return fill([&](std::size_t i) { return power_slope(a, x[i], y[i]); });
    case Operation::minimum:
      return fill([&](std::size_t i) { return (x[i] <= y[i]) == (a == 0) ? 1.0 : 0.0; });
    case Operation::maximum:
      return fill([&](std::size_t i) { return (x[i] >= y[i]) == (a == 0) ? 1.0 : 0.0; });
    case Operation::hermite: {
      const auto k = static_cast<double>(node.index);
      if (node.index == 0) return fill([](std::size_t) { return 0.0; });
      return hermite(node.index - 1, k * node.value, count, x, out);
    }
    default: return unary_slope(node.operation, count, x, value, out);
  }
}

}  // namespace onset::numerics
