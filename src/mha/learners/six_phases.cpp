#include "mha/learners/six_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/crude/crude_projection.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/learners/refine/trimmed_refinement.hpp"
#include "mha/learners/refusal/reasons.hpp"
#include "numerics/linear_algebra/singular_values.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr double held_out_share = 0.05;
constexpr std::size_t max_held_out = 500;
constexpr double outlying_label = 1e9;   // ratio to all but the largest examples,
constexpr std::size_t rare_share = 200;  // which are one in this many

}  // namespace

void SixPhases::finish(PhaseReport entry) {
  const PhaseReport& finished = out_.phases.emplace_back(std::move(entry));
  if (options_.watch) options_.watch(out_);
  context_.report(finished.phase / 7.0, finished.name);
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
  if (distinct < min_examples) {
    throw Refusal{too_few_reason(*train_.examples, distinct, min_examples)};
  }
  const auto held = std::min(
      max_held_out, static_cast<std::size_t>(held_out_share * static_cast<double>(distinct)));
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

/// One label far larger than the rest cannot share a scale with them; it is taken for a mistake.
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

void LearnOptions::validate() const {
  if (heads < 0 || heads > max_heads_found) {
    throw InvalidArgument("heads", fmt::format("{} is not allowed; allowed: 0 (found) to {}", heads,
                                               max_heads_found));
  }
}

namespace {

/// Multiplies what has the unit of the labels by 2^exponent.
void scale_labels(Learned& learned, int exponent) {
  for (auto* values : {&learned.layer.w, &learned.geometry.w, &learned.knowledge.crude_w,
                       &learned.knowledge.refined_w, &learned.evidence.hull_w}) {
    scale(*values, exponent);
  }
  learned.evidence.tuple_tau = std::ldexp(learned.evidence.tuple_tau, exponent);
  learned.evidence.rejected.bound = std::ldexp(learned.evidence.rejected.bound, exponent);
}

}  // namespace

Learned learn(const Examples& examples, const LearnOptions& options, const Context& context) {
  options.validate();
  if (examples.dim > max_dim) {
    throw InvalidArgument(
        "dim", fmt::format("{} is not allowed; allowed: 1 to {}", examples.dim, max_dim));
  }
  const int exponent = label_exponent(examples);
  if (exponent == 0) return SixPhases(examples, options, context).run();
  const Examples near_one = scaled_labels(examples, -exponent);
  LearnOptions inner = options;
  if (options.watch) {
    inner.watch = [&options, exponent](Learned so_far) {
      scale_labels(so_far, exponent);
      options.watch(so_far);
    };
  }
  Learned learned = SixPhases(near_one, inner, context).run();
  scale_labels(learned, exponent);
  return learned;
}

}  // namespace onset::mha
