#include "smi/limits/typed/typed_channel.hpp"

#include <cmath>

#include "onset/core/error.hpp"
#include "smi/limits/typed/outer_samples.hpp"

namespace onset::smi {
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
      [&](const OuterSample& sample, const SamplePosterior& posterior, TypedAverages& sum) {
        const TypedMoments moments = posterior.moments();
        if (moments.found) form.add(moments, sample.weight, sum);  // else shows in the mass
      });
  for (TypedAverages& sum : sums) {
    // Fields are drawn from another law than their own: the weights' mean is 1 only nearly.
    const double mass = sum.mass / static_cast<double>(options.points);
    sum *= 1.0 / sum.mass;
    sum.mass = mass;
    const double count = count_error(link, form, options);
    if (sum.pull.size() > 0) sum.rule_error.pull = count * sum.pull.cwiseAbs().maxCoeff();
    if (sum.growth.size() > 0) sum.rule_error.growth = count * sum.growth.cwiseAbs().maxCoeff();
  }
  return sums;
}

}  // namespace onset::smi
