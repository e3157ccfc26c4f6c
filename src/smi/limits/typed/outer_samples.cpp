#include "smi/limits/typed/outer_samples.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

/// The fields that make a label are drawn with this variance and weighted back: growth rates are
/// fourth moments. For the same reason ranks are 3 u^2 - 2 u^3, which lie closer towards both ends.
constexpr double wide_variance = 1.5;
/// Labels among which one has its rank: so many that this is nearly its rank in their law, and
/// still cheap beside a posterior.
constexpr std::size_t ranked_points = 1024;
/// Their set is none of those of samples.
constexpr std::uint64_t many_labels = 0x6d616e796c616265;

/// How the labels of samples are made, by what takes the least dimensions.
enum class Labels {
  summed,  ///< all of them: none
  ranked,  ///< by their rank among many: one
  drawn    ///< by the normals of their fields
};

Labels labels_of(const TypedLink& link, const SampleForm& form, bool by_rank) {
  if (form.labels_are_discrete(link)) return Labels::summed;
  return by_rank && link.outputs() == 1 && form.normals() > 1 ? Labels::ranked : Labels::drawn;
}

/// What normals of the wide law count.
double weight_of(double squared_norm, std::size_t normals) {
  return std::pow(wide_variance, 0.5 * static_cast<double>(normals)) *
         std::exp(-0.5 * squared_norm * (1.0 - 1.0 / wide_variance));
}

/// Columns of normals of the wide law.
Eigen::MatrixXd wide_normals(const numerics::PointSet& points, std::size_t first,
                             std::size_t count) {
  std::vector<double> normals(static_cast<std::size_t>(points.dimensions()) * count);
  points.points(first, count, normals);
  numerics::simd::normal_quantile(normals, normals);
  return std::sqrt(wide_variance) * Eigen::Map<Eigen::MatrixXd>(normals.data(),
                                                                static_cast<Eigen::Index>(count),
                                                                points.dimensions())
                                        .transpose();
}

/// Normals with what they count.
struct Weighted {
  FieldVector xi;
  double weight;
};

/// The column of normals of the wide law whose label has a rank, 0 to 1, among those of all columns
/// with their weights: the mean over ranks is the weighted mean over columns.
Weighted ranked(const TypedLink& link, const NormalForm& at, const Eigen::MatrixXd& xi,
                double rank) {
  const auto count = static_cast<std::size_t>(xi.cols());
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> fields =
      (at.matrix * xi).colwise() + Eigen::VectorXd(at.origin);
  std::vector<double> label(count);
  link.values(count, fields.data(), label.data());
  struct Place {
    double label;
    std::size_t column;
    std::strong_ordering operator<=>(const Place& other) const {
      const std::strong_ordering by_label = std::strong_order(label, other.label);
      return std::is_neq(by_label) ? by_label : column <=> other.column;
    }
  };
  std::vector<Place> order;
  for (std::size_t k = 0; k < count; ++k) order.push_back({label[k], k});
  std::sort(order.begin(), order.end());
  std::vector<double> until;
  double sum = 0.0;
  for (const Place& place : order) {
    const double norm = xi.col(static_cast<Eigen::Index>(place.column)).squaredNorm();
    until.push_back(sum += weight_of(norm, at.normals()));
  }
  const auto found = std::upper_bound(until.begin(), until.end() - 1, rank * sum) - until.begin();
  const std::size_t chosen = order[static_cast<std::size_t>(found)].column;
  return {xi.col(static_cast<Eigen::Index>(chosen)), sum / static_cast<double>(count)};
}

}  // namespace

std::vector<OuterSample> outer_samples(const TypedLink& link, const SampleForm& form,
                                       const TypedNodes& nodes, std::size_t count, bool by_rank) {
  const Labels labels = labels_of(link, form, by_rank);
  const std::size_t own =
      labels == Labels::drawn ? form.normals() : (labels == Labels::ranked ? 1 : 0);
  const std::size_t dimensions = std::max<std::size_t>(1, own + form.centres());
  std::vector<double> uniforms(dimensions * count);
  numerics::scrambled_sobol(static_cast<int>(dimensions), nodes.seed, nodes.replicate)
      ->points(nodes.sample, count, uniforms);
  std::vector<double> normals(uniforms.size());
  numerics::simd::normal_quantile(uniforms, normals);
  const auto others = numerics::scrambled_sobol(static_cast<int>(form.normals()),
                                                nodes.seed ^ many_labels, nodes.replicate);
  const std::size_t rows = link.fields().size();
  Eigen::VectorXd eta(static_cast<Eigen::Index>(form.centres()));
  const std::size_t outputs = link.outputs();
  std::vector<double> gradients(outputs * rows);
  std::vector<OuterSample> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < form.centres(); ++k) {
      eta(static_cast<Eigen::Index>(k)) = normals[(own + k) * count + i];
    }
    OuterSample& sample = out[i];
    sample.at.matrix = form.matrix();
    sample.at.origin = form.centre() * eta;
    if (form.centres() == 0) sample.at.origin.setZero(static_cast<Eigen::Index>(rows));
    if (labels == Labels::summed) {
      sample.radius = covering_radius(form.normals());
      sample.radius_of_fields = covering_radius(rows);
      continue;
    }
    Weighted drawn;
    if (labels == Labels::ranked) {
      const double u = uniforms[i];
      const Eigen::MatrixXd many =
          wide_normals(*others, (nodes.sample + i) * ranked_points, ranked_points);
      drawn = ranked(link, sample.at, many, u * u * (3.0 - 2.0 * u));
      drawn.weight *= 6.0 * u * (1.0 - u);
    } else {
      drawn.xi.resize(static_cast<Eigen::Index>(own));
      for (std::size_t k = 0; k < own; ++k) {
        drawn.xi(static_cast<Eigen::Index>(k)) = std::sqrt(wide_variance) * normals[k * count + i];
      }
      drawn.weight = weight_of(drawn.xi.squaredNorm(), own);
    }
    sample.fields = sample.at.origin + sample.at.matrix * drawn.xi;
    sample.weight = drawn.weight;
    link.gradient(1, sample.fields.data(), sample.label.value.data(), gradients.data());
    sample.label.density = sample.at.independent_outputs(gradients.data(), outputs);
    sample.radius = std::sqrt(drawn.xi.squaredNorm() + fall_of_prior);
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
