#include "onset/mha/learners/six_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mha/learners/crude_projection.hpp"
#include "mha/learners/inflation.hpp"
#include "mha/learners/margins.hpp"
#include "mha/learners/net.hpp"
#include "mha/learners/posterior.hpp"
#include "mha/learners/support.hpp"
#include "mha/learners/trimmed.hpp"
#include "mha/learners/tuple_certificate.hpp"
#include "onset/core/error.hpp"
#include "onset/mha/model/canonical.hpp"

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
constexpr double crude_share = 0.05;
constexpr double margin_share = 0.02;
constexpr double vanishing_projection = 0.05;  // of W0, in label sizes: nothing to regress on
constexpr double agreeing_rows = 1e-9;         // median score: all heads agree everywhere
constexpr double exact_spectrum = 1e-9;
constexpr double hopeless_gap = 1.3;  // below it singular values look like a bulk
constexpr double zero_residual = 1e-10;
constexpr double most_residual = 0.2;     // more of the labels is not explained
constexpr double most_over_noise = 10.0;  // residual over what the best rows allow for noise
constexpr double merge_tolerance = 1e-7;
constexpr double polish_flops = 2e10;  // a Gauss-Newton step with noisy labels

/// Ends the run with a reason.
struct Refusal {
  std::string reason;
};

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

class SixPhases {
 public:
  SixPhases(const Examples& examples, const LearnOptions& options, const Context& context)
      : options_(options), context_(context) {
    train_.examples = held_.examples = &examples;
  }

  Learned run() {
    try {
      split();
      crude();
      refine();
      find_hull();
      find_heads();
      polish();
      judge();
    } catch (const Refusal& refusal) {
      out_.verdict = Verdict::refused;
      out_.reason = refusal.reason;
    }
    return std::move(out_);
  }

 private:
  void split();
  void crude();
  void refine();
  void find_hull();
  void find_heads();
  void polish();
  void judge();

  void require_counting(int heads) const;
  [[nodiscard]] std::string missing_certificates() const;
  [[nodiscard]] double violations(const Vector& theta) const;
  PhaseReport& report(int phase, const char* name, std::size_t rows);
  void add_tuple_certificates(const NetSearch& net);

  const LearnOptions& options_;
  const Context& context_;
  Sample train_;
  Sample held_;
  Learned out_;
  double label_size_ = 0.0;
  double noise_bound_ = 0.0;  // what the best rows allow for noise, per coordinate
  bool all_rows_agree_ = false;
  Matrix w_;
  std::vector<Slab> slabs_;
  Body body_;  // the best slabs, for linear programs
  Hull hull_;
};

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
  if (inflation.least > 0.0) {
    const Vector proxy = minimum_norm_point(body_, proxy_inflation * inflation.least, context_);
    if (proxy.size() > 0) {
      out_.knowledge.proxy = {proxy.begin(), proxy.end()};
      const Matrix margin = large_margin_projection(train_, proxy, context_);
      const double score = nth_score(train_, margin, context_);
      report(3, "proxy and large margins", slabs_.size()).score = score;
      const Projection other = refine_trimmed(train_, margin, margin_share, context_);
      if (other.score < refined.score) refined = other;
    }
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
  if (largest < hopeless_gap) {
    throw Refusal{fmt::format(
        "no singular gap (largest ratio {:.2f}, {:.0f} wanted): cancelling projections, or too few "
        "examples for these heads",
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

void SixPhases::find_heads() {
  const Sample small = head_of(train_, fit_examples(train_, out_.heads));
  const NetSearch net = search_net(small, hull_, out_.heads, context_);
  PhaseReport& entry = report(5, "net and tuples", net.tuples);
  entry.violations = 0.0;
  for (const Vector& theta : net.best.front()) {
    entry.violations = std::max(*entry.violations, violations(theta));
  }
  add_tuple_certificates(net);
  const Sample wider = head_of(train_, 4 * small.size());
  out_.geometry = canonical(fit_projections(wider, net.best.front()), merge_tolerance);
  out_.geometry_residual = relative_residual(held_, out_.geometry, context_);
  report(6, "least squares", wider.size()).residual = out_.geometry_residual;
}

/// The linear program on the found tuple, and on one with a head moved to the middle of the hull:
/// that it rejects the second shows that it could have rejected the first.
void SixPhases::add_tuple_certificates(const NetSearch& net) {
  const Sample few =
      head_of(train_, std::max<std::size_t>(40, 8 * static_cast<std::size_t>(out_.heads) *
                                                    train_.dim() / train_.tokens()));
  std::vector<Vector> thetas = net.best.front();
  out_.evidence.tuple_tau = certify_tuple(few, thetas, context_).tau;
  if (thetas.size() < 2) return;
  thetas.front() = hull_.base;
  const TupleCertificate wrong = certify_tuple(few, thetas, context_);
  RejectedTuple& rejected = out_.evidence.rejected;
  rejected.output = wrong.output;
  rejected.bound = wrong.tau;
  for (const Vector& theta : thetas) {
    rejected.thetas.insert(rejected.thetas.end(), theta.begin(), theta.end());
  }
  for (Index r = 0; r < wrong.multipliers.size(); ++r) {
    if (wrong.multipliers[r] == 0.0) continue;
    const auto row = static_cast<std::size_t>(r);
    rejected.rows.push_back({few.index[row / few.tokens()], static_cast<int>(row % few.tokens())});
    rejected.multipliers.push_back(wrong.multipliers[r]);
  }
}

void SixPhases::polish() {
  const Sample small = head_of(train_, fit_examples(train_, out_.heads));
  Layer layer = out_.geometry;
  if (options_.polish) {
    FitOutcome fit = fit_layer(small, thetas_of(layer), nullptr, {}, context_);
    std::size_t used = small.size();
    if (fit.residual > zero_residual) {
      // Labels are noisy, or heads are missing: the more examples the better.
      const double unknowns = static_cast<double>(out_.heads) * layer.dim * layer.dim;
      const double rows = polish_flops / (2.0 * unknowns * unknowns * layer.dim);
      const Sample large =
          head_of(train_, std::max(small.size(), static_cast<std::size_t>(rows) / train_.tokens()));
      fit = fit_layer(large, thetas_of(fit.layer), nullptr, {}, context_);
      used = large.size();
    }
    layer = fit.layer;
    out_.residual = relative_residual(held_, layer, context_);
    report(6, "polish", used).residual = out_.residual;
  } else {
    out_.residual = out_.geometry_residual;
  }
  out_.layer = canonical(layer, merge_tolerance);
  check_uniqueness(small, out_.layer, context_, out_.evidence);
  check_posterior_slabs(train_, slabs_, out_.layer, out_.evidence);
}

std::string SixPhases::missing_certificates() const {
  const Evidence& e = out_.evidence;
  std::string missing;
  const auto add = [&missing](const std::string& text) {
    missing += (missing.empty() ? "" : "; ") + text;
  };
  if (out_.residual > zero_residual) {
    add(options_.polish
            ? fmt::format("held-out residual {:.2g}: labels are noisy", out_.residual)
            : fmt::format("held-out residual {:.2g} of the geometry; the polish was not asked for",
                          out_.residual));
  }
  if (e.gap < least_gap) {
    add(fmt::format("singular gap {:.2f} below {:.0f}: the number of heads is not certified", e.gap,
                    least_gap));
  }
  const int unknowns = out_.layer.heads * out_.layer.dim * out_.layer.dim;
  if (out_.layer.heads != out_.heads) {
    add(fmt::format("{} of {} heads merged or vanished", out_.heads - out_.layer.heads,
                    out_.heads));
  } else if (e.jacobian_rank < unknowns) {
    add(fmt::format("the Jacobian has rank {} of {}: not locally unique", e.jacobian_rank,
                    unknowns));
  }
  if (e.slabs_violated > 0 || e.slabs_checked == 0) {
    add(fmt::format("{} of {} posterior slabs violated", e.slabs_violated, e.slabs_checked));
  }
  return missing;
}

void SixPhases::judge() {
  const double leftover = out_.residual * label_size_;
  const bool over_noise = leftover > most_over_noise * noise_bound_;
  if (out_.residual > most_residual ||
      (options_.polish && out_.residual > zero_residual && over_noise)) {
    throw Refusal{fmt::format(
        "{} heads leave {:.2g} of the held-out labels, more than label noise can explain (best "
        "rows "
        "allow {:.2g}); singular gap {:.2f}: too few examples, or another number of heads",
        out_.heads, out_.residual, noise_bound_ / label_size_, out_.evidence.gap)};
  }
  out_.reason = missing_certificates();
  out_.verdict = out_.reason.empty() ? Verdict::certified : Verdict::recovered;
}

}  // namespace

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
