#include "onset/mha/learners/six_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mha/learners/crude_projection.hpp"
#include "mha/learners/hidden_cause.hpp"
#include "mha/learners/inflation.hpp"
#include "mha/learners/margins.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/learners/posterior.hpp"
#include "mha/learners/separable_fit.hpp"
#include "mha/learners/support.hpp"
#include "mha/learners/trimmed.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/singular_values.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t slabs_per_unknown = 8;       // sculpted
constexpr std::size_t body_slabs_per_unknown = 3;  // in linear programs
constexpr std::size_t least_slabs_per_unknown = 2;
constexpr double held_out_share = 0.05;
constexpr std::size_t most_held_out = 500;
constexpr double proxy_inflation = 1.1;
constexpr double support_inflation = 2.5;      // of the body in support programs, over the least
constexpr double containing_tolerances = 8.0;  // a slab holds every head within so many
constexpr int most_margin_rounds = 3;
constexpr double worthwhile_gain = 20.0;  // of a round in the score, for another one
constexpr double crude_share = 0.05;
constexpr double margin_share = 0.02;
constexpr double agreeing_rows = 1e-9;  // median score: all heads agree everywhere
constexpr double exact_spectrum = 1e-9;
constexpr double outlying_label = 1e9;   // over all but the largest examples,
constexpr std::size_t rare_share = 200;  // one in so many

std::vector<double> flat(const Matrix& m) {
  return {m.data(), m.data() + m.size()};
}

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void SixPhases::finish(PhaseReport entry) {
  context_.report(entry.phase / 7.0, entry.name);
  out_.phases.push_back(std::move(entry));
}

std::string limit_of_inputs(const Examples& examples, std::size_t wanted) {
  const double exist = distinct_inputs(examples.tokens, examples.dim);
  if (exist >= static_cast<double>(wanted)) return "";
  return fmt::format(
      "; {} tokens of dimension {} have no more than {} such inputs, so a larger dimension is "
      "needed, not more examples",
      examples.tokens, examples.dim, exist);
}

std::string too_few_reason(const Examples& examples, std::size_t distinct, std::size_t wanted) {
  return fmt::format(
      "too few examples: {} distinct ones up to sign and order of tokens, {} wanted{}", distinct,
      wanted, limit_of_inputs(examples, wanted));
}

std::string counting_reason(int heads, int tokens, int dim) {
  return fmt::format(
      "m(k-1) > d: {} heads with {} tokens need a dimension of {}, the examples have {}; agreement "
      "of the heads cannot be seen in their residuals",
      heads, tokens, heads * (tokens - 1), dim);
}

void SixPhases::require_counting(int heads) const {
  const Examples& examples = *train_.examples;
  if (heads * (examples.tokens - 1) > examples.dim) {
    throw Refusal{counting_reason(heads, examples.tokens, examples.dim)};
  }
}

void SixPhases::split() {
  if (train_.examples->tokens < 2) {
    throw Refusal{one_token_reason};
  }
  require_counting(std::max(1, options_.heads));
  train_.index = distinct_examples(*train_.examples);
  const std::size_t distinct = train_.index.size();
  if (distinct < fewest_examples) {
    throw Refusal{too_few_reason(*train_.examples, distinct, fewest_examples)};
  }
  const auto held = std::min(
      most_held_out, static_cast<std::size_t>(held_out_share * static_cast<double>(distinct)));
  held_.index.assign(train_.index.end() - static_cast<std::ptrdiff_t>(held), train_.index.end());
  train_.index.resize(distinct - held);
  out_.held_out = held_.index;
  refuse_outliers();
  label_size_ = label_size(train_);
  if (!(label_size_ > 0.0)) throw Refusal{"all labels are zero: nothing to learn from"};
  const std::vector<double>& y = train_.examples->y;
  single_precision_ = std::all_of(y.begin(), y.end(), [](double value) {
    return static_cast<double>(static_cast<float>(value)) == value;
  });
}

/// A label far beyond all others is a mistake, and no unit suits it and them.
void SixPhases::refuse_outliers() const {
  const std::vector<double>& y = train_.examples->y;
  std::vector<double> sizes(train_.examples->count);
  for (std::size_t e = 0; e < y.size(); ++e) {
    double& size = sizes[e / train_.examples->width()];
    size = std::max(size, std::abs(y[e]));
  }
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  std::vector<double> ordered = sizes;
  const auto usual = ordered.end() - 1 - static_cast<std::ptrdiff_t>(ordered.size() / rare_share);
  std::nth_element(ordered.begin(), usual, ordered.end());
  if (!(*usual > 0.0) || !(*largest > outlying_label * *usual)) return;
  throw Refusal{fmt::format(
      "an outlier: the labels of example {} reach {:.0e} times those of nearly all others",
      largest - sizes.begin(), *largest / *usual)};
}

void SixPhases::crude() {
  w_ = crude_projection(train_, context_);
  out_.knowledge.crude_w = flat(w_);
  const double size = numerics::singular_values(view(w_)).front();
  PhaseReport entry{1, "crude sum of projections", train_.size()};
  entry.score = nth_score(train_, w_, context_);
  finish(entry);
  if (size < vanishing_projection * label_size_) {
    throw Refusal{fmt::format(
        "cancelling projections: their sum has norm {:.2g} with labels of size {:.2g}, so there is "
        "nothing to regress on",
        size, label_size_)};
  }
}

/// Phase 3: proxy and large margins, again with the new estimate where the last round gained much.
std::optional<Matrix> SixPhases::margin_projection(double inflation) {
  std::optional<Matrix> best;
  double score = out_.phases.front().score.value();
  Body body = body_;
  for (int round = 0; round < most_margin_rounds && inflation > 0.0; ++round) {
    const Vector proxy = minimum_norm_point(body, proxy_inflation * inflation, context_);
    if (proxy.size() == 0) break;
    const Matrix estimate = large_margin_projection(train_, proxy, context_);
    const double reached = nth_score(train_, estimate, context_);
    if (round > 0 && reached >= score) break;
    out_.knowledge.proxy = {proxy.begin(), proxy.end()};
    PhaseReport entry{3, "proxy and large margins", slabs_.size()};
    entry.score = reached;
    finish(entry);
    best = estimate;
    if (reached * worthwhile_gain > score) break;
    score = reached;
    const std::vector<Slab> slabs = sculpt(train_, estimate, slabs_.size(), context_);
    if (slabs.size() < least_slabs()) break;
    body = make_body(train_, slabs, slabs.size());
    inflation = least_inflation(body, context_).least;
  }
  return best;
}

/// Fewer slabs do not determine theta.
std::size_t SixPhases::least_slabs() const {
  return least_slabs_per_unknown * train_.dim() * train_.dim();
}

/// Refuses what sculpting with the present sum of projections left, when that is too little;
/// `score` is that of the n_f-th best row. Rows that are explained, but by one token alone, give
/// half-spaces and no slabs.
void SixPhases::require_slabs(double score) const {
  if (slabs_.size() >= least_slabs()) return;
  std::string cause;
  const std::size_t slabs_of_example = train_.tokens() * (train_.tokens() - 1);
  if (train_.size() * slabs_of_example < least_slabs()) {
    cause = too_few_reason(*train_.examples, train_.size(),
                           (least_slabs() + slabs_of_example - 1) / slabs_of_example);
  } else if (score < agreeing_rows) {
    cause =
        "saturated attention: every row is explained by one token alone, as by labels X W, and "
        "theta is not bounded";
  } else {
    cause = hidden_cause(train_, held_, context_);
  }
  throw Refusal{fmt::format("{}; {} slabs for {} unknowns", cause, slabs_.size(),
                            train_.dim() * train_.dim())};
}

/// Phases 2 and 3: slabs, proxy, large margins, and the trimmed refinement from both starts.
void SixPhases::refine() {
  const std::size_t unknowns = train_.dim() * train_.dim();
  slabs_ = sculpt(train_, w_, body_slabs_per_unknown * unknowns, context_);
  require_slabs(out_.phases.front().score.value());
  body_ = make_body(train_, slabs_, slabs_.size());
  const Inflation inflation = least_inflation(body_, context_);
  PhaseReport sculpted{2, "sculpting", slabs_.size()};
  if (inflation.least >= 0.0) sculpted.inflation = inflation.least;
  finish(sculpted);
  Projection refined = refine_trimmed(train_, w_, crude_share, context_);
  if (const std::optional<Matrix> margin = margin_projection(inflation.least)) {
    const Projection other = refine_trimmed(train_, *margin, margin_share, context_);
    if (other.score < refined.score) refined = other;
  }
  w_ = refined.w;
  out_.knowledge.refined_w = flat(w_);
  const std::vector<double> scores = row_scores(train_, w_, context_);
  PhaseReport entry{3, "trimmed refinement", trimmed_rows(train_)};
  entry.score = refined.score;
  slabs_ = sculpt(train_, w_, slabs_per_unknown * unknowns, context_);
  body_ = make_body(train_, slabs_, body_slabs_per_unknown * unknowns);
  all_rows_agree_ = median_of(scores) < agreeing_rows;
  noise_bound_ = residual_of_rows(train_, w_, smallest_rows(scores, trimmed_rows(train_)));
  if (!all_rows_agree_) {
    if (const double least = least_inflation(body_, context_).least; least >= 0.0) {
      out_.evidence.inflation = least;
      entry.inflation = least;
    }
  }
  finish(entry);
  require_slabs(refined.score);
}

/// Whether one head explains the labels after all, though its slabs are not exact.
bool SixPhases::one_head_fits(const Spectrum& spectrum) const {
  const Sample few = head_of(train_, fit_examples(train_, 1));
  const FitOutcome fit = fit_layer(few, {spectrum.hull(1).base}, nullptr, {}, context_);
  return relative_residual(held_, fit.layer, context_) <= zero_residual;
}

/// Why the residuals of most rows vanish though no single head fits. Of proportional projections
/// they vanish in every row.
std::string SixPhases::blind_reason() const {
  if (train_.tokens() == train_.dim() + 1) {
    return fmt::format(
        "k-1 = d: with {} tokens of dimension {} some attention explains every label, whatever the "
        "heads do, so residuals are blind",
        train_.tokens(), train_.dim());
  }
  const std::vector<double> scores = row_scores(train_, w_, context_);
  const double left = residual_of_rows(train_, w_, smallest_rows(scores, scores.size()));
  if (left <= agreeing_rows * label_size_) {
    return "proportional projections: every row looks as if all heads agreed, yet no single head "
           "fits, so residuals are blind";
  }
  return "heads that attend alike in most rows, as saturated or nearly equal ones do, yet no "
         "single head fits: too few rows show where they differ";
}

/// The heads that the spectrum shows, or that were asked for.
int SixPhases::count_heads(const Spectrum& spectrum, PhaseReport& entry) {
  const std::vector<double>& ratios = out_.evidence.ratios;
  const double largest = *std::max_element(ratios.begin(), ratios.end());
  const bool blind =
      all_rows_agree_ && spectrum.smallest() > exact_spectrum && !one_head_fits(spectrum);
  const bool without_gap = options_.heads == 0 && largest < visible_gap;
  if (blind || without_gap) {
    entry.gap = largest;
    finish(entry);
  }
  if (blind) throw Refusal{blind_reason()};
  if (without_gap) {
    throw Refusal{fmt::format("{}; no singular gap (largest ratio {:.2f}, {:.0f} wanted)",
                              hidden_cause(train_, held_, context_), largest, least_gap)};
  }
  return options_.heads > 0 ? options_.heads : spectrum.heads();
}

void SixPhases::find_hull() {
  const Body all = make_body(train_, slabs_, slabs_.size());
  const Spectrum spectrum(all);
  Evidence& evidence = out_.evidence;
  evidence.ratios = spectrum.ratios();
  evidence.hull_slabs = certified_slabs(train_, slabs_);
  PhaseReport entry{4, "affine hull", slabs_.size()};
  out_.heads = count_heads(spectrum, entry);
  require_counting(out_.heads);
  hull_ = spectrum.hull(out_.heads);
  out_.knowledge.hull_base = {hull_.base.begin(), hull_.base.end()};
  out_.knowledge.hull_directions = flat(hull_.directions);
  evidence.gap = spectrum.gap(out_.heads);
  entry.gap = evidence.gap;
  evidence.hull_bound = spectrum.distance_bound(out_.heads, support_inflation * evidence.inflation);
  entry.violations = violations(hull_.base);
  if (evidence.inflation > 0.0 && out_.heads > 1) {
    const SupportCheck support =
        check_support(body_, support_inflation * evidence.inflation, hull_, context_);
    if (support.solved) {
      evidence.support_along = support.along;
      evidence.support_across = support.across;
      evidence.support_sine = support.sine;
    }
  }
  finish(entry);
}

double SixPhases::violations(const Vector& theta) const {
  if (all_rows_agree_) return 0.0;
  std::size_t count = 0;
  for (const Slab& slab : slabs_) {
    const double off = std::abs(slab_value(train_, slab, theta.data()) - slab.centre);
    count += off > containing_tolerances * slab.tolerance ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(slabs_.size());
}

void LearnOptions::validate() const {
  if (heads < 0 || heads > max_heads_found) {
    throw InvalidArgument("heads", fmt::format("{} is not allowed; allowed: 0 (found) to {}", heads,
                                               max_heads_found));
  }
}

Learned learn(const Examples& examples, const LearnOptions& options, const Context& context) {
  options.validate();
  if (examples.dim > max_dim) {
    throw InvalidArgument(
        "dim", fmt::format("{} is not allowed; allowed: 1 to {}", examples.dim, max_dim));
  }
  const int exponent = label_exponent(examples);
  if (exponent == 0) return SixPhases(examples, options, context).run();
  const Examples near_one = scaled_labels(examples, -exponent);
  Learned learned = SixPhases(near_one, options, context).run();
  for (auto* values : {&learned.layer.w, &learned.geometry.w, &learned.knowledge.crude_w,
                       &learned.knowledge.refined_w}) {
    scale(*values, exponent);
  }
  learned.evidence.tuple_tau = std::ldexp(learned.evidence.tuple_tau, exponent);
  learned.evidence.rejected.bound = std::ldexp(learned.evidence.rejected.bound, exponent);
  return learned;
}

}  // namespace onset::mha
