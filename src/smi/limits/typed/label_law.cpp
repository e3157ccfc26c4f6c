#include "smi/limits/typed/label_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/control_variates.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/parallel.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/label_units.hpp"
#include "smi/limits/typed/outer_samples.hpp"
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

constexpr Eigen::Index first_control = 1;

/// Sums over samples of what each says of the information, with its weight, and of products: rows
/// are the logarithm of the ratio, then controls of expectation 0, which are the weight less 1,
/// <xi_k^2> - 1 of every normal, and z^2 - 1 of every field that made the label.
struct InformationSums {
  explicit InformationSums(Eigen::Index rows)
      : sum(Eigen::VectorXd::Zero(rows)), products(Eigen::MatrixXd::Zero(rows, rows)) {}

  Eigen::VectorXd sum;
  Eigen::MatrixXd products;

  InformationSums& operator+=(const InformationSums& other) {
    sum += other.sum;
    products += other.products;
    return *this;
  }
};

/// <xi_k^2> from both halves, less what the ratio of noisy sums adds: twice what the mean of the
/// halves exceeds the ratio of all lines by.
FieldVector mean_squares(const TypedMoments& moments) {
  const auto& [a, b] = moments.half;
  const double apart = std::tanh(0.5 * (a.log_z - b.log_z));
  const FieldVector first = a.second.diagonal();
  const FieldVector second = b.second.diagonal();
  return 0.5 * (first + second) - apart * (second - first);
}

/// The coefficients of the controls: a regression over all samples, without directions in which
/// controls do not scatter.
Eigen::VectorXd regression(const InformationSums& all, double count) {
  constexpr double negligible_scatter = 1e-9;  // relative to that of the others
  const Eigen::Index controls = all.sum.size() - first_control;
  const Eigen::MatrixXd scatter = all.products.bottomRightCorner(controls, controls) / count;
  const Eigen::VectorXd with_target =
      (all.products.bottomLeftCorner(controls, 1) - all.sum(0) / count * all.sum.tail(controls)) /
      count;
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(scatter);
  Eigen::VectorXd out = Eigen::VectorXd::Zero(controls);
  for (Eigen::Index k = 0; k < controls; ++k) {
    if (!(eigen.values(k) > negligible_scatter * eigen.values.maxCoeff())) continue;
    out += eigen.vectors.col(k) * (eigen.vectors.col(k).dot(with_target) / eigen.values(k));
  }
  return out;
}

}  // namespace

std::optional<Estimate> label_log_density(const TypedLink& link, std::uint64_t seed,
                                          const Context& context) {
  if (!has_label_integral(link)) return std::nullopt;
  TypedChannelOptions options;
  options.seed = seed;
  const SampleForm form(link, KnownDirections::none(link.directions()));
  constexpr int second_moments = 2;
  const LabelUnits units(link, form, options, second_moments, context, LabelCover::lines);
  const ContentsOf<LevelMoments> contents = [](const LevelMoments& m) -> std::vector<double> {
    if (!(m.z > 0.0)) return {};
    return {m.z, m.z * std::abs(std::log(m.z))};
  };
  const LabelRule rule = units.rule(contents, context);
  const auto sums = pooled_sums(
      units.count(), rule.nodes, LabelSums{},
      [&](std::size_t unit, const TypedLabel& label) { return units.moments(unit, label); },
      [](const LevelMoments& pooled, double weight, LabelSums& to) {
        to.mass += weight;
        to.log_density += weight * std::log(pooled.z);
        to.squares += weight * pooled.second.trace() / pooled.z;
      },
      [](const LevelMoments& pooled) { return std::vector<double>{pooled.z}; }, context);
  const double of_rule = rule.error.size() > 1 ? rule.error[1] : 0.0;
  if (units.count() == 1) {
    const LabelSums& all = sums.units.front();
    const double missed = entropy_of_missed(rule.missed(all.mass));
    return Estimate{all.log_density, std::max(exact_error, of_rule + missed)};
  }
  Eigen::MatrixXd controls(static_cast<Eigen::Index>(units.count()), 2);
  numerics::Replicates masses;
  for (std::size_t u = 0; u < units.count(); ++u) {
    const LabelSums& one = sums.units[u];
    controls.row(static_cast<Eigen::Index>(u)) << one.mass - 1.0,
        one.squares - static_cast<double>(form.normals());
    masses.push_back(one.mass);
  }
  numerics::Replicates values;
  for (const LabelSums& one : combined(numerics::control_weights(controls), sums.units)) {
    values.push_back(one.log_density);
  }
  const Estimate mass = numerics::reduce(masses);
  const double missed = std::max(0.0, std::abs(mass.value - 1.0) - 3.0 * mass.error);
  const double of_lines = sums.ratio_bias + units.common_error();
  return numerics::reduce(values, of_rule + of_lines + entropy_of_missed(missed));
}

numerics::Replicates label_information(const TypedLink& link, const KnownDirections& state,
                                       TypedChannelOptions options, const Context& context) {
  // Logarithms and controls are nearly quadratic in the fields: points in the dimensions of these
  // integrate them better than ranks do.
  options.by_rank = false;
  const SampleForm form(link, state);
  const auto rows = static_cast<Eigen::Index>(link.fields().size());
  const NormalForm plain{FieldVector::Zero(rows), FieldMatrix::Identity(rows, rows)};
  const auto normals = static_cast<Eigen::Index>(form.normals());
  const InformationSums nothing(first_control + 1 + normals + rows);
  const bool is_drawn = !form.labels_are_discrete(link);
  const auto sums = sums_over_samples(
      link, form, options, context, nothing,
      [&](const OuterSample& sample, const SamplePosterior& posterior, InformationSums& to) {
        const TypedMoments known = posterior.moments();
        const TypedMoments unknown =
            typed_posterior(link, plain, sample.label, sample.radius_of_fields, posterior.nodes());
        Eigen::VectorXd row = Eigen::VectorXd::Zero(to.sum.size());
        if (known.found && unknown.found) {  // else shows in the averages' mass
          row(0) = log_evidence(known) - log_evidence(unknown);
          row(first_control) = 1.0;
          row.segment(first_control + 1, normals) = mean_squares(known).array() - 1.0;
          if (is_drawn) row.tail(rows) = sample.fields.array().square() - 1.0;
          row *= sample.weight;
        }
        // The weights of all labels of a sample have nothing to control.
        row(first_control) = is_drawn ? row(first_control) - 1.0 : 0.0;
        to.sum += row;
        to.products += row * row.transpose();
      });
  InformationSums all = nothing;
  for (const InformationSums& one : sums) all += one;
  const auto points = static_cast<double>(options.points);
  const Eigen::VectorXd coefficients = regression(all, points * static_cast<double>(sums.size()));
  numerics::Replicates out;
  for (const InformationSums& one : sums) {
    const double controls = coefficients.dot(one.sum.tail(coefficients.size()));
    out.push_back((one.sum(0) - controls) / points);
  }
  return out;
}

}  // namespace onset::smi
