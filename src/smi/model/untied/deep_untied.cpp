#include "smi/model/untied/deep_untied.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "numerics/linear_algebra/dense.hpp"
#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/clones.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;
using numerics::Replicates;

constexpr int pair_of_tokens = 2;
/// Numbers of a layer that its label depends on: two queries, and the difference of two keys.
constexpr std::size_t numbers_per_layer = 3;

/// The rule over labels v = r (cos phi, sin phi), phi = 45 degrees - psi: a trapezoid rule in
/// log tan psi over a quarter of the circle, since the label does not see the sign of v, nor which
/// token is which; and one in log r. A layer that nearly averages the tokens leaves labels close to
/// psi = 0. At both ends what is left is a geometric series. Stretches below `least_stretch` do not
/// count.
constexpr double tangent_step = 0.4;
constexpr int tangent_cells = 30;  // to both sides: tan psi from exp(-12) to exp(12)
constexpr std::size_t rays_each = 2 * tangent_cells + 1;
constexpr double log_step = 0.35;
constexpr double max_label_length = 40.0;  // in units of the largest stretch: exp(-28) is left
constexpr double lowest_log = -16.0;  // the density is 1 / r there, and its rest a geometric series
constexpr double lowest_log_with_zeros = -32.0;  // skips below 1: stretches reach 0
constexpr double least_stretch = 1e-12;

/// What every label needs to know about the inner fields, one entry per node.
struct UntiedNodes {
  std::vector<double> fields;              // q_1, q_2 and kappa of every inner layer
  std::array<std::vector<double>, 4> map;  // B, then x = map v
  std::vector<double> stretch;             // what happens to differences of tokens
};

double total_stretch(const DeepUntied& model) {
  double stretch = 1.0;
  for (int l = 0; l + 1 < model.layers; ++l) stretch *= 1.0 + model.skip_of(l);
  return stretch;
}

UntiedNodes untied_nodes(const DeepUntied& model, const RuleAtZero& rule, std::uint64_t replicate) {
  const std::size_t n = rule.nodes;
  const int inner = model.layers - 1;
  const int rows = static_cast<int>(numbers_per_layer) * inner;
  UntiedNodes nodes;
  nodes.fields.resize(static_cast<std::size_t>(rows) * n);
  numerics::shifted_lattice(rows, n, rule.seed, replicate)->points(0, n, nodes.fields);
  simd::normal_quantile(nodes.fields, nodes.fields);
  for (std::size_t e = 0; e < 4; ++e) nodes.map[e].assign(n, e == 0 || e == 3 ? 1.0 : 0.0);
  nodes.stretch.assign(n, 1.0);
  std::vector<double> share(2 * n);  // attention of both tokens to the first one
  for (int layer = 0; layer < inner; ++layer) {
    const double* q1 =
        nodes.fields.data() + numbers_per_layer * static_cast<std::size_t>(layer) * n;
    const double* q2 = q1 + n;
    const double* key = q2 + n;
    auto& [b11, b12, b21, b22] = nodes.map;
    for (std::size_t i = 0; i < n; ++i) {
      const double score = model.beta * std::numbers::sqrt2 * nodes.stretch[i] * key[i];
      share[i] = score * (b11[i] * q1[i] + b12[i] * q2[i]);
      share[n + i] = score * (b21[i] * q1[i] + b22[i] * q2[i]);
    }
    simd::sigmoid(share, share);
    const double skip = model.skip_of(layer);
    for (std::size_t i = 0; i < n; ++i) {
      const double s1 = share[i], s2 = share[n + i];
      const double first = b11[i], second = b12[i];
      b11[i] = (s1 + skip) * first + (1.0 - s1) * b21[i];
      b12[i] = (s1 + skip) * second + (1.0 - s1) * b22[i];
      b21[i] = s2 * first + (1.0 - s2 + skip) * b21[i];
      b22[i] = s2 * second + (1.0 - s2 + skip) * b22[i];
      nodes.stretch[i] *= s1 - s2 + skip;
    }
  }
  // x = B^{-1} v / (sqrt 2 stretch).
  const double gain = total_stretch(model);
  for (std::size_t i = 0; i < n; ++i) {
    auto& [b11, b12, b21, b22] = nodes.map;
    // det B = gain * stretch, since one eigenvalue of every layer is 1 + skip.
    const double scale = 1.0 / (std::numbers::sqrt2 * nodes.stretch[i] * gain * nodes.stretch[i]);
    const std::array<double, 4> b = {b11[i], b12[i], b21[i], b22[i]};
    b11[i] = scale * b[3];
    b12[i] = -scale * b[1];
    b21[i] = -scale * b[2];
    b22[i] = scale * b[0];
  }
  return nodes;
}

/// Growth of the overlaps within a layer, a map of 2 x 2 matrices (queries and keys), row by row.
using Growth = std::array<double, 16>;

/// Integrals over labels on the full grid and on every other point.
struct LabelSums {
  explicit LabelSums(std::size_t layers) : growth(layers), coarse(layers) {}
  std::vector<Growth> growth, coarse;
  double evidence = 0.0, mass = 0.0;

  void add(const LabelSums& part) {
    for (std::size_t l = 0; l < growth.size(); ++l) {
      for (std::size_t e = 0; e < 16; ++e) {
        growth[l][e] += part.growth[l][e];
        coarse[l][e] += part.coarse[l][e];
      }
    }
    evidence += part.evidence;
    mass += part.mass;
  }
};

/// Weighted means of what a layer's label depends on.
struct LayerMeans {
  double q11, q12, q22, key, mixed1, mixed2;  ///< of q q^T, kappa^2 and kappa q
};

/// E sum_{mn} T_{pm,qn} T_{p'm,q'n} at one label [smi 98], T = <z z^T> - I over both tokens of
/// queries and keys, of which only kappa, along (1, -1) / sqrt 2, is seen.
void add_growth(const LayerMeans& mean, double weight, Growth& out) {
  const double n[2] = {1.0 / std::numbers::sqrt2, -1.0 / std::numbers::sqrt2};
  double t[4][4];
  t[0][0] = mean.q11 - 1.0;
  t[0][1] = t[1][0] = mean.q12;
  t[1][1] = mean.q22 - 1.0;
  for (std::size_t j = 0; j < 2; ++j) {
    t[0][2 + j] = t[2 + j][0] = mean.mixed1 * n[j];
    t[1][2 + j] = t[2 + j][1] = mean.mixed2 * n[j];
    for (std::size_t i = 0; i < 2; ++i) t[2 + i][2 + j] = (mean.key - 1.0) * n[i] * n[j];
  }
  for (std::size_t e = 0; e < 16; ++e) {
    const std::size_t p = e >> 3 & 1, p2 = e >> 2 & 1, q = e >> 1 & 1, q2 = e & 1;
    double sum = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      sum += t[2 * p + k / 2][2 * q + k % 2] * t[2 * p2 + k / 2][2 * q2 + k % 2];
    }
    out[e] += weight * sum;
  }
}

/// Sum of weight[i] x[i] y[i] in eight fixed lanes.
ONSET_CLONES double weighted(const double* weight, const double* x, const double* y,
                             std::size_t n) {
  double lane[8] = {};
  for (std::size_t i = 0; i + 8 <= n; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) lane[j] += weight[i + j] * x[i + j] * y[i + j];
  }
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

std::vector<double> log_lengths(const DeepUntied& model) {
  bool zeros = false;
  double least = 0.0;
  for (int l = 0; l + 1 < model.layers; ++l) {
    zeros = zeros || model.skip_of(l) <= 1.0;
    least += model.skip_of(l) > 1.0 ? std::log(model.skip_of(l) - 1.0) : 0.0;
  }
  const double top = std::log(max_label_length) + 2.0 * std::log(total_stretch(model));
  const double bottom = zeros ? lowest_log_with_zeros : lowest_log + 2.0 * std::min(0.0, least);
  std::vector<double> grid;
  for (double tau = top; tau > bottom; tau -= log_step) grid.push_back(tau);
  return grid;
}

/// The integral over the length of v at one angle.
LabelSums integrate_ray(const DeepUntied& model, const UntiedNodes& nodes, std::size_t angle,
                        const std::vector<double>& grid) {
  const std::size_t n = nodes.stretch.size();
  const auto layers = static_cast<std::size_t>(model.layers);
  const int cell_number = static_cast<int>(angle) - tangent_cells;
  const double psi = std::atan(std::exp(tangent_step * cell_number));
  const double phi = 0.25 * std::numbers::pi - psi;
  const bool outermost = std::abs(cell_number) == tangent_cells;
  const double arc = 4.0 * std::sin(psi) * std::cos(psi) * tangent_step *
                     (outermost ? 1.0 / (1.0 - std::exp(-tangent_step)) : 1.0);
  const double c = std::cos(phi), s = std::sin(phi);
  std::vector<double> x1(n), x2(n), length(n), base(n), weight(n), part(n);
  const double gain = total_stretch(model);
  for (std::size_t i = 0; i < n; ++i) {
    x1[i] = nodes.map[0][i] * c + nodes.map[1][i] * s;
    x2[i] = nodes.map[2][i] * c + nodes.map[3][i] * s;
    length[i] = std::hypot(x1[i], x2[i]);
    // The density of x = kappa q is exp(-|x|) / (2 pi |x|); dx / dv = 1 / (2 stretch^2 det B).
    const double stretch = std::abs(nodes.stretch[i]);
    base[i] = stretch > least_stretch ? 1.0 / (4.0 * std::numbers::pi * length[i] * stretch *
                                               stretch * stretch * gain * static_cast<double>(n))
                                      : 0.0;
  }
  LabelSums out(layers);
  const std::vector<double> ones(n, 1.0);
  for (std::size_t k = 0; k < grid.size(); ++k) {
    const double r = std::exp(grid[k]);
    for (std::size_t i = 0; i < n; ++i) weight[i] = -r * length[i];
    simd::exp(weight, weight);
    for (std::size_t i = 0; i < n; ++i) weight[i] *= base[i] / r;
    const double density = weighted(weight.data(), ones.data(), ones.data(), n);
    if (!(density > 0.0)) continue;
    // Below the grid the density is proportional to 1 / r, and r^2 times it to r.
    const double tail = k + 1 == grid.size() ? 1.0 / (1.0 - std::exp(-log_step)) : 1.0;
    const double cell = arc * log_step * tail * r * r * density;
    const bool coarse = angle % 2 == 0 && k % 2 == 0;
    out.mass += cell;
    out.evidence += cell * std::log(2.0 * density);
    for (std::size_t l = 0; l < layers; ++l) {
      LayerMeans mean{};
      if (l + 1 == layers) {
        // Given x, <t^2> = 1 + |x| and <kappa^2> = |x| [smi 91]; kappa q is x itself.
        for (std::size_t i = 0; i < n; ++i) {
          part[i] = weight[i] * (1.0 + r * length[i]) / (length[i] * length[i]);
        }
        mean = {weighted(part.data(), x1.data(), x1.data(), n),
                weighted(part.data(), x1.data(), x2.data(), n),
                weighted(part.data(), x2.data(), x2.data(), n),
                r * weighted(weight.data(), length.data(), ones.data(), n),
                r * weighted(weight.data(), x1.data(), ones.data(), n),
                r * weighted(weight.data(), x2.data(), ones.data(), n)};
      } else {
        const double* q1 = nodes.fields.data() + numbers_per_layer * l * n;
        const double *q2 = q1 + n, *key = q2 + n;
        mean = {weighted(weight.data(), q1, q1, n),  weighted(weight.data(), q1, q2, n),
                weighted(weight.data(), q2, q2, n),  weighted(weight.data(), key, key, n),
                weighted(weight.data(), key, q1, n), weighted(weight.data(), key, q2, n)};
      }
      for (double* x : {&mean.q11, &mean.q12, &mean.q22, &mean.key, &mean.mixed1, &mean.mixed2}) {
        *x /= density;
      }
      add_growth(mean, cell, out.growth[l]);
      if (coarse) add_growth(mean, 4.0 * cell, out.coarse[l]);
    }
  }
  return out;
}

/// Clears the entries that change sign with the keys.
void drop_odd(Growth& growth) {
  for (unsigned e = 0; e < growth.size(); ++e) {
    if (std::popcount(e) % 2 == 1) growth[e] = 0.0;
  }
}

/// The largest eigenvalue of a map of symmetric matrices.
double largest_eigenvalue(const Growth& growth) {
  std::vector<double> matrix(growth.begin(), growth.end()), values(4);
  numerics::symmetric_eigen(4, matrix, values);
  return values.back();
}

class DeepUntiedModel final : public SequenceModel {
 public:
  explicit DeepUntiedModel(const DeepUntied& model)
      : model_(model),
        shape_{pair_of_tokens, std::vector<int>(2 * static_cast<std::size_t>(model.layers), 1)} {}

  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override { return pair_of_tokens; }
  [[nodiscard]] double constraints() const override { return pair_of_tokens; }
  /// v = (k_1 - k_2) q of the last layer: what the scores show.
  void label(std::span<const double> fields, std::span<const double> /*noise*/,
             std::span<double> label) const override {
    double u[4];  // queries and keys of the layer at hand, after those below it
    std::vector<double> rest(fields.begin(), fields.end());
    for (int l = 0;; ++l) {
      std::copy_n(rest.begin() + 4 * l, 4, u);
      if (l + 1 == model_.layers) break;
      const double s[2] = {share(u, 0), share(u, 1)};
      for (std::size_t f = 4 * (static_cast<std::size_t>(l) + 1); f < rest.size(); f += 2) {
        const double a = rest[f], b = rest[f + 1];
        rest[f] = s[0] * a + (1.0 - s[0]) * b + model_.skip_of(l) * a;
        rest[f + 1] = s[1] * a + (1.0 - s[1]) * b + model_.skip_of(l) * b;
      }
    }
    label[0] = u[0] * (u[2] - u[3]);
    label[1] = u[1] * (u[2] - u[3]);
  }
  [[nodiscard]] int prediction_size() const override { return pair_of_tokens; }
  /// The attention of both tokens to the first one.
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    label(fields, {}, out);
    for (double& x : out) x = 1.0 / (1.0 + std::exp(-model_.beta * x));
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& /*options*/) const override {
    throw Refused(fmt::format(
        "untied weights of {} layers have no posterior at hand where something is learned: it is "
        "an "
        "integral over {} inner fields of a sample, and over the scale that the last layer's label "
        "leaves; allowed: `layers = 1`, or smi thresholds with `stages = 1`",
        model_.layers, numbers_per_layer * (static_cast<std::size_t>(model_.layers) - 1)));
  }

  [[nodiscard]] std::optional<ChannelAtZero> channel_at_zero(
      const RuleAtZero& rule, const Context& context) const override {
    const auto layers = static_cast<std::size_t>(model_.layers);
    const std::size_t replicates = numerics::default_replicates;
    const std::vector<double> grid = log_lengths(model_);
    std::vector<UntiedNodes> nodes(replicates);
    numerics::parallel_for(context, replicates,
                           [&](std::size_t r) { nodes[r] = untied_nodes(model_, rule, r); });
    std::vector<LabelSums> rays(replicates * rays_each, LabelSums(layers));
    numerics::parallel_for(context, rays.size(), [&](std::size_t k) {
      rays[k] = integrate_ray(model_, nodes[k / rays_each], k % rays_each, grid);
    });
    ChannelAtZero out;
    out.growth.resize(2 * layers);
    out.pull.assign(2 * layers, Replicates(replicates, 0.0));
    std::vector<double> coarse(layers, 0.0);
    for (std::size_t r = 0; r < replicates; ++r) {
      LabelSums total(layers);
      for (std::size_t a = 0; a < rays_each; ++a) total.add(rays[r * rays_each + a]);
      for (std::size_t l = 0; l < layers; ++l) {
        // A change of sign of the last keys alone turns v into -v, which is as likely.
        if (l + 1 == layers) {
          drop_odd(total.growth[l]);
          drop_odd(total.coarse[l]);
        }
        const double growth = largest_eigenvalue(total.growth[l]);
        out.growth[2 * l].push_back(growth);
        out.growth[2 * l + 1].push_back(growth);
        coarse[l] += largest_eigenvalue(total.coarse[l]) / static_cast<double>(replicates);
      }
      out.log_evidence.push_back(total.evidence);
      // What the grid misses of the labels it may miss of the growth rates.
      out.log_evidence_bias = std::max(out.log_evidence_bias, std::abs(total.mass - 1.0));
    }
    for (std::size_t l = 0; l < layers; ++l) {
      const double fine = numerics::mean(out.growth[2 * l]);
      // Convergence is exponential, so that halving the steps squares the error.
      const double coarse_error = std::abs(coarse[l] - fine) / fine;
      out.relative_bias.insert(out.relative_bias.end(), 2, coarse_error * coarse_error);
    }
    return out;
  }

 private:
  /// The attention of a token to the first one.
  [[nodiscard]] double share(const double* u, std::size_t token) const {
    return 1.0 / (1.0 + std::exp(-model_.beta * u[token] * (u[2] - u[3])));
  }

  DeepUntied model_;
  FieldShape shape_;
};

}  // namespace

std::unique_ptr<SequenceModel> deep_untied_model(const DeepUntied& model) {
  const int rows = static_cast<int>(numbers_per_layer) * (model.layers - 1);
  if (rows > numerics::max_lattice_dimensions) {
    throw Refused(fmt::format(
        "the first threshold of {} layers with untied weights is an integral over {} inner fields; "
        "allowed: up to {} layers",
        model.layers, rows,
        1 + numerics::max_lattice_dimensions / static_cast<int>(numbers_per_layer)));
  }
  return std::make_unique<DeepUntiedModel>(model);
}

}  // namespace onset::smi
