#include "aim/model/channels/hardmax/information.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "aim/model/channels/hardmax/nodes.hpp"
#include "numerics/parallel.hpp"
#include "numerics/quadrature/chebyshev.hpp"

namespace onset::aim {
namespace {

constexpr std::array<std::array<Estimate, sampled_degree>, max_table_tokens - 2> table{{
#include "aim/model/channels/hardmax/table.inc"
}};

/// The number of samples for each node where there is no table.
constexpr std::size_t untabulated_samples = std::size_t{1} << 15;

double angle(double lambda) {
  return std::atan(std::sqrt(lambda));
}

/// The rounding error of the values at nodes, which are sums of thousands of terms.
constexpr double node_rounding = 5e-14;

/// The series of two tokens, whose values are exact to rounding.
class PairSeries : public HardmaxInformation {
 public:
  explicit PairSeries(std::vector<double> values) : series_(0.0, max_angle, values) {}
  [[nodiscard]] Estimate operator()(double lambda) const override {
    const double scale = 1.0 / std::sqrt(1.0 + lambda);
    const double value = series_(angle(lambda));
    return {value * scale, (series_.tail() + node_rounding * value) * scale};
  }

 private:
  numerics::ChebyshevSeries series_;
};

/// The series of more tokens, whose values are sampled. The error of a value follows from those of
/// its nodes, by means of the series that is 1 at one node and 0 at the others.
class SampledSeries : public HardmaxInformation {
 public:
  explicit SampledSeries(const std::vector<Estimate>& nodes) : series_(make(nodes)) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::vector<double> one(nodes.size(), 0.0);
      one[i] = nodes[i].error;
      effects_.emplace_back(0.0, max_angle, one);
    }
  }
  [[nodiscard]] Estimate operator()(double lambda) const override {
    const double scale = 1.0 / std::sqrt(1.0 + lambda);
    const double x = angle(lambda);
    double variance = 0.0;
    for (const auto& effect : effects_) variance += std::pow(effect(x), 2);
    return {series_(x) * scale, std::sqrt(variance) * scale};
  }

 private:
  static numerics::ChebyshevSeries make(const std::vector<Estimate>& nodes) {
    std::vector<double> values;
    for (const Estimate& e : nodes) values.push_back(e.value);
    return {0.0, max_angle, values};
  }
  numerics::ChebyshevSeries series_;
  std::vector<numerics::ChebyshevSeries> effects_;
};

std::shared_ptr<const HardmaxInformation> make_pair(const PublishedHardmax& published,
                                                    const Context& context) {
  constexpr int degree = 26;
  // The last node stands for infinity and the first for 0, to closer than rounding can tell.
  constexpr double min_angle = 1e-9;
  std::vector<double> angles = numerics::ChebyshevSeries::nodes(0.0, max_angle, degree);
  std::vector<double> values(angles.size());
  angles.front() = min_angle;
  numerics::parallel_for(context, angles.size() - 1, [&](std::size_t i) {
    const double root = std::tan(angles[i]);
    values[i] = hardmax_pair_information(root * root, published) / std::cos(angles[i]);
  });
  // This is the constant of ties at tau^2 = 1; a pair has one kind of tie, and its variance drops
  // out.
  values.back() = published.density ? 0.0 : hardmax_tie_constant(2);
  return std::make_shared<PairSeries>(values);
}

std::shared_ptr<const HardmaxInformation> make_sampled(int tokens, std::uint64_t seed,
                                                       const Context& context) {
  std::vector<Estimate> nodes;
  if (tokens <= max_table_tokens) {
    const auto& row = table[static_cast<std::size_t>(tokens - 3)];
    nodes.assign(row.begin(), row.end());
  } else {
    nodes = sampled_nodes(tokens, untabulated_samples, seed, context);
  }
  nodes.push_back({hardmax_tie_constant(tokens), 0.0});
  return std::make_shared<SampledSeries>(nodes);
}

}  // namespace

std::shared_ptr<const HardmaxInformation> hardmax_information(int tokens,
                                                              const PublishedHardmax& published,
                                                              std::uint64_t seed,
                                                              const Context& context) {
  if (tokens > 2) return make_sampled(tokens, seed, context);
  static std::mutex mutex;
  static std::map<std::tuple<bool, double>, std::shared_ptr<const HardmaxInformation>> made;
  const std::lock_guard lock(mutex);
  auto& kept = made[{published.density, published.off_scale}];
  if (!kept) kept = make_pair(published, context);
  return kept;
}

}  // namespace onset::aim
