#include "onset/mha/learners/six_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mha/learners/crude_projection.hpp"
#include "mha/learners/inflation.hpp"
#include "mha/learners/margins.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/learners/support.hpp"
#include "mha/learners/trimmed.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t slabs_per_unknown = 8;       // sculpted
constexpr std::size_t body_slabs_per_unknown = 3;  // in linear programs
constexpr std::size_t least_slabs_per_unknown = 2;
constexpr double held_out_share = 0.05;
constexpr std::size_t most_held_out = 500;
constexpr std::size_t fewest_examples = 64;
constexpr double proxy_inflation = 1.1;
constexpr double support_inflation = 2.5;      // of the body in support programs, over the least
constexpr double containing_tolerances = 8.0;  // a slab holds every head within so many
constexpr int most_margin_rounds = 3;
constexpr double worthwhile_gain = 20.0;  // of a round in the score, for another one
constexpr double crude_share = 0.05;
constexpr double margin_share = 0.02;
constexpr double agreeing_rows = 1e-9;  // median score: all heads agree everywhere
constexpr double exact_spectrum = 1e-9;

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

PhaseReport& SixPhases::report(int phase, const char* name, std::size_t rows) {
  PhaseReport entry;
  entry.phase = phase;
  entry.name = name;
  entry.rows = rows;
  out_.phases.push_back(std::move(entry));
  context_.report(phase / 7.0, name);
  return out_.phases.back();
}

void SixPhases::require_counting(int heads) const {
  const int free = train_.examples->tokens - 1;
  if (heads * free > train_.examples->dim) {
    throw Refusal{
        fmt::format("m(k-1) > d: {} heads with {} tokens need a dimension of {}, the examples have "
                    "{}; agreement "
                    "of the heads cannot be seen in their residuals",
                    heads, free + 1, heads * free, train_.examples->dim)};
  }
}

void SixPhases::split() {
  if (train_.examples->tokens < 2) {
    throw Refusal{"one token: the labels show the sum of the projections and nothing of theta"};
  }
  require_counting(std::max(1, options_.heads));
  train_.index = distinct_examples(*train_.examples);
  const std::size_t distinct = train_.index.size();
  if (distinct < fewest_examples) {
    throw Refusal{
        fmt::format("too few examples: {} distinct ones up to sign and order of tokens", distinct)};
  }
  const auto held = std::min(
      most_held_out, static_cast<std::size_t>(held_out_share * static_cast<double>(distinct)));
  held_.index.assign(train_.index.end() - static_cast<std::ptrdiff_t>(held), train_.index.end());
  train_.index.resize(distinct - held);
  out_.held_out = held_.index;
  label_size_ = label_size(train_);
  if (!(label_size_ > 0.0)) throw Refusal{"all labels are zero: nothing to learn from"};
}

void SixPhases::crude() {
  w_ = crude_projection(train_, context_);
  out_.knowledge.crude_w = flat(w_);
  PhaseReport& entry = report(1, "crude sum of projections", train_.size());
  const double size = Eigen::MatrixXd(w_).jacobiSvd().singularValues()[0];
  entry.score = nth_score(train_, w_, context_);
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
    report(3, "proxy and large margins", slabs_.size()).score = reached;
    best = estimate;
    if (reached * worthwhile_gain > score) break;
    score = reached;
    const std::vector<Slab> slabs = sculpt(train_, estimate, slabs_.size(), context_);
    body = make_body(train_, slabs, slabs.size());
    inflation = least_inflation(body, context_).least;
  }
  return best;
}

/// Phases 2 and 3: slabs, proxy, large margins, and the trimmed refinement from both starts.
void SixPhases::refine() {
  const std::size_t unknowns = train_.dim() * train_.dim();
  slabs_ = sculpt(train_, w_, body_slabs_per_unknown * unknowns, context_);
  if (slabs_.size() < least_slabs_per_unknown * unknowns) {
    throw Refusal{
        fmt::format("too few examples: {} slabs for {} unknowns", slabs_.size(), unknowns)};
  }
  body_ = make_body(train_, slabs_, slabs_.size());
  const Inflation inflation = least_inflation(body_, context_);
  report(2, "sculpting", slabs_.size()).inflation = inflation.least;
  Projection refined = refine_trimmed(train_, w_, crude_share, context_);
  if (const std::optional<Matrix> margin = margin_projection(inflation.least)) {
    const Projection other = refine_trimmed(train_, *margin, margin_share, context_);
    if (other.score < refined.score) refined = other;
  }
  w_ = refined.w;
  out_.knowledge.refined_w = flat(w_);
  const std::vector<double> scores = row_scores(train_, w_, context_);
  PhaseReport& entry = report(3, "trimmed refinement", trimmed_rows(train_));
  entry.score = refined.score;
  slabs_ = sculpt(train_, w_, slabs_per_unknown * unknowns, context_);
  body_ = make_body(train_, slabs_, body_slabs_per_unknown * unknowns);
  all_rows_agree_ = median_of(scores) < agreeing_rows;
  noise_bound_ = residual_of_rows(train_, w_, smallest_rows(scores, trimmed_rows(train_)));
  if (!all_rows_agree_) {
    out_.evidence.inflation = least_inflation(body_, context_).least;
    entry.inflation = out_.evidence.inflation;
  }
}

void SixPhases::find_hull() {
  const Body all = make_body(train_, slabs_, slabs_.size());
  const Spectrum spectrum(all);
  Evidence& evidence = out_.evidence;
  evidence.ratios = spectrum.ratios();
  const double largest = *std::max_element(evidence.ratios.begin(), evidence.ratios.end());
  PhaseReport& entry = report(4, "affine hull", slabs_.size());
  entry.gap = largest;
  if (all_rows_agree_ && spectrum.smallest() > exact_spectrum) {
    throw Refusal{
        "proportional projections: every row looks as if all heads agreed, yet no single head "
        "fits, so residuals are blind"};
  }
  if (options_.heads == 0 && largest < visible_gap) {
    throw Refusal{fmt::format(
        "no singular gap (largest ratio {:.2f}, {:.0f} wanted): cancelling projections, "
        "or too few examples for these heads",
        largest, least_gap)};
  }
  out_.heads = options_.heads > 0 ? options_.heads : spectrum.heads();
  require_counting(out_.heads);
  hull_ = spectrum.hull(out_.heads);
  out_.knowledge.hull_base = {hull_.base.begin(), hull_.base.end()};
  out_.knowledge.hull_directions = flat(hull_.directions);
  evidence.gap = spectrum.gap(out_.heads);
  entry.gap = evidence.gap;
  evidence.hull_bound =
      spectrum.distance_bound(out_.heads, support_inflation * std::max(evidence.inflation, 0.0));
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

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified: return "certified";
    case Verdict::recovered: return "recovered";
    case Verdict::refused: return "refused";
  }
  return "refused";
}

Learned learn(const Examples& examples, const LearnOptions& options, const Context& context) {
  options.validate();
  if (examples.dim > max_dim) {
    throw InvalidArgument(
        "dim", fmt::format("{} is not allowed; allowed: 1 to {}", examples.dim, max_dim));
  }
  return SixPhases(examples, options, context).run();
}

}  // namespace onset::mha
