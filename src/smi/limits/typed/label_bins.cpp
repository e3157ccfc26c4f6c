#include "smi/limits/typed/label_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/limits/typed/pooled_labels.hpp"

namespace onset::smi {
namespace {

/// Lines cover the level sets of so many fields.
constexpr std::size_t most_line_fields = 2;
/// Bins of labels that have a density, to begin with. What bins lose and what samples scatter then
/// both fall like the inverse of the samples.
constexpr double first_bins = 2048.0;
/// Samples of one unit to begin with: a power of two.
constexpr std::size_t first_samples = std::size_t{1} << 19U;
/// The samples that tell where the edges lie, in units.
constexpr std::size_t ranked_units = 4;
/// Every bin has at least so many of the labels that are ranked.
constexpr std::size_t least_labels = 16;
/// Samples that one task ranks, a part of all.
constexpr std::size_t ranked_samples = std::size_t{1} << 16U;
/// Samples that are evaluated at once.
constexpr std::size_t block_samples = 512;
/// The replicate of the samples that are ranked: none of a unit.
constexpr std::uint64_t ranking = std::uint64_t{1} << 40U;

/// The part of all labels below a part x of all edges. Of rules that know nothing of the link, the
/// one with edges as dense as the cube root of the density wastes least [links 20]; where the part
/// q in a tail is small that asks for q ~ x^3.
double rank_of_edge(double x) {
  return x * x * x * (10.0 - x * (15.0 - 6.0 * x));
}

/// Sums of contents over bins.
struct ContentSums {
  std::vector<double> of;

  ContentSums& operator+=(const ContentSums& other) {
    of.resize(std::max(of.size(), other.of.size()), 0.0);
    for (std::size_t k = 0; k < other.of.size(); ++k) of[k] += other.of[k];
    return *this;
  }
  ContentSums& operator*=(double factor) {
    for (double& one : of) one *= factor;
    return *this;
  }
};

}  // namespace

bool needs_bins(const TypedLink& link) {
  return has_label_integral(link) && link.fields().size() > most_line_fields;
}

double binned_seconds(const TypedLink& link, double refinement, std::size_t units) {
  constexpr double sums = 0.1, per_sample = 6e-8;  // measured
  const double samples = static_cast<double>((units + ranked_units) * first_samples) * refinement;
  return sums + samples * (per_sample + link.seconds());
}

LabelBins::LabelBins(const TypedLink& link, const SampleForm& form, const HermiteIndices& indices,
                     std::size_t units, const TypedChannelOptions& options, const Context& context)
    : link_(&link), indices_(indices), symmetries_(link, form.matrix()) {
  const std::size_t samples = first_samples * static_cast<std::size_t>(options.refinement);
  find_bins(form.matrix(), ranked_units * samples, first_bins * std::sqrt(options.refinement),
            context);
  const LevelHermite nothing{std::vector<double>(indices_.size(), 0.0)};
  sums_.assign(units, std::vector<LevelHermite>(nodes().size(), nothing));
  numerics::parallel_for(context, units, [&](std::size_t unit) {
    const auto points =
        numerics::scrambled_sobol(static_cast<int>(form.normals()), options.seed, unit);
    std::vector<double> values(indices_.size());
    const double weight = 1.0 / static_cast<double>(samples);
    for_samples(*points, form.matrix(), 0, samples, context,
                [&](const double* xi, const TypedLabel& label) {
                  add_point(indices_, weight, xi, values, sums_[unit][bin_of(label)]);
                });
  });
}

template <class Visit>
void LabelBins::for_samples(const numerics::PointSet& points, const FieldMatrix& matrix,
                            std::size_t first, std::size_t count, const Context& context,
                            const Visit& visit) const {
  const auto n = static_cast<std::size_t>(matrix.cols());
  const std::size_t rows = link_->fields().size();
  const std::size_t outputs = link_->outputs();
  const bool is_mixed = link_->has_atoms() && !link_->is_discrete();
  std::vector<double> normals(n * block_samples);
  std::vector<double> fields(rows * block_samples);
  std::vector<double> values(outputs * block_samples);
  std::vector<double> slopes(is_mixed ? rows * block_samples : 0);
  using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  const auto columns = static_cast<Eigen::Index>(block_samples);
  const Block all_normals(normals.data(), matrix.cols(), columns);
  Block all_fields(fields.data(), matrix.rows(), columns);
  FieldVector xi(matrix.cols());
  std::vector<double> gradient(rows);
  for (std::size_t done = 0; done < count; done += block_samples) {
    context.check();
    points.points(first + done, block_samples, normals);
    numerics::simd::normal_quantile(normals, normals);
    all_fields.noalias() = matrix * all_normals;
    if (is_mixed) {
      link_->gradient(block_samples, fields.data(), values.data(), slopes.data());
    } else {
      link_->values(block_samples, fields.data(), values.data());
    }
    for (std::size_t i = 0; i < block_samples; ++i) {
      TypedLabel label;
      bool is_finite = true;
      for (std::size_t k = 0; k < outputs; ++k) {
        label.value[k] = values[k * block_samples + i];
        is_finite = is_finite && std::isfinite(label.value[k]);
      }
      if (!is_finite) continue;  // shows in the mass of all labels
      bool is_atom = link_->is_discrete();
      if (is_mixed) {
        for (std::size_t f = 0; f < rows; ++f) gradient[f] = slopes[f * block_samples + i];
        is_atom = TypedLink::is_flat(gradient.data(), rows);
      }
      if (is_atom) label.density = 0;
      xi = all_normals.col(static_cast<Eigen::Index>(i));
      visit(xi.data(), label);
    }
  }
}

void LabelBins::find_bins(const FieldMatrix& matrix, std::size_t samples, double bins,
                          const Context& context) {
  const auto points = numerics::scrambled_sobol(static_cast<int>(matrix.cols()), 1, ranking);
  const auto add_to = [&](std::vector<TypedLabel>& atoms, const TypedLabel& label) {
    const auto is_same = [&](const TypedLabel& atom) { return link_->same_label(atom, label); };
    if (std::none_of(atoms.begin(), atoms.end(), is_same)) atoms.push_back(label);
  };
  struct Part {
    std::vector<double> labels;
    std::vector<TypedLabel> atoms;
  };
  std::vector<Part> parts(samples / ranked_samples);
  numerics::parallel_for(context, parts.size(), [&](std::size_t k) {
    for_samples(*points, matrix, k * ranked_samples, ranked_samples, context,
                [&](const double* /*xi*/, const TypedLabel& label) {
                  if (label.is_atom()) {
                    add_to(parts[k].atoms, label);
                  } else {
                    parts[k].labels.push_back(label.value[0]);
                  }
                });
  });
  std::vector<double> labels;
  labels.reserve(samples);
  for (Part& part : parts) {
    labels.insert(labels.end(), part.labels.begin(), part.labels.end());
    std::vector<double>().swap(part.labels);
    for (const TypedLabel& atom : part.atoms) add_to(atoms_, atom);
  }
  std::sort(labels.begin(), labels.end());
  // Products and the like are singular at 0: labels of either sign have tails there too.
  const auto zero = std::lower_bound(labels.begin(), labels.end(), 0.0);
  const double per_label = bins / static_cast<double>(labels.size());
  add_edges({labels.begin(), zero}, per_label);
  if (zero != labels.begin() && zero != labels.end()) edges_.push_back(0.0);
  add_edges({zero, labels.end()}, per_label);
}

void LabelBins::add_edges(std::span<const double> labels, double bins_per_label) {
  const double bins = bins_per_label * static_cast<double>(labels.size());
  std::size_t last = 0;
  for (double k = 1.0; k < bins; k += 1.0) {
    const double part = rank_of_edge(k / bins);
    const auto rank = static_cast<std::size_t>(part * static_cast<double>(labels.size()));
    if (rank < last + least_labels || rank + least_labels > labels.size()) continue;
    if (edges_.empty() || labels[rank] > edges_.back()) edges_.push_back(labels[rank]);
    last = rank;
  }
}

std::size_t LabelBins::bin_of(const TypedLabel& label) const {
  if (label.is_atom()) {
    const auto found = std::find_if(atoms_.begin(), atoms_.end(), [&](const TypedLabel& atom) {
      return link_->same_label(atom, label);
    });
    if (found != atoms_.end()) {
      return edges_.size() + 1 + static_cast<std::size_t>(found - atoms_.begin());
    }
  }
  return static_cast<std::size_t>(std::upper_bound(edges_.begin(), edges_.end(), label.value[0]) -
                                  edges_.begin());
}

std::vector<LabelNode> LabelBins::nodes() const {
  std::vector<LabelNode> out{{{-std::numeric_limits<double>::infinity(), false}, 1.0}};
  for (const double edge : edges_) out.push_back({{edge, false}, 1.0});
  for (const TypedLabel& atom : atoms_) out.push_back({atom, 1.0});
  return out;
}

LabelBins LabelBins::coarser(std::size_t first) const {
  LabelBins out(*link_, indices_, symmetries_);
  out.atoms_ = atoms_;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    // No bin of these joins labels of either sign.
    if (k % 2 == first || edges_[k] == 0.0) out.edges_.push_back(edges_[k]);
  }
  const std::vector<LabelNode> own = nodes();
  const LevelHermite nothing{std::vector<double>(indices_.size(), 0.0)};
  out.sums_.resize(sums_.size());
  for (std::size_t u = 0; u < sums_.size(); ++u) {
    out.sums_[u].assign(out.edges_.size() + 1 + atoms_.size(), nothing);
    for (std::size_t b = 0; b < own.size(); ++b) {
      out.sums_[u][out.bin_of(own[b].label)] += sums_[u][b];
    }
  }
  return out;
}

LevelMoments LabelBins::moments(std::size_t unit, const TypedLabel& label) const {
  const LevelHermite& sums = hermite(unit, label);
  const std::size_t n = indices_.variables();
  LevelMoments out(n);
  out.z = sums.z();
  for (std::size_t i = 0; i < n; ++i) {
    HermiteIndices::MultiIndex one{};
    one[i] = 1;
    const auto row = static_cast<Eigen::Index>(i);
    out.mean(row) = sums.moments[indices_.at(one)];
    for (std::size_t j = 0; j < n; ++j) {
      HermiteIndices::MultiIndex two = one;
      ++two[j];
      const double moment = sums.moments[indices_.at(two)];
      out.second(row, static_cast<Eigen::Index>(j)) =
          i == j ? std::numbers::sqrt2 * moment + out.z : moment;
    }
  }
  return symmetries_.mean(out);
}

const LevelHermite& LabelBins::hermite(std::size_t unit, const TypedLabel& label) const {
  return sums_[unit][bin_of(label)];
}

template <class Ask, class Contents>
LabelRule LabelBins::rule_of(const Ask& ask, const Contents& contents,
                             const Context& context) const {
  // The jackknife takes away what the scatter of moments adds to either: it does so most where
  // bins are many.
  const auto integral = [&](const LabelBins& bins) {
    const auto sums = pooled_sums(
        bins.sums_.size(), bins.nodes(), ContentSums{},
        [&](std::size_t unit, const TypedLabel& label) { return ask(bins, unit, label); },
        [&](const auto& pooled, double /*weight*/, ContentSums& to) {
          to += ContentSums{contents(pooled)};
        },
        contents, context);
    ContentSums mean;
    for (const ContentSums& unit : sums.units) mean += unit;
    mean *= 1.0 / static_cast<double>(sums.units.size());
    return mean.of;
  };
  const std::vector<double> own = integral(*this);
  LabelRule rule{nodes(), std::vector<double>(own.size(), 0.0)};
  // A jump at a part u of a bin loses u (1 - u) there, and joined with either neighbour at least as
  // much more in all. What is smooth or a tail loses less than what one of the two adds.
  for (const std::size_t first : {0U, 1U}) {
    const std::vector<double> coarse = integral(coarser(first));
    for (std::size_t k = 0; k < own.size(); ++k) rule.error[k] += std::abs(own[k] - coarse[k]);
  }
  return rule;
}

LabelRule LabelBins::rule(const ContentsOf<LevelMoments>& contents, const Context& context) const {
  return rule_of([](const LabelBins& bins, std::size_t unit,
                    const TypedLabel& label) { return bins.moments(unit, label); },
                 contents, context);
}

LabelRule LabelBins::rule(const ContentsOf<LevelHermite>& contents, const Context& context) const {
  return rule_of([](const LabelBins& bins, std::size_t unit,
                    const TypedLabel& label) { return bins.hermite(unit, label); },
                 contents, context);
}

}  // namespace onset::smi
