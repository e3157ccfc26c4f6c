#include "smi/limits/spectral_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <memory>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/teacher_batch.hpp"
#include "smi/limits/typed/label_rule.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Labels = std::vector<LabelExcess>;

constexpr std::size_t symmetry_points = 64;
constexpr std::size_t typed_replicates = 4;

/// Divides by the mass and takes the mean of G away, which is 0 exactly: outliers at 1 depend on
/// it. Returns how far the mass was from 1.
double normalise(Labels& labels) {
  double mass = 0.0;
  for (const LabelExcess& label : labels) mass += label.weight;
  for (std::size_t b = 0; b < labels.front().excess.size(); ++b) {
    MatrixXd mean =
        MatrixXd::Zero(labels.front().excess[b].rows(), labels.front().excess[b].cols());
    for (const LabelExcess& label : labels) mean += label.weight / mass * label.excess[b];
    for (LabelExcess& label : labels) label.excess[b] -= mean;
  }
  for (LabelExcess& label : labels) label.weight /= mass;
  return std::abs(mass - 1.0);
}

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
bool keeps_labels(const TypedLink& link, const std::vector<std::size_t>& flipped) {
  const std::size_t rows = link.fields().size();
  std::vector<double> at(rows * symmetry_points);
  numerics::Stream(1, "symmetries").normal(at);
  std::vector<double> mapped = at;
  for (std::size_t f = 0; f < rows; ++f) {
    const auto& direction = link.fields()[f].direction;
    if (!direction || std::find(flipped.begin(), flipped.end(), *direction) == flipped.end()) {
      continue;
    }
    for (std::size_t i = 0; i < symmetry_points; ++i) mapped[f * symmetry_points + i] *= -1.0;
  }
  std::vector<double> before(symmetry_points), after(symmetry_points);
  link.values(symmetry_points, at.data(), before.data());
  link.values(symmetry_points, mapped.data(), after.data());
  for (std::size_t i = 0; i < symmetry_points; ++i) {
    if (std::abs(before[i] - after[i]) > 1e-11 * std::max(1.0, std::abs(before[i]))) return false;
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

/// Sums over the directions of a block, which are alike, of second moments: tokens x tokens.
MatrixXd mean_excess(const FieldShape& shape, std::size_t block, const std::vector<double>& second,
                     std::size_t count, std::size_t i) {
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  MatrixXd g = -MatrixXd::Identity(shape.tokens, shape.tokens);
  const auto rank = static_cast<std::size_t>(shape.rank[block]);
  for (std::size_t p = 0; p < rank; ++p) {
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        const std::size_t row = p * tokens + a;
        const std::size_t pair = shape.first_pair(block) + row * (row + 1) / 2 + p * tokens + b;
        const double x = second[pair * count + i] / static_cast<double>(rank);
        g(static_cast<Index>(a), static_cast<Index>(b)) += x;
        if (a != b) g(static_cast<Index>(b), static_cast<Index>(a)) += x;
      }
    }
  }
  return g;
}

}  // namespace

std::vector<std::vector<std::size_t>> sign_blocks(const TypedLink& link) {
  const std::vector<std::size_t> used = used_directions(link);
  std::vector<std::vector<std::size_t>> blocks;
  std::vector<unsigned> symmetries;
  for (unsigned signs = 1; signs < 1U << used.size(); ++signs) {
    std::vector<std::size_t> flipped;
    for (std::size_t k = 0; k < used.size(); ++k) {
      if ((signs >> k) & 1U) flipped.push_back(used[k]);
    }
    if (keeps_labels(link, flipped)) symmetries.push_back(signs);
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

SpectralLaw spectral_law(const TypedLink& link, std::uint64_t seed, const Context& context) {
  const SampleForm form(link, KnownDirections::none(link.directions()));
  const std::size_t replicates = form.normals() == 1 ? 1 : typed_replicates;
  TypedChannelOptions options;
  options.seed = seed;
  options.radius = 8.2;  // overlaps ask for sixth moments of the fields
  std::vector<std::unique_ptr<LabelLines>> lines(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    lines[r] = std::make_unique<LabelLines>(link, form, options, r);
  });
  const auto contents = [&](const TypedLabel& label) -> std::vector<double> {
    const LevelMoments m = lines[0]->half(label, 0);
    if (!(m.z > 0.0)) return {};
    const FieldMatrix g = m.second / m.z - FieldMatrix::Identity(m.second.rows(), m.second.cols());
    return {m.z, m.z * g.squaredNorm(), m.z * (g * g * g).trace()};
  };
  const LabelRule rule = label_rule(link, contents, lines[0]->atoms(), context);
  SpectralLaw law;
  law.tokens = static_cast<int>(link.tokens());
  const auto blocks = sign_blocks(link);
  for (const auto& block : blocks) {
    law.rank.push_back(static_cast<int>(block.size()));
    law.copies.push_back(1);
    std::string name;
    for (const std::size_t p : block) {
      if (!name.empty()) name += ", ";
      name += fmt::format("z{}", p + 1);
    }
    law.names.push_back(std::move(name));
  }
  law.pull.assign(blocks.size(), 0.0);
  for (const double error : rule.error) law.rule_error = std::max(law.rule_error, error);
  const MatrixXd to_fields = form.matrix();
  law.replicates.resize(replicates);
  if (replicates > 1) law.noisier.resize(replicates);
  std::vector<double> missed(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    for (const LabelNode& node : rule.nodes) {
      const LevelMoments a = lines[r]->half(node.label, 0);
      const LevelMoments b = lines[r]->half(node.label, 1);
      if (!(a.z > 0.0) || !(b.z > 0.0)) continue;
      const double weight = 0.5 * (a.z + b.z) * node.weight;
      const auto add = [&](const LevelMoments& half, Labels& to) {
        const MatrixXd second = to_fields * MatrixXd(half.second) * to_fields.transpose() / half.z;
        to.push_back({weight, excess_of(link, blocks, second, link.tokens())});
      };
      LevelMoments both = a;
      both += b;
      add(both, law.replicates[r]);
      if (replicates > 1) add(a, law.noisier[r]);
    }
    missed[r] = normalise(law.replicates[r]);
    if (replicates > 1) normalise(law.noisier[r]);
  });
  // What scatter shows of the mass it shows of the rest too.
  if (replicates == 1) law.rule_error += missed.front();
  // Means of the fields, by the first replicate.
  for (const LabelNode& node : rule.nodes) {
    const LevelMoments a = lines[0]->half(node.label, 0);
    if (!(a.z > 0.0)) continue;
    const Eigen::VectorXd mean = to_fields * Eigen::VectorXd(a.mean) / a.z;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t f = 0; f < link.fields().size(); ++f) {
        const auto& direction = link.fields()[f].direction;
        if (!direction ||
            std::find(blocks[b].begin(), blocks[b].end(), *direction) == blocks[b].end()) {
          continue;
        }
        const double one = mean(static_cast<Index>(f));
        law.pull[b] += node.weight * a.z * one * one;
      }
    }
  }
  return law;
}

SpectralLaw one_layer_law(int tokens) {
  // The label is z up to its sign: S = z z^T, one eigenvalue |z|^2, a sum of as many squares as
  // there are tokens, and the others 0. The order of tokens does not matter.
  SpectralLaw law;
  law.tokens = tokens;
  law.rank = {1};
  law.names = {"1"};
  law.copies = {1};
  using Gauss = boost::math::quadrature::gauss<double, 30>;
  Labels labels;
  constexpr int panels = 24;
  const double reach = 10.0 + 2.0 * std::sqrt(static_cast<double>(tokens));
  const double half = 0.5 * reach / panels;
  for (int k = 0; k < panels; ++k) {
    const auto add = [&](double r, double weight) {
      const double density =
          2.0 * std::exp((tokens - 1) * std::log(r) - 0.5 * r * r - 0.5 * tokens * std::log(2.0) -
                         std::lgamma(0.5 * tokens));
      MatrixXd g = -MatrixXd::Identity(tokens, tokens);
      g(0, 0) += r * r;
      labels.push_back({weight * half * density, {g}});
    };
    const double middle = (2 * k + 1) * half;
    for (std::size_t i = 0; i < Gauss::abscissa().size(); ++i) {
      const double x = Gauss::abscissa()[i];
      add(middle + half * x, Gauss::weights()[i]);
      if (x > 0.0) add(middle - half * x, Gauss::weights()[i]);
    }
  }
  // Only the trace of G averages to 0 here: tokens were turned so that the first one is along z.
  // Its sums over tokens are those of the law, which is all that is asked of one direction.
  double mass = 0.0;
  for (const LabelExcess& label : labels) mass += label.weight;
  for (LabelExcess& label : labels) label.weight /= mass;
  law.replicates.push_back(std::move(labels));
  law.pull = {0.0};
  law.rule_error = 1e-12;
  return law;
}

SpectralLaw spectral_law(const SequenceModel& model, std::size_t points, int nodes,
                         std::uint64_t seed, const Context& context) {
  const FieldShape& shape = model.shape();
  const auto posterior = model.posterior({nodes, seed});
  const std::vector<double> variance(shape.blocks(), 1.0);
  SpectralLaw law;
  law.tokens = shape.tokens;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    law.rank.push_back(1);
    law.copies.push_back(shape.rank[b]);
    law.names.push_back(std::to_string(b + 1));
    law.pull.push_back(0.0);
  }
  const auto replicates = static_cast<std::size_t>(numerics::default_replicates);
  law.replicates.resize(replicates);
  law.noisier.resize(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    const int dimensions = teacher_dimensions(model);
    std::vector<double> normals(static_cast<std::size_t>(dimensions) * points);
    numerics::scrambled_sobol(dimensions, seed, r)->points(0, points, normals);
    numerics::simd::normal_quantile(normals, normals);
    const TeacherBatch batch = teacher_batch(model, variance, {points, r, 0, normals});
    PosteriorMoments moments(shape, points);
    posterior->moments({.count = points,
                        .label = batch.label,
                        .omega = batch.omega,
                        .variance = variance,
                        .first_sample = 0,
                        .replicate = r,
                        .centre = batch.field},
                       moments);
    for (std::size_t i = 0; i < points; ++i) {
      LabelExcess mean{batch.weight[i], {}};
      LabelExcess first{batch.weight[i], {}};
      for (std::size_t b = 0; b < shape.blocks(); ++b) {
        const MatrixXd g0 = mean_excess(shape, b, moments.half[0].second, points, i);
        const MatrixXd g1 = mean_excess(shape, b, moments.half[1].second, points, i);
        mean.excess.push_back(0.5 * (g0 + g1));
        first.excess.push_back(g0);
      }
      law.replicates[r].push_back(std::move(mean));
      law.noisier[r].push_back(std::move(first));
    }
    normalise(law.replicates[r]);
    normalise(law.noisier[r]);
  });
  return law;
}

SampleExcess sample_excess(const TypedLink& link, const std::vector<double>& labels,
                           std::size_t tokens, std::uint64_t seed, const Context& context) {
  const SampleForm form(link, KnownDirections::none(link.directions()));
  TypedChannelOptions options;
  options.seed = seed;
  const LabelLines lines(link, form, options, 0);
  const std::vector<TypedLabel> atoms = lines.atoms();
  const auto blocks = sign_blocks(link);
  const MatrixXd to_fields = form.matrix();
  SampleExcess out;
  out.block.assign(blocks.size(), std::vector<MatrixXd>(labels.size()));
  numerics::parallel_for(context, labels.size(), [&](std::size_t i) {
    const TypedLabel label{labels[i],
                           std::any_of(atoms.begin(), atoms.end(), [&](const TypedLabel& atom) {
                             return TypedLink::same_atom(atom.value.front(), labels[i]);
                           })};
    LevelMoments both = lines.half(label, 0);
    both += lines.half(label, 1);
    if (!(both.z > 0.0)) {
      throw Refused(
          fmt::format("no fields with the label {} of sample {} were found", labels[i], i + 1));
    }
    const MatrixXd second = to_fields * MatrixXd(both.second) * to_fields.transpose() / both.z;
    std::vector<MatrixXd> own = excess_of(link, blocks, second, tokens);
    for (std::size_t b = 0; b < own.size(); ++b) out.block[b][i] = std::move(own[b]);
  });
  return out;
}

SampleExcess sample_excess(const SequenceModel& model, const std::vector<double>& labels, int nodes,
                           std::uint64_t seed, const Context& context) {
  constexpr std::size_t chunk = 256;
  const FieldShape& shape = model.shape();
  const auto rows = static_cast<std::size_t>(model.label_size());
  const std::size_t samples = labels.size() / rows;
  const auto posterior = model.posterior({nodes, seed});
  const std::vector<double> variance(shape.blocks(), 1.0);
  SampleExcess out;
  out.block.assign(shape.blocks(), std::vector<MatrixXd>(samples));
  numerics::parallel_for(context, (samples + chunk - 1) / chunk, [&](std::size_t task) {
    const std::size_t first = task * chunk;
    const std::size_t count = std::min(chunk, samples - first);
    std::vector<double> own(rows * count);
    for (std::size_t k = 0; k < rows; ++k) {
      std::copy_n(labels.begin() + static_cast<std::ptrdiff_t>(k * samples + first), count,
                  own.begin() + static_cast<std::ptrdiff_t>(k * count));
    }
    const std::vector<double> omega(shape.fields() * count, 0.0);
    PosteriorMoments moments(shape, count);
    posterior->moments(
        {.count = count, .label = own, .omega = omega, .variance = variance, .first_sample = first},
        moments);
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      for (std::size_t i = 0; i < count; ++i) {
        const MatrixXd g = 0.5 * (mean_excess(shape, b, moments.half[0].second, count, i) +
                                  mean_excess(shape, b, moments.half[1].second, count, i));
        // A posterior that underflowed says nothing.
        out.block[b][first + i] = g.allFinite() ? g : MatrixXd::Zero(g.rows(), g.cols());
      }
    }
  });
  return out;
}

}  // namespace onset::smi
