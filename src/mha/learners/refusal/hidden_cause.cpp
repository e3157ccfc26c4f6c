#include "mha/learners/refusal/hidden_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "mha/learners/phase_run.hpp"
#include "mha/learners/polish/separable_fit.hpp"
#include "mha/learners/refusal/reasons.hpp"
#include "mha/learners/verdict/posterior_checks.hpp"
#include "mha/model/canonical.hpp"
#include "mha/model/visibility.hpp"
#include "numerics/random/stream.hpp"

namespace onset::mha {
namespace {

constexpr int starts = 3;  // starts for each number of heads
constexpr int steps = 40;
constexpr double start_scale = 3.0;  // Frobenius norm of a random theta
constexpr double explained = 1e-6;   // held-out residual
constexpr double same_head = 1e-6;
constexpr double same_direction = 1e-6;  // one minus the cosine between two projections
constexpr std::size_t looked_at = 200;   // examples whose agreement constants are computed
constexpr std::size_t enough_repeats = 10;
constexpr double clear_difference = 0.1;  // between labels that should be equal, over their size
constexpr double min_progress = 1e-3;     // of a step; a fit that gets somewhere makes far more
constexpr double budget_flops = 2e11;     // some ten seconds
constexpr std::size_t near_share = 50;    // one example in this many has tokens near one another,
constexpr std::size_t min_near = 30;      // and fewer than this many scatter too much to tell
/// Labels of cancelling projections must shrink there to this share of their size or less, or the
/// difference does not show.
constexpr double clear_contrast = 0.8;

std::vector<Vector> random_thetas(int heads, Index dim, int start) {
  std::vector<Vector> thetas;
  for (int i = 0; i < heads; ++i) {
    Vector theta(dim * dim);
    numerics::Stream(1, "mha hidden cause", static_cast<std::uint64_t>(start * max_heads + i))
        .normal({theta.data(), static_cast<std::size_t>(theta.size())});
    thetas.emplace_back(theta * start_scale / static_cast<double>(dim));
  }
  return thetas;
}

/// The work of a step of a fit: the part of the Jacobian that w takes off, output by output, its
/// square, and the Kronecker sums of [mha 32].
double flops_of_step(const Subset& few, int heads) {
  const auto rows = static_cast<double>(few.rows());
  const auto dim = static_cast<double>(few.dim());
  const double projections = heads * dim;
  const double unknowns = projections * dim;
  return dim * projections * unknowns * (2.0 * rows + unknowns) +
         0.5 * rows * projections * projections * dim * dim;
}

/// What least squares from random starts finds, within the budget.
struct Explanation {
  std::optional<Layer> layer;  ///< of fewest heads
  int tried = 0;               ///< the largest number of heads that was tried from every start
};

Explanation explaining_layer(const Subset& train, const Subset& held, const Context& context) {
  const auto dim = static_cast<Index>(train.dim());
  Explanation out;
  double left = budget_flops;
  for (int heads = 1; heads <= max_heads_found; ++heads) {
    const Subset few = head_of(train, fit_examples(train, heads));
    const double step_flops = flops_of_step(few, heads);
    for (int start = 0; start < starts; ++start) {
      if (left <= step_flops) return out;
      FitOptions options;
      options.progress = min_progress;
      options.max_steps = static_cast<int>(std::min<double>(steps, left / step_flops));
      const FitOutcome fit =
          fit_layer(few, random_thetas(heads, dim, start), nullptr, options, context);
      left -= step_flops * fit.steps;
      if (relative_residual(held, fit.layer, context) <= explained) {
        out.layer = canonical(fit.layer, same_head);
        return out;
      }
    }
    out.tried = heads;
  }
  return out;
}

/// How far apart the tokens of an example lie, how large they are, how large their mean is, and how
/// large the label is, all sums of squares.
struct Spread {
  double tokens =
      0.0;  // over all pairs; of Boolean tokens a whole number, so that equals are equal
  double size = 0.0;
  double mean = 0.0;
  double label = 0.0;
};

Spread spread_of(const Subset& sample, std::size_t n) {
  const Matrix x = tokens_of(sample, n, n + 1);
  const Matrix y = labels_of(sample, n, n + 1);
  const auto tokens = static_cast<double>(x.rows());
  const double sum = x.colwise().sum().squaredNorm();
  return {tokens * x.squaredNorm() - sum, x.squaredNorm() / tokens, sum / (tokens * tokens),
          y.squaredNorm()};
}

Spread mean_of(const std::vector<Spread>& spreads) {
  Spread sum;
  for (const Spread& spread : spreads) {
    sum.tokens += spread.tokens / static_cast<double>(spreads.size());
    sum.size += spread.size / static_cast<double>(spreads.size());
    sum.mean += spread.mean / static_cast<double>(spreads.size());
    sum.label += spread.label / static_cast<double>(spreads.size());
  }
  return sum;
}

/// Where tokens come together, labels tend to x W with x their mean: as large as any label if the
/// tokens are Boolean, and smaller as the mean is if they are real. Only if W vanishes do they
/// shrink as the differences of the tokens do. Returns a reason when that is clearly seen.
std::optional<std::string> shrinking_labels(const Subset& sample) {
  std::vector<Spread> spreads;
  for (std::size_t n = 0; n < sample.size(); ++n) spreads.push_back(spread_of(sample, n));
  const Spread all = mean_of(spreads);
  const auto near = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / near_share);
  std::nth_element(spreads.begin(), near, spreads.end(),
                   [](const Spread& a, const Spread& b) { return a.tokens < b.tokens; });
  // All examples as near as the last one are taken too, since a choice among equals would favour
  // some labels.
  const double radius = near->tokens;
  std::erase_if(spreads, [radius](const Spread& spread) { return spread.tokens > radius; });
  if (spreads.size() < min_near) return std::nullopt;
  const Spread close = mean_of(spreads);
  const double if_cancelling = std::sqrt(close.tokens / all.tokens);
  const double if_not = sample.examples->real() ? std::sqrt(close.mean / all.size) : 1.0;
  const double seen = std::sqrt(close.label / all.label);
  if (if_cancelling > clear_contrast * if_not || seen > 0.5 * (if_not + if_cancelling)) {
    return std::nullopt;
  }
  return fmt::format(
      "cancelling projections: where tokens nearly coincide, labels shrink to {:.2g} of their size",
      seen);
}

/// Looks for two heads whose projections are multiples of one another.
std::optional<std::string> proportional_pair(const Layer& layer) {
  const Index size = static_cast<Index>(layer.dim) * layer.dim;
  for (int i = 1; i < layer.heads; ++i) {
    const Eigen::Map<const Vector> w(layer.w_of(i).data(), size);
    for (int j = 0; j < i; ++j) {
      const Eigen::Map<const Vector> other(layer.w_of(j).data(), size);
      if (std::abs(w.dot(other)) < (1.0 - same_direction) * w.norm() * other.norm()) continue;
      return fmt::format(
          "proportional projections: those of heads {} and {} of the {} that least squares finds, "
          "so residuals of rows cannot tell these apart",
          j + 1, i + 1, layer.heads);
    }
  }
  return std::nullopt;
}

/// Whether the agreement constant of [mha 8] is zero on every example, so that no residual shows
/// anything.
bool residuals_are_blind(const Layer& layer, const Subset& sample) {
  double largest = 0.0;
  double size = 0.0;
  for (const double w : layer.w) size = std::max(size, std::abs(w));
  for (std::size_t n = 0; n < std::min(sample.size(), looked_at); ++n) {
    largest = std::max(largest, agreement_constant(tokens_of(sample, n, n + 1), layer));
  }
  return largest <= same_head * size;
}

/// Whether labels of examples that are the same up to the symmetries contradict one another.
std::optional<std::string> contradiction(const Examples& examples) {
  const Repeats repeats = compare_repeats(examples, clear_difference);
  if (repeats.count < enough_repeats || 4 * repeats.different < repeats.count) return std::nullopt;
  return fmt::format(
      "labels of no such layer, or mostly noise: {} of {} examples that repeat an earlier one up "
      "to sign and order of tokens have another label, the first of them is example {}",
      repeats.different, repeats.count, repeats.first);
}

/// What `mha inspect` would say about a layer that was found, where that takes seconds at most.
std::string wanted_examples(const Layer& layer, const Examples& examples, const Context& context) {
  constexpr int quick_dim = 16;
  if (layer.heads < 2 || layer.dim > quick_dim) return "";
  const ExamplesNeeded need =
      examples_needed(layer, examples.tokens, examples.inputs(), 1, context);
  if (!need.examples) return "";
  // Two digits are all that it is good for.
  const double unit = std::pow(10.0, std::floor(std::log10(*need.examples)) - 1.0);
  return fmt::format("; about {:.0f} random ones would show them (mha inspect)",
                     unit * std::round(*need.examples / unit));
}

}  // namespace

std::optional<std::string> cancelling_reason(const Layer& layer) {
  const Index size = static_cast<Index>(layer.dim) * layer.dim;
  Vector sum = Vector::Zero(size);
  double largest = 0.0;
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Vector> w(layer.w_of(i).data(), size);
    sum += w;
    largest = std::max(largest, w.norm());
  }
  if (!(sum.norm() < vanishing_projection * largest)) return std::nullopt;
  return fmt::format("cancelling projections: their sum has norm {:.2g}, one of them {:.2g}",
                     sum.norm(), largest);
}

std::optional<double> one_more_head(const Subset& train, const Subset& held, const Layer& layer,
                                    double residual_of_right, const Context& context) {
  if (layer.heads >= max_heads_found) return std::nullopt;
  const Subset few = head_of(train, fit_examples(train, layer.heads + 1));
  for (int start = 0; start < starts; ++start) {
    std::vector<Vector> thetas = thetas_of(layer);
    thetas.push_back(random_thetas(1, static_cast<Index>(train.dim()), start).front());
    const FitOutcome fit = fit_layer(few, thetas, nullptr, {}, context);
    const double residual = relative_residual(held, fit.layer, context);
    if (residual <= residual_of_right) return residual;
  }
  return std::nullopt;
}

std::string hidden_cause(const Subset& train, const Subset& held, const Context& context) {
  if (const auto contradicting = contradiction(*train.examples)) return *contradicting;
  if (const auto cancelling = shrinking_labels(train)) return *cancelling;
  const auto [layer, tried] = explaining_layer(train, held, context);
  const std::size_t distinct = train.size() + held.size();
  if (!layer) {
    return fmt::format(
        "labels of no such layer, noisy labels, or too few examples ({} distinct ones): the phases "
        "find no heads that give them, and least squares from random starts none of up to {} "
        "heads{}",
        distinct, tried, limit_of_inputs(*train.examples, 2 * distinct));
  }
  if (const auto cancelling = cancelling_reason(*layer)) return *cancelling;
  if (layer->heads * (train.examples->tokens - 1) > layer->dim) {
    return counting_reason(layer->heads, train.examples->tokens, layer->dim);
  }
  if (const auto proportional = proportional_pair(*layer)) return *proportional;
  if (residuals_are_blind(*layer, train)) {
    return fmt::format(
        "degenerate projections: those of the {} heads that least squares finds are linearly "
        "dependent on every example, so residuals of rows are blind",
        layer->heads);
  }
  return fmt::format(
      "too few examples: among {} distinct ones the {} heads that least squares finds agree "
      "nowhere closely enough to be seen{}{}",
      distinct, layer->heads, wanted_examples(*layer, *train.examples, context),
      limit_of_inputs(*train.examples, 2 * distinct));
}

}  // namespace onset::mha
