#include "smi/limits/typed/label_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "numerics/control_variates.hpp"
#include "numerics/parallel.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/pooled_labels.hpp"
#include "smi/limits/typed/verdict.hpp"

namespace onset::smi {
namespace {

/// Integrals over labels; of the mass and of E|xi|^2 the values are known.
struct LabelSums {
  double mass = 0.0;
  double log_density = 0.0;
  double squares = 0.0;

  LabelSums& operator+=(const LabelSums& other) {
    mass += other.mass;
    log_density += other.log_density;
    squares += other.squares;
    return *this;
  }
  LabelSums& operator*=(double factor) {
    mass *= factor;
    log_density *= factor;
    squares *= factor;
    return *this;
  }
};

/// What labels of this mass, that the rule left out, may add to E log p. Their densities may be as
/// small as the mass, in tails, or as large as one over the distance of numbers, where a link
/// saturates.
double entropy_of_missed(double mass) {
  if (!(mass > 0.0)) return 0.0;
  const double distance = std::numeric_limits<double>::epsilon();
  return mass * (1.0 - std::log(std::min(mass, distance)));
}

}  // namespace

std::optional<Estimate> label_log_density(const TypedLink& link, std::uint64_t seed,
                                          const Context& context) {
  if (!has_label_integral(link)) return std::nullopt;
  TypedChannelOptions options;
  options.seed = seed;
  const SampleForm form(link, KnownDirections::none(link.directions()));
  const std::size_t n = form.normals();
  // One normal has one line: no rotation, no shift, and so no scatter.
  const std::size_t units = n == 1 ? 1 : 2 * options.replicates;
  std::vector<std::unique_ptr<LabelLines>> lines((units + 1) / 2);
  numerics::parallel_for(context, lines.size(), [&](std::size_t r) {
    lines[r] = std::make_unique<LabelLines>(link, form, options, r);
  });
  const auto contents = [&](const TypedLabel& label) -> std::vector<double> {
    const double z = lines[0]->half(label, 0).z;
    if (!(z > 0.0)) return {};
    return {z, z * std::abs(std::log(z))};
  };
  const LabelRule rule = label_rule(link, contents, lines[0]->atoms(), context);
  const auto sums = pooled_sums(
      units, rule.nodes, LabelSums{},
      [&](std::size_t unit, const TypedLabel& label) {
        return lines[unit / 2]->half(label, unit % 2);
      },
      [](const LevelMoments& pooled, double weight, LabelSums& to) {
        to.mass += weight;
        to.log_density += weight * std::log(pooled.z);
        to.squares += weight * pooled.second.trace() / pooled.z;
      },
      [](const LevelMoments& pooled) { return std::vector<double>{pooled.z}; }, context);
  const double of_rule = rule.error.size() > 1 ? rule.error[1] : 0.0;
  if (units == 1) {
    const LabelSums& all = sums.units.front();
    const double missed = entropy_of_missed(rule.missed(all.mass));
    return Estimate{all.log_density, std::max(exact_error, of_rule + missed)};
  }
  Eigen::MatrixXd controls(static_cast<Eigen::Index>(units), 2);
  numerics::Replicates masses;
  for (std::size_t u = 0; u < units; ++u) {
    const LabelSums& one = sums.units[u];
    controls.row(static_cast<Eigen::Index>(u)) << one.mass - 1.0,
        one.squares - static_cast<double>(n);
    masses.push_back(one.mass);
  }
  numerics::Replicates values;
  for (const LabelSums& one : combined(numerics::control_weights(controls), sums.units)) {
    values.push_back(one.log_density);
  }
  const Estimate mass = numerics::reduce(masses);
  const double missed = std::max(0.0, std::abs(mass.value - 1.0) - 3.0 * mass.error);
  return numerics::reduce(values, of_rule + sums.ratio_bias + entropy_of_missed(missed));
}

}  // namespace onset::smi
