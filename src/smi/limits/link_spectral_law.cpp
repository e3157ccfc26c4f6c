#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/spectral_law.hpp"
#include "smi/limits/typed/label_lines.hpp"
#include "smi/limits/typed/label_units.hpp"
#include "smi/limits/typed/outer_samples.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/model/typed/link_probe.hpp"
#include "smi/model/typed/symmetries.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using LinkLabels = std::vector<LabelExcess>;

/// Half the units of the jackknife, by the number of fields: sets of lines, whose halves are units,
/// or of three fields and more pairs of sets of samples.
constexpr std::size_t sets[] = {1, 8, 4, 4};
/// Samples in bins are cheap: they are so many times those of the first look at thresholds.
constexpr double refined_bins = 2.0;
/// Labels per replicate that are drawn, by the number of fields: as many as are cheap.
constexpr std::size_t drawn_labels[] = {1024, 512, 128, 128};
/// The part of drawn labels that the posterior may fail to find again.
constexpr double max_missed = 1e-3;

/// The directions that a link reads, in order.
std::vector<std::size_t> used_directions(const TypedLink& link) {
  std::vector<std::size_t> out;
  for (const TypedField& field : link.fields()) {
    if (field.direction) out.push_back(*field.direction);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Whether labels stay the same when these directions change sign.
bool keeps_labels(const TypedLink& link, const LinkProbe& probe,
                  const std::vector<std::size_t>& flipped) {
  const auto rows = static_cast<Index>(link.fields().size());
  MatrixXd map = MatrixXd::Identity(rows, rows);
  for (Index f = 0; f < rows; ++f) {
    const auto& direction = link.fields()[static_cast<std::size_t>(f)].direction;
    if (direction && std::find(flipped.begin(), flipped.end(), *direction) != flipped.end()) {
      map(f, f) = -1.0;
    }
  }
  const std::vector<double> after = probe.after(map);
  for (std::size_t k = 0; k < link.outputs(); ++k) {
    if (!probe.agrees(k, after, k)) return false;
  }
  return true;
}

/// G of every block from the second moments of the link's fields.
std::vector<MatrixXd> excess_of(const TypedLink& link,
                                const std::vector<std::vector<std::size_t>>& blocks,
                                const MatrixXd& second, std::size_t all_tokens) {
  const auto tokens = static_cast<Index>(all_tokens);
  std::vector<MatrixXd> out;
  for (const auto& block : blocks) {
    const Index size = static_cast<Index>(block.size()) * tokens;
    MatrixXd g = MatrixXd::Zero(size, size);
    const auto place = [&](const TypedField& field) -> Index {
      if (!field.direction) return -1;
      const auto found = std::find(block.begin(), block.end(), *field.direction);
      return found == block.end() ? -1
                                  : static_cast<Index>(found - block.begin()) * tokens +
                                        static_cast<Index>(field.token);
    };
    for (std::size_t f = 0; f < link.fields().size(); ++f) {
      for (std::size_t h = 0; h < link.fields().size(); ++h) {
        const Index i = place(link.fields()[f]);
        const Index j = place(link.fields()[h]);
        if (i < 0 || j < 0) continue;
        g(i, j) = second(static_cast<Index>(f), static_cast<Index>(h)) - (f == h ? 1.0 : 0.0);
      }
    }
    out.push_back(std::move(g));
  }
  return out;
}

/// The law without its labels.
SpectralLaw empty_law(const TypedLink& link, const std::vector<std::vector<std::size_t>>& blocks) {
  SpectralLaw law;
  law.tokens = static_cast<int>(link.tokens());
  for (const auto& block : blocks) {
    law.rank.push_back(static_cast<int>(block.size()));
    law.copies.push_back(1);
    std::vector<std::string> names;
    for (const std::size_t p : block) names.push_back(fmt::format("z{}", p + 1));
    law.names.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  return law;
}

/// Adds |E[z_b | y]|^2 of one label, from the product of two estimates of the fields' means.
void add_pull(const TypedLink& link, const std::vector<std::vector<std::size_t>>& blocks,
              const Eigen::VectorXd& squares, std::vector<double>& pull) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t f = 0; f < link.fields().size(); ++f) {
      const auto& direction = link.fields()[f].direction;
      if (!direction) continue;
      const bool is_own =
          std::find(blocks[b].begin(), blocks[b].end(), *direction) != blocks[b].end();
      if (is_own) pull[b] += squares(static_cast<Index>(f));
    }
  }
}

/// The mean pull of every block over replicates.
std::vector<Estimate> mean_pull(const std::vector<std::vector<double>>& replicates) {
  std::vector<Estimate> out;
  for (std::size_t b = 0; b < replicates.front().size(); ++b) {
    numerics::Replicates values;
    for (const auto& one : replicates) values.push_back(one[b]);
    out.push_back(values.size() > 1 ? numerics::reduce(values) : Estimate{values.front(), 0.0});
  }
  return out;
}

/// What the drawn labels of one replicate say.
struct DrawnLabels {
  LinkLabels both;
  LinkLabels first;  ///< by one half of the nodes alone
  std::vector<double> pull;
  double drawn = 0.0;  ///< the weight of all labels
  double found = 0.0;  ///< of those that the posterior found again

  DrawnLabels& operator+=(const DrawnLabels& other) {
    both.insert(both.end(), other.both.begin(), other.both.end());
    first.insert(first.end(), other.first.begin(), other.first.end());
    for (std::size_t b = 0; b < pull.size(); ++b) pull[b] += other.pull[b];
    drawn += other.drawn;
    found += other.found;
    return *this;
  }
};

/// Maps of the directions as maps of direction * tokens + token; G does not see a common sign, and
/// one of each pair is enough.
std::vector<MatrixXd> symmetries_of_excess(const TypedLink& link, LabelUnder under) {
  const auto tokens = static_cast<Index>(link.tokens());
  std::vector<MatrixXd> out;
  for (const MatrixXd& map : signed_symmetries(link, under)) {
    MatrixXd all = MatrixXd::Zero(map.rows() * tokens, map.cols() * tokens);
    for (Index p = 0; p < map.rows(); ++p) {
      for (Index q = 0; q < map.cols(); ++q) {
        all.block(p * tokens, q * tokens, tokens, tokens).diagonal().setConstant(map(p, q));
      }
    }
    if (std::none_of(out.begin(), out.end(),
                     [&](const MatrixXd& other) { return (all + other).isZero(0.0); })) {
      out.push_back(std::move(all));
    }
  }
  return out;
}

/// One of every set of maps that differ by a symmetry applied before.
std::vector<MatrixXd> up_to(const std::vector<MatrixXd>& before,
                            const std::vector<MatrixXd>& maps) {
  std::vector<MatrixXd> out;
  for (const MatrixXd& map : maps) {
    const bool known = std::any_of(before.begin(), before.end(), [&](const MatrixXd& first) {
      const MatrixXd both = map * first;
      return std::any_of(out.begin(), out.end(), [&](const MatrixXd& other) {
        return (both - other).isZero(0.0) || (both + other).isZero(0.0);
      });
    });
    if (!known) out.push_back(map);
  }
  return out;
}

/// The diagonal blocks of a matrix over all directions.
std::vector<MatrixXd> parts_of(const MatrixXd& whole,
                               const std::vector<std::vector<std::size_t>>& blocks,
                               std::size_t tokens) {
  std::vector<MatrixXd> out;
  for (const auto& block : blocks) {
    std::vector<Index> at;
    for (const std::size_t p : block) {
      for (std::size_t t = 0; t < tokens; ++t) at.push_back(static_cast<Index>(p * tokens + t));
    }
    out.emplace_back(whole(at, at));
  }
  return out;
}

/// Adds labels by their second moments. G is averaged over the symmetries that keep the label, and
/// every label stands for those that the other symmetries make of it: what symmetries make equal is
/// equal then in every replicate.
class SymmetricLabels {
 public:
  SymmetricLabels(const TypedLink& link, const std::vector<std::vector<std::size_t>>& blocks)
      : link_(&link),
        blocks_(&blocks),
        keeping_(symmetries_of_excess(link, LabelUnder::same)),
        renaming_(up_to(keeping_, symmetries_of_excess(link, LabelUnder::renamed))),
        every_(link.directions()) {
    std::iota(every_.begin(), every_.end(), std::size_t{0});
  }

  /// From the second moments of the link's fields.
  void add(double weight, const MatrixXd& second, LinkLabels& to) const {
    const MatrixXd drawn = excess_of(*link_, {every_}, second, link_->tokens()).front();
    MatrixXd excess = MatrixXd::Zero(drawn.rows(), drawn.cols());
    for (const MatrixXd& map : keeping_) excess += map * drawn * map.transpose();
    excess /= static_cast<double>(keeping_.size());
    const double part = weight / static_cast<double>(renaming_.size());
    for (const MatrixXd& map : renaming_) {
      to.push_back({part, parts_of(map * excess * map.transpose(), *blocks_, link_->tokens())});
    }
  }

 private:
  const TypedLink* link_;
  const std::vector<std::vector<std::size_t>>* blocks_;
  std::vector<MatrixXd> keeping_;
  std::vector<MatrixXd> renaming_;
  std::vector<std::size_t> every_;
};

/// Labels of several outputs are drawn.
SpectralLaw drawn_law(const TypedLink& link, std::uint64_t seed, const Context& context) {
  const SampleForm form(link, KnownDirections::none(link.directions()));
  const auto blocks = sign_blocks(link);
  SpectralLaw law = empty_law(link, blocks);
  TypedChannelOptions options;
  options.seed = seed;
  options.replicates = static_cast<std::size_t>(numerics::default_replicates);
  options.points = drawn_labels[link.fields().size() - 1];
  const SymmetricLabels labels(link, blocks);
  const MatrixXd to_fields = form.matrix();
  DrawnLabels none;
  none.pull.assign(blocks.size(), 0.0);
  const auto sums = sums_over_samples(
      link, form, options, context, none,
      [&](const OuterSample& sample, const SamplePosterior& posterior, DrawnLabels& sum) {
        const TypedMoments m = posterior.moments();
        sum.drawn += sample.weight;
        if (!m.found) return;
        sum.found += sample.weight;
        const auto add = [&](const MatrixXd& over_normals, LinkLabels& to) {
          labels.add(sample.weight, to_fields * over_normals * to_fields.transpose(), to);
        };
        add(0.5 * (m.half[0].second + m.half[1].second), sum.both);
        add(m.half[0].second, sum.first);
        const Eigen::VectorXd mean[2] = {to_fields * Eigen::VectorXd(m.half[0].mean),
                                         to_fields * Eigen::VectorXd(m.half[1].mean)};
        add_pull(link, blocks, sample.weight * mean[0].cwiseProduct(mean[1]), sum.pull);
      });
  double drawn = 0.0;
  double found = 0.0;
  std::vector<std::vector<double>> pulls;
  for (const DrawnLabels& one : sums) {
    drawn += one.drawn;
    found += one.found;
    law.replicates.push_back(one.both);
    law.noisier.push_back(one.first);
    normalise(law.replicates.back());
    normalise(law.noisier.back());
    pulls.push_back(one.pull);
    for (double& pull : pulls.back()) pull /= one.drawn;
  }
  law.pull = mean_pull(pulls);
  if (found < (1.0 - max_missed) * drawn) {
    throw Refused(fmt::format("of the labels a part of {:.2g} was not found again by the posterior",
                              1.0 - found / drawn));
  }
  return law;
}

/// moments[node][unit]: the moments of every label of a rule by every half of all lines.
using UnitMoments = std::vector<std::vector<LevelMoments>>;

UnitMoments unit_moments(const LabelUnits& units, const LabelRule& rule, const Context& context) {
  UnitMoments out(rule.nodes.size());
  numerics::parallel_for(context, out.size(), [&](std::size_t k) {
    for (std::size_t u = 0; u < units.count(); ++u) {
      out[k].push_back(units.moments(u, rule.nodes[k].label));
    }
  });
  return out;
}

/// The labels of a rule, with the moments of all units or of all but one.
class LabelsOfUnits {
 public:
  LabelsOfUnits(const TypedLink& link, const SampleForm& form,
                const std::vector<std::vector<std::size_t>>& blocks, const LabelRule& rule,
                const UnitMoments& moments)
      : link_(&link),
        blocks_(&blocks),
        rule_(&rule),
        moments_(&moments),
        symmetric_(link, blocks),
        to_fields_(form.matrix()) {}

  [[nodiscard]] LinkLabels of_all() const {
    LinkLabels out;
    for (std::size_t k = 0; k < moments_->size(); ++k) add(k, sum_of_units(k), units(), out);
    return out;
  }

  [[nodiscard]] LinkLabels without(std::size_t unit) const {
    LinkLabels out;
    for (std::size_t k = 0; k < moments_->size(); ++k) {
      LevelMoments rest = sum_of_units(k);
      rest -= (*moments_)[k][unit];
      add(k, rest, units() - 1.0, out);
    }
    return out;
  }

  /// Of what moments contain, over all labels.
  [[nodiscard]] std::vector<double> integrals(const ContentsOf<LevelMoments>& contents) const {
    std::vector<double> out;
    for (std::size_t k = 0; k < moments_->size(); ++k) {
      LevelMoments mean = sum_of_units(k);
      mean *= 1.0 / units();
      const std::vector<double> own = contents(mean);
      out.resize(std::max(out.size(), own.size()), 0.0);
      for (std::size_t i = 0; i < own.size(); ++i) out[i] += rule_->nodes[k].weight * own[i];
    }
    return out;
  }

  /// E|E[z_b | y]|^2 of every block, from products of two halves of one set of lines.
  [[nodiscard]] std::vector<std::vector<double>> pulls() const {
    const std::size_t count = moments_->front().size();
    const std::size_t halves = std::min<std::size_t>(count, 2);
    std::vector<std::vector<double>> out(count / halves, std::vector<double>(blocks_->size(), 0.0));
    for (std::size_t k = 0; k < moments_->size(); ++k) {
      for (std::size_t r = 0; r < out.size(); ++r) {
        const LevelMoments& a = (*moments_)[k][halves * r];
        const LevelMoments& b = (*moments_)[k][halves * r + halves - 1];
        if (!(a.z > 0.0) || !(b.z > 0.0)) continue;
        const double weight = 0.5 * (a.z + b.z) * rule_->nodes[k].weight;
        const Eigen::VectorXd first = to_fields_ * Eigen::VectorXd(a.mean) / a.z;
        const Eigen::VectorXd second = to_fields_ * Eigen::VectorXd(b.mean) / b.z;
        add_pull(*link_, *blocks_, weight * first.cwiseProduct(second), out[r]);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] double units() const { return static_cast<double>(moments_->front().size()); }

  [[nodiscard]] LevelMoments sum_of_units(std::size_t node) const {
    LevelMoments sum = (*moments_)[node].front();
    for (std::size_t u = 1; u < (*moments_)[node].size(); ++u) sum += (*moments_)[node][u];
    return sum;
  }

  void add(std::size_t node, const LevelMoments& sum, double count, LinkLabels& to) const {
    if (!(sum.z > 0.0)) return;
    const MatrixXd second = to_fields_ * MatrixXd(sum.second) * to_fields_.transpose() / sum.z;
    symmetric_.add(sum.z / count * rule_->nodes[node].weight, second, to);
  }

  const TypedLink* link_;
  const std::vector<std::vector<std::size_t>>* blocks_;
  const LabelRule* rule_;
  const UnitMoments* moments_;
  SymmetricLabels symmetric_;
  MatrixXd to_fields_;
};

}  // namespace

double spectral_law_seconds(const TypedLink& link) {
  constexpr double on_lines[] = {0.03, 1.5};  // measured, by the number of fields
  const std::size_t n = link.fields().size();
  if (needs_bins(link)) return binned_seconds(link, refined_bins, 2 * sets[n - 1]);
  if (has_label_integral(link)) return on_lines[n - 1];
  const auto labels =
      static_cast<double>(numerics::default_replicates) * static_cast<double>(drawn_labels[n - 1]);
  return labels * typed_posterior_seconds(link, n);
}

std::vector<std::vector<std::size_t>> sign_blocks(const TypedLink& link) {
  const std::vector<std::size_t> used = used_directions(link);
  std::vector<std::vector<std::size_t>> blocks;
  std::vector<unsigned> symmetries;
  const LinkProbe probe(link);
  for (unsigned signs = 1; signs < 1U << used.size(); ++signs) {
    std::vector<std::size_t> flipped;
    for (std::size_t k = 0; k < used.size(); ++k) {
      if ((signs >> k) & 1U) flipped.push_back(used[k]);
    }
    if (keeps_labels(link, probe, flipped)) symmetries.push_back(signs);
  }
  const auto tells_apart = [&](std::size_t j, std::size_t k) {
    return std::any_of(symmetries.begin(), symmetries.end(),
                       [&](unsigned signs) { return ((signs >> j) & 1U) != ((signs >> k) & 1U); });
  };
  std::vector<bool> done(used.size(), false);
  for (std::size_t j = 0; j < used.size(); ++j) {
    if (done[j]) continue;
    std::vector<std::size_t> block;
    for (std::size_t k = j; k < used.size(); ++k) {
      if (done[k] || tells_apart(j, k)) continue;
      done[k] = true;
      block.push_back(used[k]);
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

SpectralLaw spectral_law(const TypedLink& typed, std::uint64_t seed, const Context& context) {
  const TypedLink link = typed.up_to_injections();
  if (!has_label_integral(link)) return drawn_law(link, seed, context);
  const SampleForm form(link, KnownDirections::none(link.directions()));
  TypedChannelOptions options;
  options.seed = seed;
  options.radius = 8.2;  // overlaps ask for sixth moments of the fields
  options.replicates = sets[form.normals() - 1];
  if (needs_bins(link)) options.refinement = refined_bins;
  const LabelUnits units(link, form, options, 2, context);
  const ContentsOf<LevelMoments> contents = [](const LevelMoments& m) -> std::vector<double> {
    if (!(m.z > 0.0)) return {};
    const FieldMatrix g = m.second / m.z - FieldMatrix::Identity(m.second.rows(), m.second.cols());
    return {m.z, m.z * g.squaredNorm(), m.z * std::pow(g.norm(), 3)};
  };
  const LabelRule rule = units.rule(contents, context);
  const auto blocks = sign_blocks(link);
  SpectralLaw law = empty_law(link, blocks);
  const UnitMoments moments = unit_moments(units, rule, context);
  const LabelsOfUnits labels(link, form, blocks, rule, moments);
  const std::vector<double> whole = labels.integrals(contents);
  for (std::size_t k = 0; k < rule.error.size(); ++k) {
    law.rule_error = std::max(law.rule_error, rule.error[k] / whole[k]);
  }
  law.rule_error += units.common_error();
  law.pull = mean_pull(labels.pulls());
  if (moments.front().size() == 1) {
    LinkLabels all = labels.of_all();
    double missed_excess = 0.0;  // of E(z^2 - 1)
    for (const LabelExcess& label : all) missed_excess -= label.weight * label.excess.front()(0, 0);
    // What is missing of the mass is missing of the rest too. Overlaps ask for sixth moments, those
    // of 6 h_3^2.
    const double mass = rule.missed(1.0 - normalise(all));
    law.rule_error += 6.0 * missed_weight(mass, missed_excess, 3);
    law.replicates.push_back(std::move(all));
    return law;
  }
  law.pooled.push_back(labels.of_all());
  normalise(law.pooled.front());
  law.replicates.resize(moments.front().size());
  numerics::parallel_for(context, law.replicates.size(), [&](std::size_t u) {
    law.replicates[u] = labels.without(u);
    normalise(law.replicates[u]);
  });
  return law;
}

namespace {

/// G of one sample of data from the posterior of its label, or nothing for a label that the link
/// does not have.
class DataPosterior {
 public:
  DataPosterior(const TypedLink& link, std::uint64_t seed)
      : link_(&link), form_(link, KnownDirections::none(link.directions())) {
    TypedChannelOptions options;
    options.seed = seed;
    if (has_label_integral(link)) {
      lines_ = std::make_unique<LabelLines>(link, form_, options, 0);
      atoms_ = lines_->atoms();
      return;
    }
    atoms_ = typed_atoms(link);
    normal_.matrix = form_.matrix();
    normal_.origin = FieldVector::Zero(normal_.matrix.rows());
    nodes_.spacing = default_spacing(form_.normals());
    nodes_.seed = seed;
  }

  /// Second moments of the link's fields.
  [[nodiscard]] std::optional<MatrixXd> second(TypedLabel label, std::size_t sample) const {
    const MatrixXd to_fields = form_.matrix();
    MatrixXd found;
    if (lines_) {
      const bool is_atom = std::any_of(atoms_.begin(), atoms_.end(), [&](const TypedLabel& atom) {
        return link_->same_label(atom, label);
      });
      label.density = is_atom ? 0U : 1U;
      LevelMoments both = lines_->half(label, 0);
      both += lines_->half(label, 1);
      if (!(both.z > 0.0)) return std::nullopt;
      found = MatrixXd(both.second) / both.z;
    } else {
      TypedNodes nodes = nodes_;
      nodes.sample = sample;
      const TypedMoments both = posterior_of_data(*link_, atoms_, normal_, label, nodes);
      if (!both.found) return std::nullopt;
      found = 0.5 * (both.half[0].second + both.half[1].second);
    }
    return to_fields * found * to_fields.transpose();
  }

 private:
  const TypedLink* link_;
  SampleForm form_;
  std::unique_ptr<LabelLines> lines_;  ///< serve every label where nothing but one is solved for
  std::vector<TypedLabel> atoms_;
  NormalForm normal_;
  TypedNodes nodes_;
};

}  // namespace

SampleExcess sample_excess(const TypedLink& link, const std::vector<double>& labels,
                           std::size_t tokens, std::uint64_t seed, const Context& context) {
  const DataPosterior posterior(link, seed);
  const auto blocks = sign_blocks(link);
  const std::size_t samples = labels.size() / link.outputs();
  SampleExcess out;
  out.block.assign(blocks.size(), std::vector<MatrixXd>(samples));
  numerics::parallel_for(context, samples, [&](std::size_t i) {
    TypedLabel label;
    for (std::size_t k = 0; k < link.outputs(); ++k) label.value[k] = labels[k * samples + i];
    const std::optional<MatrixXd> second = posterior.second(label, i);
    if (!second) {
      const std::vector<double> shown(label.value.begin(), label.value.begin() + link.outputs());
      throw Refused(fmt::format("no fields with the label {} of sample {} were found",
                                fmt::join(shown, ", "), i + 1));
    }
    std::vector<MatrixXd> own = excess_of(link, blocks, *second, tokens);
    for (std::size_t b = 0; b < own.size(); ++b) out.block[b][i] = std::move(own[b]);
  });
  return out;
}

}  // namespace onset::smi
