#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mha/learners/phase_run.hpp"
#include "mha/learners/refine/large_margins.hpp"
#include "mha/learners/refine/minimum_norm_point.hpp"
#include "mha/learners/refine/trimmed_refinement.hpp"
#include "mha/learners/refusal/hidden_cause.hpp"
#include "mha/learners/refusal/reasons.hpp"
#include "mha/learners/sculpt/least_inflation.hpp"

// Phases 2 and 3.

namespace onset::mha {
namespace {

constexpr std::size_t body_slabs_per_unknown = 3;  // how many go into linear programs
constexpr std::size_t min_slabs_per_unknown = 2;
constexpr double proxy_inflation = 1.1;
constexpr int max_margin_rounds = 3;
constexpr double worthwhile_gain = 20.0;  // gain of a round in the score that justifies another
constexpr double crude_share = 0.05;
constexpr double margin_share = 0.02;

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

/// Phase 3: proxy and large margins, repeated with the new estimate as long as a round gains much.
std::optional<Matrix> SixPhases::margin_projection(double inflation) {
  std::optional<Matrix> best;
  double score = out_.phases.front().score.value();
  Body body = body_;
  for (int round = 0; round < max_margin_rounds && inflation > 0.0; ++round) {
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
    if (slabs.size() < min_slabs()) break;
    body = make_body(train_, slabs, slabs.size());
    inflation = least_inflation(body, context_).least;
  }
  return best;
}

/// The least number of slabs that determines theta.
std::size_t SixPhases::min_slabs() const {
  return min_slabs_per_unknown * train_.dim() * train_.dim();
}

/// Refuses when sculpting with the present sum of projections leaves too few slabs; `score` is that
/// of the n_f-th best row. Rows that are explained by one token alone give half-spaces instead of
/// slabs.
void SixPhases::require_slabs(double score) const {
  if (slabs_.size() >= min_slabs()) return;
  std::string cause;
  const std::size_t slabs_of_example = train_.tokens() * (train_.tokens() - 1);
  if (train_.size() * slabs_of_example < min_slabs()) {
    cause = too_few_reason(*train_.examples, train_.size(),
                           (min_slabs() + slabs_of_example - 1) / slabs_of_example);
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

}  // namespace onset::mha
