#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "aim/model/channels/hardmax/information.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::aim {
namespace {

constexpr std::size_t batch = 256;  ///< chains that move together
/// The number of sweeps until two chains have forgotten their common start: each sweep leaves 0.4
/// of a dependence that begins at a few percent.
constexpr int burn_in = 10;
/// The number of sweeps whose conditional means are averaged; more would not help, since samples
/// differ more than the sweeps of one of them.
constexpr int kept_sweeps = 2;
constexpr double infinite = std::numeric_limits<double>::infinity();

double normal_density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// Scores of `batch` samples given their labels, moved by Gibbs sampling: each score in turn is
/// drawn from its Gaussian cut to where it leaves all labels as they are [aim 23].
class LabelledScores {
 public:
  LabelledScores(int tokens, double lambda, numerics::Stream& stream)
      : tokens_(tokens),
        scores_(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens)),
        mean_(scores_ * batch),
        h_(scores_ * batch),
        label_(static_cast<std::size_t>(tokens) * batch) {
    std::array<double, batch> normals{};
    for (int a = 0; a < tokens; ++a) {
      for (int b = a; b < tokens; ++b) {
        const double sd = deviation(a, b);
        stream.normal(normals);
        for (std::size_t s = 0; s < batch; ++s)
          mean_[at(a, b, s)] = std::sqrt(lambda) * sd * normals[s];
        stream.normal(normals);
        for (std::size_t s = 0; s < batch; ++s) {
          set(a, b, s, mean_[at(a, b, s)] + sd * normals[s]);
        }
      }
    }
    for (int a = 0; a < tokens; ++a) {
      for (std::size_t s = 0; s < batch; ++s) label_[row(a, s)] = largest(a, s);
    }
  }

  /// Makes one sweep, and adds the conditional mean of every z = (h - omega)/sd to `means` if
  /// given.
  void sweep(numerics::Stream& stream, std::vector<double>* means) {
    std::size_t entry = 0;
    for (int a = 0; a < tokens_; ++a) {
      for (int b = a; b < tokens_; ++b, ++entry) {
        update(a, b, stream, means == nullptr ? nullptr : means->data() + entry * batch);
      }
    }
  }

 private:
  static double deviation(int a, int b) { return a == b ? std::numbers::sqrt2 : 1.0; }
  [[nodiscard]] std::size_t at(int a, int b, std::size_t s) const {
    return static_cast<std::size_t>(a * tokens_ + b) * batch + s;
  }
  [[nodiscard]] static std::size_t row(int a, std::size_t s) {
    return static_cast<std::size_t>(a) * batch + s;
  }
  void set(int a, int b, std::size_t s, double value) {
    h_[at(a, b, s)] = value;
    h_[at(b, a, s)] = value;
  }
  [[nodiscard]] int largest(int a, std::size_t s) const {
    int best = 0;
    for (int b = 1; b < tokens_; ++b) {
      if (h_[at(a, b, s)] > h_[at(a, best, s)]) best = b;
    }
    return best;
  }

  /// Where row a lets h_ab move: above all others when it is the label, else below the label.
  void bound(int a, int b, std::size_t s, double& low, double& high) const {
    const int label = label_[row(a, s)];
    if (label != b) {
      high = std::min(high, h_[at(a, label, s)]);
      return;
    }
    for (int c = 0; c < tokens_; ++c) {
      if (c != b) low = std::max(low, h_[at(a, c, s)]);
    }
  }

  void update(int a, int b, numerics::Stream& stream, double* means) {
    const double sd = deviation(a, b);
    std::array<double, batch> probability{};
    std::array<double, batch> side{};
    stream.uniform(probability);
    for (std::size_t s = 0; s < batch; ++s) {
      double low = -infinite;
      double high = infinite;
      bound(a, b, s, low, high);
      if (a != b) bound(b, a, s, low, high);
      const double centre = mean_[at(a, b, s)];
      low = (low - centre) / sd;
      high = (high - centre) / sd;
      // In the upper tail probabilities are near 1: there the mirror image is used.
      side[s] = low > 0.0 ? -1.0 : 1.0;
      if (low > 0.0) std::tie(low, high) = std::pair(-high, -low);
      const double below = normal_cdf(low);
      const double mass = normal_cdf(high) - below;
      probability[s] = std::clamp(below + probability[s] * mass, 1e-300, 1.0 - 1e-16);
      if (means != nullptr) {
        const double middle =
            mass > 1e-290 ? (normal_density(low) - normal_density(high)) / mass : high;
        means[s] += side[s] * std::clamp(middle, low, high);
      }
    }
    numerics::simd::normal_quantile(probability, probability);
    for (std::size_t s = 0; s < batch; ++s) {
      set(a, b, s, mean_[at(a, b, s)] + sd * side[s] * probability[s]);
    }
  }

  int tokens_;
  std::size_t scores_;
  std::vector<double> mean_;
  std::vector<double> h_;
  std::vector<int> label_;
};

std::vector<double> chain_means(LabelledScores scores, int tokens, numerics::Stream& stream) {
  for (int i = 0; i < burn_in; ++i) scores.sweep(stream, nullptr);
  std::vector<double> means(static_cast<std::size_t>(tokens * (tokens + 1) / 2) * batch);
  for (int i = 0; i < kept_sweeps; ++i) scores.sweep(stream, &means);
  for (double& m : means) m /= kept_sweeps;
  return means;
}

/// Mean over a batch of |E[z | labels, omega]|^2, from two chains.
double batch_information(int tokens, double lambda, std::uint64_t seed, std::uint64_t index) {
  numerics::Stream stream(seed, "aim hardmax", index);
  const LabelledScores start(tokens, lambda, stream);
  const std::vector<double> first = chain_means(start, tokens, stream);
  const std::vector<double> second = chain_means(start, tokens, stream);
  double sum = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += first[i] * second[i];
  return sum / static_cast<double>(batch);
}

}  // namespace

numerics::Replicates sampled_hardmax_information(int tokens, double lambda, std::size_t samples,
                                                 std::uint64_t seed, const Context& context) {
  constexpr auto replicates = static_cast<std::size_t>(numerics::default_replicates);
  const std::size_t batches = std::max<std::size_t>(1, samples / (batch * replicates));
  std::vector<double> values(batches * replicates);
  numerics::parallel_for(context, values.size(), [&](std::size_t i) {
    values[i] = batch_information(tokens, lambda, seed, i);
  });
  numerics::Replicates means;
  for (std::size_t r = 0; r < replicates; ++r) {
    means.push_back(numerics::ordered_sum(values.data() + r * batches, batches) /
                    static_cast<double>(batches));
  }
  return means;
}

}  // namespace onset::aim
