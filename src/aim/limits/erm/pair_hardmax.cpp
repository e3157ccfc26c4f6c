#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "aim/limits/erm/graded_line.hpp"
#include "aim/limits/erm/pair_loss.hpp"
#include "aim/limits/erm/training_output.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"

namespace onset::aim {
namespace {

/// Steps of the graded rules, coarse to fine, and where they end, in standard deviations.
constexpr double hardmax_steps[] = {0.25, 0.16, 0.14};
constexpr double hardmax_reach = 7.0;
/// Labels less probable than the normal distribution function here change no sum.
constexpr double least_label = -9.0;
/// Scores below this have no share, in the smaller of the units of the normal and of the softmax.
constexpr double least_score = 1e-17;
constexpr double score_correlation = 1.0 / 3.0;

/// Cross-entropy of hardmax labels: what is not known of the labels' scores is integrated in closed
/// form, and two dimensions are left [aim 93].
class PairHardmax : public TrainingOutput {
 public:
  explicit PairHardmax(const AttentionIndexed& model)
      : beta_(model.beta),
        teacher_norm_(1.0 + model.rho),
        label_norm_(1.0 + model.rho + model.noise_variance) {}

  [[nodiscard]] std::size_t rules() const override { return std::size(hardmax_steps); }
  [[nodiscard]] bool replicated() const override { return false; }

  [[nodiscard]] OutputMoments at(const Overlaps& o, std::size_t rule) const override {
    const State state = state_of(o);
    const double deviation = std::sqrt(3.0) * state.width;
    const double steepness = std::max({1.0, deviation, state.share * deviation / state.rest});
    const std::vector<GradedNode> line =
        graded_line(0.0, steepness, hardmax_steps[rule], hardmax_reach);
    // The density of both scores over those of each: the nodes have the latter.
    constexpr double c = score_correlation;
    const auto joint = [](double x, double y) {
      return std::exp(0.5 * c * (2.0 * x * y - c * (x * x + y * y)) / (1.0 - c * c)) /
             std::sqrt(1.0 - c * c);
    };
    OutputMoments sum;
    // Changing the sign of all scores changes both labels, and so does exchanging the tokens: two
    // of the four labels, and half of the plane for each, are enough. The nodes are symmetric.
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (std::size_t j = i; j < line.size(); ++j) {
        const GradedNode& a = line[i];
        const GradedNode& b = line[j];
        const double weight = (i == j ? 2.0 : 4.0) * a.weight * b.weight * joint(a.x, b.x);
        add_label(state, {deviation * a.x, deviation * b.x}, {1.0, 1.0}, weight, sum);
      }
      for (std::size_t j = i; j < line.size(); ++j) {
        const GradedNode& a = line[i];
        const GradedNode& b = line[j];
        const double weight = (i == j ? 2.0 : 4.0) * a.weight * b.weight * joint(a.x, -b.x);
        add_label(state, {deviation * a.x, -deviation * b.x}, {1.0, -1.0}, weight, sum);
      }
    }
    const double b2 = beta_ * beta_;
    sum.hats.norm *= b2;
    sum.hats.overlap *= b2;
    sum.hats.chi *= b2;
    sum.sensitivity *= b2 * b2;
    return sum;
  }

  /// The angle between the scores, from both of its sides: its cosine alone loses small ones.
  [[nodiscard]] double test(const Overlaps& o, double label_norm,
                            std::size_t /*rule*/) const override {
    if (o.norm == 0.0) return 0.5;
    const double open = std::sqrt(o.open_part(label_norm, teacher_norm_));
    return std::atan2(open, o.overlap / std::sqrt(o.norm)) / std::numbers::pi;
  }

  [[nodiscard]] double multiple_loss(double zeta, std::size_t rule) const override {
    // E log(1 + exp(-|t|)) over log |t|, which has no kink where the label changes.
    const double deviation = zeta * beta_ * std::sqrt(3.0 * teacher_norm_);
    const double step = hardmax_steps[rule];
    const double smallest = std::log(least_score / std::max(1.0, deviation));
    double sum = 0.0;
    for (double s = std::log(hardmax_reach); s > smallest; s -= step) {
      const double x = std::exp(s);
      sum += x * std::exp(-0.5 * x * x) * std::log1p(std::exp(-deviation * x));
    }
    return 4.0 * step * sum / std::sqrt(2.0 * std::numbers::pi);
  }

 private:
  struct State {
    double width;  ///< sqrt(q), in units where beta is 1
    double chi;
    double share;  ///< m/q
    double rest;   ///< deviation of the labels' t given the student's
  };

  [[nodiscard]] State state_of(const Overlaps& o) const {
    constexpr double smallest_chi = 1e-12;  // in units where beta is 1, as all of the state
    const double b2 = beta_ * beta_;
    const double share = o.norm > 0.0 ? o.overlap / o.norm : 0.0;
    return {std::sqrt(b2 * o.norm), std::max(b2 * o.chi, smallest_chi), share,
            std::sqrt(3.0 * b2 * o.open_part(label_norm_, teacher_norm_))};
  }

  static void add_label(const State& state, Pair w, Pair sign, double weight, OutputMoments& sum) {
    const double slope = state.share / state.rest;
    const Pair known{sign[0] * slope * w[0], sign[1] * slope * w[1]};
    if (std::min(known[0], known[1]) < least_label) return;
    const Orthant p = orthant(known[0], known[1], sign[0] * sign[1] * score_correlation);
    const double mass = weight * p.probability;
    if (mass == 0.0) return;
    const PairMinimum best = PairProblem(TrainingLoss::cross_entropy, state.chi, w,
                                         {0.5 + 0.5 * sign[0], 0.5 + 0.5 * sign[1]})
                                 .from(w);
    const Pair g{-best.slope[0], -best.slope[1]};
    const Pair kg{3.0 * g[0] + g[1], g[0] + 3.0 * g[1]};
    const Pair drift{sign[0] * p.rate1 / state.rest, sign[1] * p.rate2 / state.rest};
    const auto x = pair_sensitivity(best.second, state.chi);
    sum.hats.norm += mass * (g[0] * kg[0] + g[1] * kg[1]);
    sum.hats.overlap += mass * (kg[0] * drift[0] + kg[1] * drift[1]);
    sum.hats.chi -= mass * pair_trace(x);
    sum.sensitivity += mass * pair_square(x);
    sum.train += mass * best.loss;
    sum.least += mass * best.value;
  }

  double beta_;
  double teacher_norm_;
  double label_norm_;
};

}  // namespace

std::unique_ptr<TrainingOutput> pair_hardmax_output(const AttentionIndexed& model) {
  return std::make_unique<PairHardmax>(model);
}

}  // namespace onset::aim
