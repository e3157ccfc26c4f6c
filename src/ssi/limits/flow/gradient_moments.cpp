#include "ssi/limits/flow/gradient_moments.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numerics/parallel.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/ssi/limits/landscape.hpp"
#include "ssi/limits/flow/product_grid.hpp"
#include "ssi/limits/origin/pair_kernels.hpp"
#include "ssi/model/parity.hpp"
#include "ssi/model/sample_slopes.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t sobol_points = 1024;
/// In few dimensions a replicate's error comes from its outermost points and is skewed: 16
/// replicates would tell too little about the scatter.
constexpr int replicates_of_one_token = 64;
constexpr int sign_choices = 4;
constexpr std::size_t product_tokens = 2;
constexpr std::size_t batch_points = ProductGrid::batch;
/// Half of the width of the finer product rule.
constexpr double fine_width = 6.4;

/// The step of the finer product rule. The unsquared norm has a cone where the fit is perfect, and
/// its slopes come from this rule alone, so its step is smaller.
double grid_step(SampleLoss loss) {
  return loss == SampleLoss::frobenius ? 0.28 : 0.4;
}

/// Whether the moments come from product rules, and not from Sobol points.
bool has_product_rules(const SequenceModel& model) {
  // Near m = 1 what a kink makes of V is narrower than the steps of both rules, so that their
  // difference does not show it. For one token replicates are more accurate besides.
  const numerics::Expression* student = model.student.link->expression();
  const bool kinks = student != nullptr && student->switches() > 0;
  if (model.tokens() == 1 && kinks && has_series(model)) return false;
  return !model.student.activation && model.tokens() <= product_tokens;
}

/// Adds both signs of both fields, so that what vanishes by symmetry at the start vanishes exactly.
void both_signs(const SequenceModel& model, double rate, OverlapNodes::Node node,
                const numerics::NormalBatch& points, std::span<double> out) {
  const std::size_t size = model.tokens() * points.count;
  std::vector<double> teacher(size);
  std::vector<double> zeta(size);
  std::fill(out.begin(), out.end(), 0.0);
  for (int choice = 0; choice < sign_choices; ++choice) {
    const double a = choice % 2 == 0 ? 1.0 : -1.0;
    const double b = choice / 2 == 0 ? 1.0 : -1.0;
    for (std::size_t p = 0; p < size; ++p) {
      teacher[p] = a * points.normals[p];
      zeta[p] = b * points.normals[size + p];
    }
    add_gradient_moments(model, rate, node, SlopeMethod::gradient,
                         {points.count, teacher.data(), zeta.data()}, out);
  }
  for (double& x : out) x /= sign_choices;
}

std::vector<double> by_grid(const SequenceModel& model, double rate, OverlapNodes::Node node,
                            const ProductGrid& grid) {
  const std::size_t tokens = model.tokens();
  const auto method = node.m * node.m < 0.75 ? SlopeMethod::density : SlopeMethod::gradient;
  std::vector<double> sums(moment_rows, 0.0);
  std::vector<double> out(moment_rows * batch_points);
  for (std::size_t first = 0; first < grid.weights.size(); first += batch_points) {
    const double* x = grid.points.data() + 2 * tokens * first;
    std::fill(out.begin(), out.end(), 0.0);
    add_gradient_moments(model, rate, node, method, {batch_points, x, x + tokens * batch_points},
                         out);
    for (std::size_t r = 0; r < moment_rows; ++r) {
      for (std::size_t p = 0; p < batch_points; ++p)
        sums[r] += grid.weights[first + p] * out[r * batch_points + p];
    }
  }
  return sums;
}

/// Curvatures of the risk at the start: E of the loss times the second derivatives of the density.
void add_curvatures(const SequenceModel& model, const ProductGrid& grid, MomentTables& tables) {
  const std::size_t tokens = model.tokens();
  const std::size_t outputs = model.target->outputs();
  const EncodingShifts shifts{model.teacher_shifts(), model.shifts()};
  std::vector<double> y(outputs * batch_points);
  std::vector<double> f(outputs * batch_points);
  std::vector<double> loss(batch_points);
  double along_e = 0.0;
  double along_m = 0.0;
  for (std::size_t first = 0; first < grid.weights.size(); first += batch_points) {
    const double* teacher = grid.points.data() + 2 * tokens * first;
    const double* z = teacher + tokens * batch_points;
    model.target->values(batch_points, teacher, y.data());
    model.student.link->values(batch_points, z, f.data());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = f[k] - y[k];
    loss_values(model.loss, outputs, batch_points, y.data(), loss.data());
    for (std::size_t p = 0; p < batch_points; ++p) {
      const PairKernels kernels = pair_kernels(shifts, batch_points, p, teacher, z);
      const double weight = grid.weights[first + p] * loss[p];
      along_m += weight * kernels.second_along_m;
      along_e += weight * kernels.second_along_e;
    }
  }
  tables.curvature_e.push_back(along_e);
  tables.curvature_m.push_back(along_m);
}

/// Whether m -> -m and e -> -e leave the risk as it is. Encodings that see the teacher break it.
bool is_even_in_both(const SequenceModel& model) {
  return is_even(*model.target) && is_even(*model.student.link) && !model.encodings_see_teacher();
}

/// Signs of the moments under m -> -m and e -> -e, for models that are even in both fields.
constexpr double under_m[moment_rows] = {-1, 1, 1, -1, 1, 1};
constexpr double under_e[moment_rows] = {1, -1, 1, -1, 1, 1};

MomentTables by_grids(const SequenceModel& model, double rate, const OverlapNodes& nodes,
                      const Context& context) {
  // The two rules differ in step and in what they leave out, so that their difference shows both
  // errors.
  const double step = grid_step(model.loss);
  const ProductGrid grids[2] = {product_grid(2 * model.tokens(), step, fine_width, 1e-9),
                                product_grid(2 * model.tokens(), 1.15 * step, 5.7, 1e-7)};
  const auto& list = nodes.nodes();
  const bool even = is_even_in_both(model);
  const auto first_quadrant = [&](const OverlapNodes::Node& x) { return x.e >= 0.0 && x.m >= 0.0; };
  MomentTables tables;
  tables.product_rules = true;
  tables.values.assign(2, std::vector<double>(moment_rows * list.size()));
  for (const ProductGrid& grid : grids) add_curvatures(model, grid, tables);
  numerics::parallel_for(context, 2 * list.size(), [&](std::size_t job) {
    const std::size_t i = job / 2;
    if (even && !first_quadrant(list[i])) return;
    const auto sums = by_grid(model, rate, list[i], grids[job % 2]);
    for (std::size_t r = 0; r < moment_rows; ++r) {
      tables.values[job % 2][r * list.size() + i] = sums[r];
    }
  });
  if (!even) return tables;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (first_quadrant(list[i])) continue;
    const auto twin = std::find_if(list.begin(), list.end(), [&](const OverlapNodes::Node& x) {
      return first_quadrant(x) && std::abs(x.e - std::abs(list[i].e)) < 1e-12 &&
             std::abs(x.m - std::abs(list[i].m)) < 1e-12;
    });
    const auto from = static_cast<std::size_t>(twin - list.begin());
    for (std::size_t r = 0; r < moment_rows; ++r) {
      const double sign =
          (list[i].m < 0.0 ? under_m[r] : 1.0) * (list[i].e < 0.0 ? under_e[r] : 1.0);
      for (auto& table : tables.values) {
        table[r * list.size() + i] = sign * table[r * list.size() + from];
      }
    }
  }
  return tables;
}

MomentTables by_sobol(const SequenceModel& model, double rate, const OverlapNodes& nodes,
                      std::uint64_t seed, const Context& context) {
  numerics::ExpectationOptions options;
  options.dimensions = static_cast<int>(2 * model.tokens());
  options.outputs = static_cast<int>(moment_rows);
  options.points = sobol_points;
  options.seed = seed;
  if (model.tokens() == 1) options.replicates = replicates_of_one_token;
  const std::size_t count = nodes.nodes().size();
  MomentTables tables;
  tables.values.assign(static_cast<std::size_t>(options.replicates),
                       std::vector<double>(moment_rows * count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = numerics::gaussian_expectation(
        options,
        [&](const numerics::NormalBatch& points, std::span<double> out) {
          both_signs(model, rate, nodes.nodes()[i], points, out);
        },
        context);
    for (std::size_t r = 0; r < moment_rows; ++r) {
      for (std::size_t k = 0; k < tables.values.size(); ++k) {
        tables.values[k][r * count + i] = result[r][k];
      }
    }
  }
  return tables;
}

}  // namespace

void add_gradient_moments(const SequenceModel& model, double rate, OverlapNodes::Node node,
                          SlopeMethod method, const FieldBatch& fields, std::span<double> out) {
  const auto [count, teacher, zeta] = fields;
  const std::size_t tokens = model.tokens();
  const auto shifts = model.shifts();
  const auto teacher_shifts = model.teacher_shifts();
  const double q = std::sqrt(std::max(0.0, 1.0 - node.m * node.m));
  const double turn = q > 0.0 ? node.e / q : 0.0;
  std::vector<double> z(tokens * count);
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t p = i * count; p < (i + 1) * count; ++p) {
      z[p] = node.m * (teacher[p] + teacher_shifts[i]) + q * zeta[p] + node.e * shifts[i];
    }
  }
  const auto [loss, delta] = sample_slopes(model, count, teacher, z.data());
  for (std::size_t p = 0; p < count; ++p) {
    double a = 0.0;
    double b = 0.0;
    double radial = 0.0;
    double square = 0.0;
    double score_e = 0.0;
    double score_m = 0.0;
    for (std::size_t i = 0; i < tokens; ++i) {
      const double x = zeta[i * count + p];
      const double d = delta[i * count + p];
      const double along = teacher[i * count + p] + teacher_shifts[i];
      score_e += x * shifts[i] / q;
      score_m += x * along / q + (1.0 - x * x) * node.m / (q * q);
      a += d * along;
      b += d * (turn * x + shifts[i]);
      radial += d * z[i * count + p];
      square += d * d;
    }
    const double shrink = radial - 0.5 * rate * square;
    const double u = a - node.m * shrink;
    const double v = b - node.e * shrink;
    // The means leave out the learning-rate term, which is added from V.
    if (method == SlopeMethod::gradient) {
      out[mean_u * count + p] += a - node.m * radial;
      out[mean_v * count + p] += b - node.e * radial;
    } else {
      const double radial_score = node.m * score_m + node.e * score_e;
      out[mean_u * count + p] += loss[p] * (score_m - node.m * radial_score);
      out[mean_v * count + p] += loss[p] * (score_e - node.e * radial_score);
    }
    out[uu * count + p] += u * u;
    out[uv * count + p] += u * v;
    out[vv * count + p] += v * v;
    out[variance * count + p] += square;
  }
}

MomentTables gradient_moments(const SequenceModel& model, double rate, const OverlapNodes& nodes,
                              std::uint64_t seed, const Context& context) {
  if (has_product_rules(model)) {
    return by_grids(model, rate, nodes, context);
  }
  return by_sobol(model, rate, nodes, seed, context);
}

double gradient_moments_seconds(const SequenceModel& model, const OverlapNodes& nodes) {
  // This was measured: it is what a token of a point takes besides the links.
  constexpr double ns_per_token = 12.0;
  const Link& student = *model.student.link;
  const auto tokens = static_cast<double>(model.tokens());
  const double point =
      model.target->value_ns() + student.value_ns() + student.pullback_ns() + ns_per_token * tokens;
  double points = static_cast<double>(numerics::default_replicates) *
                  static_cast<double>(sign_choices) * static_cast<double>(sobol_points);
  if (has_product_rules(model)) {
    // The finer rule keeps a ball of points, and the coarser about half as many; even models need a
    // quarter of the nodes.
    const double ball = std::pow(std::numbers::pi, tokens) / std::tgamma(tokens + 1.0);
    points = 1.5 * ball * std::pow(fine_width / grid_step(model.loss), 2.0 * tokens);
    if (is_even_in_both(model)) points *= 0.25;
  }
  return 1e-9 * points * point * static_cast<double>(nodes.nodes().size());
}

}  // namespace onset::ssi
