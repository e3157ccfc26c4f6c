#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "aim/limits/erm/graded_line.hpp"
#include "aim/limits/erm/label_means.hpp"
#include "aim/limits/erm/pair_loss.hpp"
#include "aim/limits/erm/training_output.hpp"

namespace onset::aim {
namespace {

/// Steps of the grids, coarse to fine, and their radius [aim 92]. The error is the largest distance
/// of the finest one from the two before it: two alone agree by chance where their errors cross.
constexpr double steps[] = {1.0, 0.6, 0.55, 0.5};
constexpr double radius = 6.2;
/// A sample has one minimum for sure while chi beta^2 is below this [aim 102].
constexpr double single_minimum = 1.0399;
/// Minima further apart than this are different.
constexpr double apart = 1e-4;

/// Independent normals: label and student parts of the sum and of the difference.
struct Node {
  double label_sum, student_sum, label_difference, student_difference;
  double weight;
};

/// A trapezoid rule in four dimensions. The integrand does not change with the sign of both sums or
/// of both differences, so that a quarter is enough; students' nodes are at half steps, and never
/// on the boundary of that quarter.
std::vector<Node> grid_of(double step) {
  std::vector<double> all;
  std::vector<double> positive;
  for (int i = static_cast<int>(-radius / step); i * step <= radius; ++i) all.push_back(i * step);
  for (double x = 0.5 * step; x <= radius; x += step) positive.push_back(x);
  std::vector<Node> nodes;
  double total = 0.0;
  for (const double a : all) {
    for (const double b : positive) {
      for (const double c : all) {
        for (const double d : positive) {
          const double square = a * a + b * b + c * c + d * d;
          if (square > radius * radius) continue;
          nodes.push_back({a, b, c, d, std::exp(-0.5 * square)});
          total += nodes.back().weight;
        }
      }
    }
  }
  for (Node& node : nodes) node.weight /= total;
  return nodes;
}

const std::vector<Node>& grid(std::size_t rule) {
  static const std::vector<Node> grids[] = {grid_of(steps[0]), grid_of(steps[1]), grid_of(steps[2]),
                                            grid_of(steps[3])};
  return grids[rule];
}

Pair turned(double sum, double difference) {
  return {(sum + difference) / std::numbers::sqrt2, (sum - difference) / std::numbers::sqrt2};
}

/// Steps of the graded rules of test errors.
constexpr double test_steps[] = {0.15, 0.1, 0.085, 0.07};
constexpr double test_reach = 8.5;

class PairSoftmax : public TrainingOutput {
 public:
  PairSoftmax(const AttentionIndexed& model, TrainingLoss loss)
      : loss_(loss),
        beta_(model.beta),
        teacher_norm_(1.0 + model.rho),
        label_norm_(1.0 + model.rho + model.noise_variance) {}

  [[nodiscard]] std::size_t rules() const override { return std::size(steps); }
  [[nodiscard]] bool replicated() const override { return false; }

  [[nodiscard]] OutputMoments at(const Overlaps& o, std::size_t rule) const override {
    if (o.norm == 0.0 && o.chi == 0.0) return of_nothing();
    // In units where beta is 1.
    const double b2 = beta_ * beta_;
    const double q = b2 * o.norm;
    const double chi = std::max(b2 * o.chi, smallest_chi);
    const double share = o.norm > 0.0 ? o.overlap / o.norm : 0.0;
    const double rest = std::sqrt(b2 * o.open_part(label_norm_, teacher_norm_));
    const double width = std::sqrt(q);
    OutputMoments sum;
    double label_part = 0.0;    // E gamma . label normals
    double student_part = 0.0;  // E gamma . student normals
    double traces = 0.0;
    for (const Node& n : grid(rule)) {
      const double ws = width * std::sqrt(sum_variance) * n.student_sum;
      const double wd = width * std::sqrt(difference_variance) * n.student_difference;
      const Pair w = turned(ws, wd);
      const Pair tau =
          turned(share * ws + rest * std::sqrt(sum_variance) * n.label_sum,
                 share * wd + rest * std::sqrt(difference_variance) * n.label_difference);
      const PairProblem problem(loss_, chi, w, {logistic(tau[0]), logistic(tau[1])});
      bool several = false;
      const PairMinimum best = lowest(problem, w, tau, chi, several);
      // Scaled gradients: gamma turned to sum and difference, times the roots of the variances.
      const double gs = -(best.slope[0] + best.slope[1]) / std::numbers::sqrt2;
      const double gd = -(best.slope[0] - best.slope[1]) / std::numbers::sqrt2;
      const double fs = std::sqrt(sum_variance) * gs;
      const double fd = std::sqrt(difference_variance) * gd;
      const auto x = pair_sensitivity(best.second, chi);
      sum.hats.norm += n.weight * (fs * fs + fd * fd);
      label_part += n.weight * (fs * n.label_sum + fd * n.label_difference);
      student_part += n.weight * (fs * n.student_sum + fd * n.student_difference);
      traces += n.weight * pair_trace(x);
      sum.sensitivity += n.weight * pair_square(x);
      sum.train += n.weight * best.loss;
      sum.least += n.weight * best.value;
      if (several) sum.bistable += n.weight;
    }
    sum.hats.overlap = b2 * label_part / rest;
    // Stein's form, which holds where the minimum jumps; without a student, the derivative itself.
    sum.hats.chi = width > 0.0 ? -b2 * (student_part - share * width / rest * label_part) / width
                               : -b2 * traces;
    sum.hats.norm *= b2;
    sum.sensitivity *= b2 * b2;
    return sum;
  }

  [[nodiscard]] double test(const Overlaps& o, double label_norm, std::size_t rule) const override {
    if (o.norm == 0.0) return label_means(beta_ * std::sqrt(3.0 * label_norm)).square;
    const double share = o.overlap / o.norm;
    const double student = beta_ * std::sqrt(3.0 * o.norm);
    const double rest = beta_ * std::sqrt(3.0 * o.open_part(label_norm, teacher_norm_));
    const double step = test_steps[rule];
    double error = 0.0;
    const auto add = [&](double x, double outer) {
      const double y = student * x;
      const double p = logistic(y);
      const double turn = rest > 0.0 ? -share * y / rest : 0.0;
      for_graded(turn, std::max(1.0, rest), step, test_reach, [&](double z, double inner) {
        const double off = logistic(share * y + rest * z) - p;
        error += outer * inner * off * off;
      });
    };
    for_graded(0.0, std::max({1.0, student, share * student}), step, test_reach, add);
    return 4.0 * error;
  }

  [[nodiscard]] double multiple_loss(double zeta, std::size_t rule) const override {
    const double teacher = beta_ * std::sqrt(3.0 * teacher_norm_);
    const double noise = beta_ * std::sqrt(3.0 * (label_norm_ - teacher_norm_));
    const double step = test_steps[rule];
    double loss = 0.0;
    const auto add = [&](double x, double outer) {
      const double t = teacher * x;
      if (noise == 0.0) {
        loss += outer * row_loss(loss_, zeta * t, logistic(t)).value;
        return;
      }
      for_graded(-t / noise, std::max(1.0, noise), step, test_reach, [&](double z, double inner) {
        loss += outer * inner * row_loss(loss_, zeta * t, logistic(t + noise * z)).value;
      });
    };
    for_graded(0.0, std::max({1.0, teacher, zeta * teacher}), step, test_reach, add);
    return 2.0 * loss;
  }

 private:
  /// The moments of a student that is 0, without a grid [aim 107].
  [[nodiscard]] OutputMoments of_nothing() const {
    const LabelMeans labels = label_means(beta_ * std::sqrt(3.0 * label_norm_));
    const double b2 = beta_ * beta_;
    OutputMoments m;
    m.hats = {b2 * (1.5 * labels.square + 0.5 * labels.product), 1.5 * b2 * labels.slope, 1.5 * b2};
    m.train = loss_ == TrainingLoss::square ? labels.square : 2.0 * std::numbers::ln2;
    m.least = m.train;
    m.sensitivity = 1.25 * b2 * b2;
    return m;
  }

  /// chi = 0 needs no special case with a chi that changes nothing, in units where beta is 1.
  static constexpr double smallest_chi = 1e-12;

  /// Cross-entropy is convex. Squared errors may have several minima: from the student's field,
  /// from the label's and from the two mixtures [aim 102].
  [[nodiscard]] PairMinimum lowest(const PairProblem& problem, Pair w, Pair tau, double chi,
                                   bool& several) const {
    PairMinimum best = problem.from(w);
    if (loss_ == TrainingLoss::cross_entropy || chi < single_minimum) return best;
    for (const Pair start : {tau, Pair{w[0], tau[1]}, Pair{tau[0], w[1]}}) {
      const PairMinimum other = problem.from(start);
      if (std::abs(other.t[0] - best.t[0]) + std::abs(other.t[1] - best.t[1]) >
          apart * (1.0 + std::abs(best.t[0]) + std::abs(best.t[1]))) {
        several = true;
        if (other.value < best.value) best = other;
      }
    }
    return best;
  }

  TrainingLoss loss_;
  double beta_;
  double teacher_norm_;  ///< Q0
  double label_norm_;    ///< Q = Q0 + s
};

}  // namespace

std::unique_ptr<TrainingOutput> pair_softmax_output(const AttentionIndexed& model,
                                                    TrainingLoss loss) {
  return std::make_unique<PairSoftmax>(model, loss);
}

}  // namespace onset::aim
