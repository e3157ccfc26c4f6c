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
    sample.fields = sample.at.origin + sample.at.matrix * xi;
    link.gradient(1, sample.fields.data(), sample.label.value.data(), gradients.data());
    sample.label.density = sample.at.independent_outputs(gradients.data(), outputs);
    sample.weight = std::pow(wide_variance, 0.5 * static_cast<double>(n)) *
                    std::exp(-0.5 * xi.squaredNorm() * (1.0 - 1.0 / wide_variance));
    sample.radius = std::sqrt(xi.squaredNorm() + fall_of_prior);
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
        if (moments.found) form.add(moments, sample.weight, sum);  // else shows in the mass
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
