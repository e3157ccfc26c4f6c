#include <algorithm>

#include "numerics/control_variates.hpp"
#include "smi/limits/typed/label_units.hpp"
#include "smi/limits/typed/pooled_labels.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {
namespace {

/// Mass, pull and growth of one label, of the normals that make fields; noise comes after them.
std::vector<double> contents_of(const LevelMoments& m, Eigen::Index fields) {
  if (!(m.z > 0.0)) return {};
  const FieldMatrix excess =
      m.second.topLeftCorner(fields, fields) - m.z * FieldMatrix::Identity(fields, fields);
  return {m.z, m.mean.head(fields).squaredNorm() / m.z, excess.squaredNorm() / m.z};
}

/// The mass of all labels is 1, and E<xi xi^T> is the identity: how the errors of lines there go
/// with those of the other averages is taken out of these [links 16].
std::vector<TypedAverages> less_scattered(const std::vector<TypedAverages>& replicates) {
  const auto count = static_cast<Eigen::Index>(replicates.size());
  Eigen::MatrixXd controls(count, 2);
  for (Eigen::Index r = 0; r < count; ++r) {
    const TypedAverages& one = replicates[static_cast<std::size_t>(r)];
    controls.row(r) << one.mass - 1.0, one.defect.trace();
  }
  std::vector<TypedAverages> out = combined(numerics::control_weights(controls), replicates);
  for (std::size_t r = 0; r < out.size(); ++r) {
    // Both remain what was found, for all who ask whether parts were missed.
    out[r].mass = replicates[r].mass;
    out[r].defect = replicates[r].defect;
  }
  return out;
}

/// Pull and growth, averaged over the symmetries of the law of labels: what these make equal is
/// equal in every replicate then, and of the directions that grow alike no scatter selects one.
void symmetrise(const TypedLink& link, std::vector<TypedAverages>& averages) {
  const auto maps = signed_symmetries(link, LabelUnder::renamed);
  const auto part = 1.0 / static_cast<double>(maps.size());
  const std::vector<TypedAverages> found = averages;
  for (TypedAverages& one : averages) {
    one.pull.setZero();
    one.growth.setZero();
  }
  for (const Eigen::MatrixXd& map : maps) {
    const Eigen::MatrixXd pairs = on_pairs(map);
    for (std::size_t r = 0; r < found.size(); ++r) {
      averages[r].pull += part * map * found[r].pull * map.transpose();
      averages[r].growth += part * pairs * found[r].growth * pairs.transpose();
    }
  }
}

}  // namespace

std::vector<TypedAverages> typed_channel_at_zero(const TypedLink& link,
                                                 const TypedChannelOptions& options,
                                                 const Context& context) {
  const KnownDirections nothing = KnownDirections::none(link.directions());
  if (!has_label_integral(link)) {
    std::vector<TypedAverages> drawn = typed_channel(link, nothing, options, context);
    symmetrise(link, drawn);
    return drawn;
  }
  const SampleForm form(link, nothing);
  const LabelUnits units(link, form, options, 2, context);
  const auto fields = static_cast<Eigen::Index>(form.field_normals());
  const ContentsOf<LevelMoments> contents = [fields](const LevelMoments& m) {
    return contents_of(m, fields);
  };
  const LabelRule rule = units.rule(contents, context);
  RuleErrors rule_error;
  if (rule.error.size() > 2) {
    // What is lost of the mass is lost of both.
    rule_error = {std::max(rule.error[0], rule.error[1]), std::max(rule.error[0], rule.error[2])};
  }
  const auto sums = pooled_sums(
      units.count(), rule.nodes, form.zero(),
      [&](std::size_t unit, const TypedLabel& label) { return units.moments(unit, label); },
      [&](const LevelMoments& pooled, double weight, TypedAverages& to) {
        form.add(normalised(pooled, pooled), weight, to);
      },
      contents, context);
  std::vector<TypedAverages> out = less_scattered(sums.units);
  symmetrise(link, out);
  if (units.count() == 1) {
    // Pull asks for z^2 = h_1^2, growth for (z^2 - 1)^2 = 2 h_2^2.
    const double missed = rule.missed(sums.units.front().mass);
    const double excess = -sums.units.front().defect(0, 0);
    rule_error.pull = std::max(rule_error.pull, missed_weight(missed, excess, 1));
    rule_error.growth = std::max(rule_error.growth, 2.0 * missed_weight(missed, excess, 2));
  }
  for (TypedAverages& one : out) {
    one.ratio_bias = sums.ratio_bias + units.common_error();
    one.rule_error = rule_error;
  }
  return out;
}

}  // namespace onset::smi
