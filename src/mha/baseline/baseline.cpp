#include "mha/baseline/baseline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "mha/learners/polish/separable_fit.hpp"
#include "mha/learners/refusal/reasons.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t max_held_out = 500;
constexpr double last_rate = 0.01;

std::vector<Vector> random_thetas(const BaselineOptions& options, int dim, int start) {
  std::vector<Vector> thetas;
  for (int i = 0; i < options.heads; ++i) {
    Vector theta(dim * dim);
    numerics::Stream(options.seed, "mha baseline theta",
                     static_cast<std::uint64_t>(start * max_heads + i))
        .normal({theta.data(), static_cast<std::size_t>(theta.size())});
    thetas.emplace_back(theta * options.scale / dim);
  }
  return thetas;
}

/// Adds the gradient of half the squared error of one example to `gradient` (theta, then w).
void add_gradient(const Layer& layer, const Matrix& x, const Matrix& y, Vector& gradient) {
  const Index dim = layer.dim;
  const Index size = dim * dim;
  std::vector<Matrix> attention;
  Matrix left = -y;
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Matrix> theta(layer.theta_of(i).data(), dim, dim);
    Matrix p = x * theta * x.transpose();
    for (Index a = 0; a < p.rows(); ++a) {
      p.row(a).array() = (p.row(a).array() - p.row(a).maxCoeff()).exp();
      p.row(a) /= p.row(a).sum();
    }
    left += p * x * Eigen::Map<const Matrix>(layer.w_of(i).data(), dim, dim);
    attention.push_back(std::move(p));
  }
  for (int i = 0; i < layer.heads; ++i) {
    const Matrix& p = attention[static_cast<std::size_t>(i)];
    const Eigen::Map<const Matrix> w(layer.w_of(i).data(), dim, dim);
    const Matrix values = left * w.transpose() * x.transpose();  // d error / d attention
    const Vector mean = p.cwiseProduct(values).rowwise().sum();
    const Matrix logits = p.cwiseProduct(values.colwise() - mean);
    Eigen::Map<Matrix>(gradient.data() + i * size, dim, dim) += x.transpose() * logits * x;
    Eigen::Map<Matrix>(gradient.data() + (layer.heads + i) * size, dim, dim) +=
        (p * x).transpose() * left;
  }
}

void put(const Vector& parameters, Layer& layer) {
  const auto half = static_cast<std::ptrdiff_t>(layer.theta.size());
  std::copy(parameters.begin(), parameters.begin() + half, layer.theta.begin());
  std::copy(parameters.begin() + half, parameters.end(), layer.w.begin());
}

Layer adam(const Subset& sample, const BaselineOptions& options, int start,
           const Context& context) {
  const int dim = static_cast<int>(sample.dim());
  const std::vector<Vector> thetas = random_thetas(options, dim, start);
  Layer layer = make_layer(options.heads, dim);
  Vector parameters(static_cast<Index>(2 * layer.theta.size()));
  numerics::Stream random(options.seed, "mha baseline adam", static_cast<std::uint64_t>(start));
  random.normal({parameters.data(), static_cast<std::size_t>(parameters.size())});
  parameters /= std::sqrt(static_cast<double>(dim));
  const Eigen::Index entries = static_cast<Eigen::Index>(dim) * dim;
  for (int i = 0; i < options.heads; ++i) {
    parameters.segment(i * entries, entries) = thetas[static_cast<std::size_t>(i)];
  }
  Vector first = Vector::Zero(parameters.size());
  Vector second = first;
  double decay_first = 1.0;
  double decay_second = 1.0;
  for (int step = 0; step < options.adam_steps; ++step) {
    context.check();
    put(parameters, layer);
    Vector gradient = Vector::Zero(parameters.size());
    for (int b = 0; b < options.adam_batch; ++b) {
      const std::size_t n = random.bits() % sample.size();
      add_gradient(layer, tokens_of(sample, n, n + 1), labels_of(sample, n, n + 1), gradient);
    }
    gradient /= options.adam_batch;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient.cwiseAbs2();
    decay_first *= 0.9;
    decay_second *= 0.999;
    const double fall = 0.5 * (1.0 + std::cos(std::numbers::pi * step / options.adam_steps));
    const double rate = options.adam_rate * (last_rate + (1.0 - last_rate) * fall);
    parameters.array() -= rate * (first.array() / (1.0 - decay_first)) /
                          ((second.array() / (1.0 - decay_second)).sqrt() + 1e-8);
  }
  put(parameters, layer);
  return layer;
}

}  // namespace

void BaselineOptions::validate() const {
  const auto require = [](bool right, const char* field, const char* allowed) {
    if (!right) throw InvalidArgument(field, std::string("is not allowed; allowed: ") + allowed);
  };
  require(heads >= 1 && heads <= max_heads, "heads", "1 to 8");
  require(starts >= 1, "starts", "1 and more");
  require(scale > 0.0 && std::isfinite(scale), "scale", "a positive number");
  require(lm_steps >= 1, "lm-steps", "1 and more");
  require(adam_steps >= 0, "adam-steps", "0 and more");
  require(adam_batch >= 1, "adam-batch", "1 and more");
}

std::vector<BaselineRun> run_baseline(const Examples& given, const BaselineOptions& options,
                                      const Context& context, const BaselineDone& done) {
  options.validate();
  if (given.dim > max_dim) {
    throw InvalidArgument("dim", "is not allowed; allowed: 1 to " + std::to_string(max_dim));
  }
  if (given.tokens < 2) throw Refused(one_token_reason);
  const int exponent = label_exponent(given);
  const Examples scaled = exponent != 0 ? scaled_labels(given, -exponent) : Examples{};
  const Examples& examples = exponent != 0 ? scaled : given;
  Subset train{&examples, distinct_examples(examples)};
  if (train.size() < min_examples) {
    throw Refused(too_few_reason(examples, train.size(), min_examples));
  }
  const std::size_t held_count = std::min(max_held_out, train.size() / 4);
  Subset held{&examples,
              {train.index.end() - static_cast<std::ptrdiff_t>(held_count), train.index.end()}};
  train.index.resize(train.size() - held_count);
  const Subset few = head_of(train, fit_examples(train, options.heads));
  std::vector<BaselineRun> runs;
  const auto add = [&](const char* method, int start, const auto& fit) {
    const auto begin = std::chrono::steady_clock::now();
    BaselineRun run;
    run.method = method;
    run.start = start + 1;
    std::tie(run.layer, run.evaluations) = fit();
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.residual = relative_residual(held, run.layer, context);
    run.solved = run.residual <= solved_residual;
    scale(run.layer.w, exponent);
    if (done) done(run);
    runs.push_back(std::move(run));
    context.report(static_cast<double>(runs.size()) / (2.0 * options.starts), method);
  };
  FitOptions lm;
  lm.max_steps = options.lm_steps;
  for (int start = 0; start < options.starts; ++start) {
    add("lm", start, [&]() -> std::pair<Layer, std::size_t> {
      FitOutcome fit =
          fit_layer(few, random_thetas(options, examples.dim, start), nullptr, lm, context);
      const std::size_t evaluations = fit.layer_evaluations(few.size());
      return {std::move(fit.layer), evaluations};
    });
  }
  for (int start = 0; options.adam_steps > 0 && start < options.starts; ++start) {
    add("adam", start, [&]() -> std::pair<Layer, std::size_t> {
      const auto evaluations = 2 * static_cast<std::size_t>(options.adam_steps) *
                               static_cast<std::size_t>(options.adam_batch);
      return {adam(train, options, start, context), evaluations};
    });
  }
  return runs;
}

}  // namespace onset::mha
