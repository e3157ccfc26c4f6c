#include "smi/limits/typed/typed_channel.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/typed/outer_samples.hpp"

namespace onset::smi {
namespace {

/// Samples that one task averages.
constexpr std::size_t chunk = 16;
/// The fields that make a label are drawn with this variance and weighted back: growth rates are
/// fourth moments.
constexpr double wide_variance = 1.5;
/// A level set is covered until the prior has fallen by exp(-15) below the point that made the
/// label.
constexpr double fall = 30.0;

/// The averages of samples [first, last) of one replicate.
TypedAverages average(const TypedLink& link, const SampleForm& form,
                      const numerics::PointSet& points, std::size_t first, std::size_t last,
                      const TypedNodes& base) {
  TypedAverages sum = form.zero();
  TypedNodes nodes = base;
  nodes.sample = first;
  for (const OuterSample& sample : outer_samples(link, form, points, first, last)) {
    const TypedMoments moments =
        typed_posterior(link, sample.at, sample.label, sample.radius, nodes);
    ++nodes.sample;
    if (!moments.found) continue;  // shows in the mass
    form.add(moments, sample.weight, sum);
  }
  return sum;
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
  std::vector<double> gradient(rows);
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
    link.gradient(1, fields.data(), &sample.label.value, gradient.data());
    sample.label.is_atom = sample.at.is_flat(gradient.data());
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
  const std::size_t chunks = (options.points + chunk - 1) / chunk;
  const int dimensions = static_cast<int>(form.normals() + form.centres());
  std::vector<TypedAverages> parts(options.replicates * chunks);
  numerics::parallel_for(context, parts.size(), [&](std::size_t task) {
    const std::size_t replicate = task / chunks;
    const std::size_t first = (task % chunks) * chunk;
    const auto points = numerics::scrambled_sobol(dimensions, options.seed, replicate);
    TypedNodes nodes;
    nodes.spacing = options.spacing > 0.0 ? options.spacing : default_spacing(form.normals());
    nodes.spacing /= options.refinement;
    nodes.seed = options.seed;
    nodes.replicate = replicate;
    parts[task] =
        average(link, form, *points, first, std::min(first + chunk, options.points), nodes);
  });
  std::vector<TypedAverages> out;
  for (std::size_t r = 0; r < options.replicates; ++r) {
    TypedAverages sum = form.zero();
    for (std::size_t c = 0; c < chunks; ++c) sum += parts[r * chunks + c];
    // Fields are drawn from another law than their own: the weights' mean is 1 only nearly.
    const double mass = sum.mass / static_cast<double>(options.points);
    sum *= 1.0 / sum.mass;
    sum.mass = mass;
    out.push_back(std::move(sum));
  }
  return out;
}

}  // namespace onset::smi
