#include "smi/limits/typed/outer_samples.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

/// The fields that make a label are drawn with this variance and weighted back: growth rates are
/// fourth moments.
constexpr double wide_variance = 1.5;

}  // namespace

std::size_t outer_dimensions(const TypedLink& link, const SampleForm& form) {
  return form.centres() + (form.labels_are_discrete(link) ? 0 : form.normals());
}

std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                       const numerics::PointSet& points, std::size_t first,
                                       std::size_t last) {
  const std::size_t count = last - first;
  const std::size_t n = outer_dimensions(link, form) - form.centres();
  std::vector<double> normals(static_cast<std::size_t>(points.dimensions()) * count);
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
    if (n == 0) {
      sample.radius = covering_radius(form.normals());
      sample.radius_of_fields = covering_radius(rows);
      continue;
    }
    sample.fields = sample.at.origin + sample.at.matrix * xi;
    link.gradient(1, sample.fields.data(), sample.label.value.data(), gradients.data());
    sample.label.density = sample.at.independent_outputs(gradients.data(), outputs);
    sample.weight = std::pow(wide_variance, 0.5 * static_cast<double>(n)) *
                    std::exp(-0.5 * xi.squaredNorm() * (1.0 - 1.0 / wide_variance));
    sample.radius = std::sqrt(xi.squaredNorm() + fall_of_prior);
    sample.radius_of_fields = std::sqrt(sample.fields.squaredNorm() + fall_of_prior);
  }
  return out;
}

SampleRegions::SampleRegions(const TypedLink& link, const OuterSample& sample,
                             const TypedNodes& nodes) {
  for (std::uint64_t h = 0; h < 2; ++h) {
    LineOptions options = line_options(sample.at.normals(), sample.radius, nodes, h);
    options.only_regions = true;
    lines_[h] = std::make_unique<LevelLines>(link, sample.at, options);
    for (const TypedLabel& label : lines_[h]->atoms()) {
      const bool is_known = std::any_of(regions_.begin(), regions_.end(), [&](const Region& one) {
        return link.same_label(one.label, label);
      });
      if (!is_known) {
        const LevelMoments none(sample.at.normals());
        regions_.push_back({label, {none, none}});
      }
    }
  }
  for (Region& region : regions_) {
    for (std::uint64_t h = 0; h < 2; ++h) region.half[h] = lines_[h]->moments(region.label);
  }
}

TypedMoments SamplePosterior::moments() const {
  if (region_ != nullptr) return normalised(region_->half[0], region_->half[1]);
  return typed_posterior(*link_, sample_->at, sample_->label, sample_->radius, *nodes_);
}

LevelHermite SamplePosterior::hermite(std::uint64_t half, const HermiteIndices& indices) const {
  if (all_ != nullptr) return all_->lines(half).hermite(sample_->label, indices);
  return half_hermite(*link_, sample_->at, sample_->label, sample_->radius, *nodes_, half, indices);
}

}  // namespace onset::smi
