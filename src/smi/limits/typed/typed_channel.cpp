#include "smi/limits/typed/typed_channel.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/typed/outer_samples.hpp"

namespace onset::smi {
namespace {

/// The fields that make a label are drawn with this variance and weighted back: growth rates are
/// fourth moments.
constexpr double wide_variance = 1.5;
/// A level set is covered until the prior has fallen by exp(-15) below the point that made the
/// label.
constexpr double fall = 30.0;

/// The posterior of a sample's label where nothing is known.
TypedMoments plain_posterior(const TypedLink& link, const OuterSample& sample,
                               const TypedNodes& nodes) {
  const auto rows = static_cast<Eigen::Index>(link.fields().size());
  const NormalForm plain{FieldVector::Zero(rows), FieldMatrix::Identity(rows, rows)};
  // The fields that made the label are no longer than their two parts together.
  const double made = sample.at.origin.norm() + std::sqrt(sample.radius * sample.radius - fall);
  return typed_posterior(link, plain, sample.label, std::sqrt(made * made + fall), nodes);
}

}  // namespace

std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                       const numerics::PointSet& points, std::size_t first,
                                       std::size_t last) {
  const std::size_t count = last - first;
  const std::size_t n = form.normals();
  std::vector<double> normals((n + form.centres()) * count);
  points.points(first, count, normals);
  numerics::simd::normal_quantile(normals, normals);
  const std::size_t rows = link.fields().size();
  FieldVector xi(static_cast<Eigen::Index>(n));
  Eigen::VectorXd eta(static_cast<Eigen::Index>(form.centres()));
  const std::size_t outputs = link.outputs();
  std::vector<double> gradients(outputs * rows);
  std::vector<OuterSample> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      xi(static_cast<Eigen::Index>(k)) = std::sqrt(wide_variance) * normals[k * count + i];
    }
    for (std::size_t k = 0; k < form.centres(); ++k) {
      eta(static_cast<Eigen::Index>(k)) = normals[(n + k) * count + i];
    }
    OuterSample& sample = out[i];
    sample.at.matrix = form.matrix();
    sample.at.origin = form.centre() * eta;
    if (form.centres() == 0) sample.at.origin.setZero(static_cast<Eigen::Index>(rows));
    const FieldVector fields = sample.at.origin + sample.at.matrix * xi;
    link.gradient(1, fields.data(), sample.label.value.data(), gradients.data());
    sample.label.density = sample.at.independent_outputs(gradients.data(), outputs);
    sample.weight = std::pow(wide_variance, 0.5 * static_cast<double>(n)) *
                    std::exp(-0.5 * xi.squaredNorm() * (1.0 - 1.0 / wide_variance));
    sample.radius = std::sqrt(xi.squaredNorm() + fall);
  }
  return out;
}

TypedAverages& TypedAverages::operator+=(const TypedAverages& other) {
  pull += other.pull;
  growth += other.growth;
  precision += other.precision;
  defect += other.defect;
  log_evidence += other.log_evidence;
  mass += other.mass;
  ratio_bias += other.ratio_bias;
  return *this;
}

TypedAverages& TypedAverages::operator*=(double factor) {
  pull *= factor;
  growth *= factor;
  precision *= factor;
  defect *= factor;
  log_evidence *= factor;
  mass *= factor;
  ratio_bias *= factor;
  return *this;
}

KnownDirections KnownDirections::none(std::size_t directions) {
  const auto size = static_cast<Eigen::Index>(directions);
  return {Eigen::MatrixXd(size, 0), Eigen::MatrixXd::Identity(size, size), Eigen::MatrixXd(0, 0)};
}

KnownDirections KnownDirections::exactly() const {
  return {known, open, Eigen::MatrixXd::Identity(known.cols(), known.cols())};
}

std::vector<TypedAverages> typed_channel(const TypedLink& link, const KnownDirections& state,
                                         const TypedChannelOptions& options,
                                         const Context& context) {
  const SampleForm form(link, state);
  if (form.normals() == 0) throw Refused("every field of the link is known");
  auto sums = sums_over_samples(
      link, form, options, context, form.zero(),
      [&](const OuterSample& sample, const TypedNodes& nodes, TypedAverages& sum) {
        const TypedMoments moments =
            typed_posterior(link, sample.at, sample.label, sample.radius, nodes);
        if (!moments.found) return;  // shows in the mass
        if (options.from_label_law) {
          const TypedMoments plain = plain_posterior(link, sample, nodes);
          if (!plain.found) return;
          sum.log_evidence -= sample.weight * log_evidence(plain);
        }
        form.add(moments, sample.weight, sum);
      });
  for (TypedAverages& sum : sums) {
    // Fields are drawn from another law than their own: the weights' mean is 1 only nearly.
    const double mass = sum.mass / static_cast<double>(options.points);
    sum *= 1.0 / sum.mass;
    sum.mass = mass;
    if (sum.growth.size() > 0) {
      sum.rule_error = count_error(link, options) * sum.growth.cwiseAbs().maxCoeff();
    }
  }
  return sums;
}

}  // namespace onset::smi
