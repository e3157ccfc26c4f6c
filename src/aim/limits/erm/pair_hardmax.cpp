#include <algorithm>
#include <cmath>
#include <numbers>

#include "aim/limits/erm/pair_loss.hpp"
#include "aim/limits/erm/training_output.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "onset/numerics/quadrature.hpp"

namespace onset::aim {
namespace {

constexpr double hardmax_steps[] = {0.5, 0.25, 0.2};
constexpr double reach = 6.5;

/// Cross-entropy of hardmax labels: what is not known of the labels' scores is integrated in closed
/// form, and two dimensions are left [aim 93].
class PairHardmax : public TrainingOutput {
 public:
  explicit PairHardmax(const AttentionIndexed& model)
      : beta_(model.beta), label_norm_(1.0 + model.rho + model.noise_variance) {}

  [[nodiscard]] std::size_t rules() const override { return std::size(hardmax_steps); }
  [[nodiscard]] bool replicated() const override { return false; }

  [[nodiscard]] OutputMoments at(const Overlaps& o, std::size_t rule) const override {
    const State state = state_of(o);
    const numerics::Rule line = numerics::normal_trapezoid(hardmax_steps[rule], reach);
    OutputMoments sum;
    for (std::size_t i = 0; i < line.nodes.size(); ++i) {
      for (std::size_t j = 0; j < line.nodes.size(); ++j) {
        const double ws = state.width * std::sqrt(sum_variance) * line.nodes[i];
        const double wd = state.width * std::sqrt(difference_variance) * line.nodes[j];
        const Pair w{(ws + wd) / std::numbers::sqrt2, (ws - wd) / std::numbers::sqrt2};
        const double weight = line.weights[i] * line.weights[j];
        // Changing the sign of all scores changes both labels: two of the four are enough.
        for (const double second : {1.0, -1.0}) {
          add_label(state, w, {1.0, second}, 2.0 * weight, sum);
        }
      }
    }
    const double b2 = beta_ * beta_;
    sum.hats.norm *= b2;
    sum.hats.overlap *= b2;
    sum.hats.chi *= b2;
    sum.sensitivity *= b2 * b2;
    return sum;
  }

  [[nodiscard]] double test(const Overlaps& o, double label_norm,
                            std::size_t /*rule*/) const override {
    if (o.norm == 0.0) return 0.5;
    const double cosine = o.overlap / std::sqrt(o.norm * label_norm);
    return std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
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
            std::sqrt(3.0 * b2 * (label_norm_ - share * o.overlap))};
  }

  static void add_label(const State& state, Pair w, Pair sign, double weight, OutputMoments& sum) {
    const Orthant p = orthant(sign[0] * state.share * w[0] / state.rest,
                              sign[1] * state.share * w[1] / state.rest, sign[0] * sign[1] / 3.0);
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
  double label_norm_;
};

}  // namespace

std::unique_ptr<TrainingOutput> pair_hardmax_output(const AttentionIndexed& model) {
  return std::make_unique<PairHardmax>(model);
}

}  // namespace onset::aim
