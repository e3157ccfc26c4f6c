#include "smi/model/uninformed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "smi/model/posterior/two_token_kernels.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;
using numerics::Replicates;

/// The grid of the label's plane: a trapezoid rule in h_plus, in units of the total gain, and
/// another in tau with h_minus = exp(tau). Both integrands are analytic and decay doubly
/// exponentially or like a Gaussian, so the rule converges faster than any power; grid_error checks
/// it at every call.
constexpr double plus_step = 0.5;
constexpr double plus_end = 9.0;
constexpr double log_minus_step = 0.25;
constexpr double max_minus = 11.0;         // in units of the total gain
constexpr double lowest_log_minus = -9.0;  // below the smallest eigenvalue; constant from there
constexpr double floor_log_minus = -40.0;  // skip 0: the density has an integrable edge at 0

/// What every label needs to know about the inner fields, one entry per lattice node.
struct InnerNodes {
  std::vector<double> fields;        // plus and minus of every inner layer
  std::vector<double> mix, stretch;  // of B_{L-1}
};

double total_gain(const DeepAttention& model) {
  double gain = 1.0;
  for (int l = 0; l + 1 < model.layers; ++l) gain *= 1.0 + model.skip_of(l);
  return gain;
}

InnerNodes inner_nodes(const DeepAttention& model, const UninformedOptions& options,
                       std::uint64_t replicate) {
  const std::size_t n = options.nodes;
  const int inner = model.layers - 1;
  InnerNodes nodes{std::vector<double>(static_cast<std::size_t>(2 * inner) * n),
                   std::vector<double>(n, 0.0), std::vector<double>(n, 1.0)};
  numerics::shifted_lattice(2 * inner, n, options.seed, replicate)->points(0, n, nodes.fields);
  simd::normal_quantile(nodes.fields, nodes.fields);
  std::vector<double> softmax(2 * n);
  std::vector<double> u_minus(n);
  double gain = 1.0;
  for (int index = 0; index < inner; ++index) {
    const double* plus = nodes.fields.data() + static_cast<std::size_t>(2 * index) * n;
    const double* minus = plus + n;
    const two_token::Stack stack{
        {model.beta, model.skip_of(index), gain}, nodes.mix.data(), nodes.stretch.data()};
    const two_token::Attention attention{u_minus.data(), softmax.data(), softmax.data() + n};
    two_token::scores(stack, {{.omega = {0.0, 0.0}, .deviation = 1.0}, {plus, minus}}, attention,
                      n);
    simd::sigmoid(softmax, softmax);
    two_token::advance(stack, attention, n);
    gain *= 1.0 + model.skip_of(index);
  }
  return nodes;
}

/// Integrals over the label's plane or a part of it, on the full grid and on every other point.
struct PlaneIntegral {
  explicit PlaneIntegral(std::size_t layers) : growth(layers, 0.0), coarse_growth(layers, 0.0) {}
  std::vector<double> growth, coarse_growth;
  double evidence = 0.0;
  double mass = 0.0;
  double last_norm = 0.0;

  void add(const PlaneIntegral& part, double weight, double coarse_weight) {
    for (std::size_t l = 0; l < growth.size(); ++l) {
      growth[l] += weight * part.growth[l];
      coarse_growth[l] += coarse_weight * part.coarse_growth[l];
    }
    evidence += weight * part.evidence;
    mass += weight * part.mass;
    last_norm += weight * part.last_norm;
  }
};

/// p ||E[z z^T | h] - I||_F^2 from the weighted sums over nodes, p = sums[0].
double growth_density(const std::array<double, 6>& sums) {
  const double pp = sums[3] - sums[0];
  const double mm = sums[5] - sums[0];
  return sums[0] > 0.0 ? (pp * pp + 2.0 * sums[4] * sums[4] + mm * mm) / sums[0] : 0.0;
}

/// The integral over h_plus >= 0 at one h_minus [smi 17]; the plane's four quadrants are alike.
PlaneIntegral integrate_line(const DeepAttention& model, const InnerNodes& nodes, double h_minus) {
  const std::size_t n = nodes.mix.size();
  const auto layers = static_cast<std::size_t>(model.layers);
  const double gain = total_gain(model);
  const double scale = 1.0 / (2.0 * std::numbers::pi * gain * static_cast<double>(n));
  std::vector<double> z_minus(n), shift(n), base(n), z_plus(n), weight(n);
  for (std::size_t i = 0; i < n; ++i) {
    z_minus[i] = h_minus / nodes.stretch[i];
    shift[i] = nodes.mix[i] * z_minus[i];
    base[i] = -0.5 * z_minus[i] * z_minus[i];
  }
  simd::exp(base, base);
  for (std::size_t i = 0; i < n; ++i) base[i] *= scale / nodes.stretch[i];

  PlaneIntegral line(layers);
  const double step = plus_step * gain;
  const int count = static_cast<int>(std::lround(plus_end / plus_step));
  for (int k = 0; k <= count; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      z_plus[i] = (step * k - shift[i]) / gain;
      weight[i] = -0.5 * z_plus[i] * z_plus[i];
    }
    simd::exp(weight, weight);
    for (std::size_t i = 0; i < n; ++i) weight[i] *= base[i];

    PlaneIntegral point(layers);
    for (std::size_t l = 0; l < layers; ++l) {
      const bool last = l + 1 == layers;
      const double* plus = last ? z_plus.data() : nodes.fields.data() + 2 * l * n;
      const double* minus = last ? z_minus.data() : plus + n;
      const auto sums = two_token::moment_sums(weight.data(), plus, minus, n);
      point.growth[l] = point.coarse_growth[l] = growth_density(sums);
      if (last) {
        point.mass = sums[0];
        point.last_norm = sums[3] + sums[5];
        // Both signs of h give the same label: Z_out = 2 p(h).
        if (sums[0] > 0.0) point.evidence = sums[0] * std::log(2.0 * sums[0]);
      }
    }
    const double end = k == 0 ? 0.5 : 1.0;
    line.add(point, end * step, k % 2 == 0 ? 2.0 * end * step : 0.0);
  }
  return line;
}

/// Grid of log h_minus, bottom to top.
std::vector<double> log_minus_grid(const DeepAttention& model) {
  double log_min = 0.0;  // the logarithm of the smallest product of eigenvalues
  for (int l = 0; l + 1 < model.layers; ++l) log_min += std::log(model.skip_of(l));
  const double top = std::log(max_minus * total_gain(model));
  const double bottom = std::max(floor_log_minus, lowest_log_minus + std::min(0.0, log_min));
  std::vector<double> grid;
  for (double tau = top; tau > bottom; tau -= log_minus_step) grid.push_back(tau);
  return grid;
}

Uninformed one_layer(const DeepAttention& model, const UninformedOptions& options) {
  const auto r = static_cast<std::size_t>(options.replicates);
  const double m = model.tokens;
  const double evidence =
      std::numbers::ln2 - 0.5 * m * std::log(2.0 * std::numbers::pi * std::numbers::e);
  return {{Replicates(r, m * (m + 1.0))},
          Replicates(r, evidence),
          Replicates(r, 1.0),
          Replicates(r, m),
          {0.0}};
}

}  // namespace

void UninformedOptions::validate() const {
  if (nodes < 16 || nodes > numerics::max_lattice_size || (nodes & (nodes - 1)) != 0) {
    throw InvalidArgument("nodes", std::to_string(nodes) +
                                       " is not allowed; allowed: a power of two from 16 to 65536");
  }
  if (replicates < 2) throw InvalidArgument("replicates", "allowed: 2 or more");
}

bool has_uninformed_rule(const DeepAttention& model) {
  const int lattice_dimensions = 2 * (model.layers - 1);
  return model.plain() && (model.layers == 1 || model.tokens == 2) &&
         lattice_dimensions <= numerics::max_lattice_dimensions;
}

Uninformed uninformed_channel(const DeepAttention& model, const UninformedOptions& options,
                              const Context& context) {
  model.validate();
  options.validate();
  if (!has_uninformed_rule(model)) {
    throw Refused(
        "the channel at overlap 0 has a deterministic rule for one layer or two tokens, "
        "rank one, no noise and independent tokens only");
  }
  if (model.layers == 1) return one_layer(model, options);
  const auto replicates = static_cast<std::size_t>(options.replicates);
  const auto layers = static_cast<std::size_t>(model.layers);
  const std::vector<double> grid = log_minus_grid(model);
  std::vector<InnerNodes> nodes(replicates);
  numerics::parallel_for(context, replicates,
                         [&](std::size_t r) { nodes[r] = inner_nodes(model, options, r); });
  std::vector<PlaneIntegral> lines(replicates * grid.size(), PlaneIntegral(layers));
  numerics::parallel_for(context, lines.size(), [&](std::size_t k) {
    lines[k] = integrate_line(model, nodes[k / grid.size()], std::exp(grid[k % grid.size()]));
  });

  Uninformed result;
  result.growth.resize(layers);
  std::vector<double> coarse(layers, 0.0);
  for (std::size_t r = 0; r < replicates; ++r) {
    PlaneIntegral total(layers);
    for (std::size_t k = 0; k < grid.size(); ++k) {
      // The weight has dh_minus = h_minus dtau and four quadrants. Below the grid the integrand is
      // constant, which leaves a geometric series of weights.
      const double tail = k + 1 == grid.size() ? 1.0 / (1.0 - std::exp(-log_minus_step)) : 1.0;
      const double weight = 4.0 * std::exp(grid[k]) * log_minus_step * tail;
      total.add(lines[r * grid.size() + k], weight, k % 2 == 0 ? 2.0 * weight : 0.0);
    }
    for (std::size_t l = 0; l < layers; ++l) {
      result.growth[l].push_back(total.growth[l]);
      coarse[l] += total.coarse_growth[l] / static_cast<double>(replicates);
    }
    result.log_evidence.push_back(total.evidence);
    result.mass.push_back(total.mass);
    result.last_norm.push_back(total.last_norm);
  }
  for (std::size_t l = 0; l < layers; ++l) {
    const double fine = numerics::mean(result.growth[l]);
    // Convergence is exponential, so that halving the step squares the error.
    const double coarse_error = std::abs(coarse[l] - fine) / fine;
    result.grid_error.push_back(coarse_error * coarse_error);
  }
  return result;
}

}  // namespace onset::smi
