#include "smi/limits/typed/hermite_channel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "numerics/control_variates.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/limits/typed/label_lines.hpp"
#include "smi/limits/typed/label_units.hpp"
#include "smi/limits/typed/outer_samples.hpp"
#include "smi/limits/typed/pooled_labels.hpp"
#include "smi/limits/typed/typed_checks.hpp"

namespace onset::smi {
namespace {

double factorial(int n) {
  return std::tgamma(n + 1.0);
}

/// How products of Hermite moments make the contractions C_k over normals [links 30].
class Contractions {
 public:
  Contractions(const HermiteIndices& indices, std::size_t field_normals)
      : normals_(static_cast<Eigen::Index>(field_normals)) {
    for (int degree = 1; degree <= indices.max_degree(); ++degree) {
      std::vector<Term> terms;
      for (std::size_t l = indices.first(degree - 1); l < indices.first(degree); ++l) {
        const auto& rest = indices[l];
        const bool noisy = std::any_of(rest.begin() + static_cast<std::ptrdiff_t>(field_normals),
                                       rest.end(), [](int j) { return j > 0; });
        if (noisy) continue;
        double others = 1.0;
        for (const int j : rest) others *= factorial(j);
        for (std::size_t f = 0; f < field_normals; ++f) {
          for (std::size_t g = 0; g < field_normals; ++g) {
            auto left = rest;
            auto right = rest;
            ++left[f];
            ++right[g];
            // Tensor entries carry sqrt(j!/k!), and (k-1)!/l! orders of the other indices agree.
            const double factor = factorial(degree - 1) / others * root_of_factorials(left) *
                                  root_of_factorials(right) / factorial(degree);
            terms.push_back({static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(g),
                             indices.at(left), indices.at(right), factor});
          }
        }
      }
      terms_.push_back(std::move(terms));
    }
    if (indices.max_degree() < 2) return;
    for (std::size_t f = 0; f < indices.variables(); ++f) {
      HermiteIndices::MultiIndex twice{};
      twice[f] = 2;
      squares_.push_back(indices.at(twice));
    }
  }

  [[nodiscard]] std::vector<Eigen::MatrixXd> zero() const {
    return {terms_.size(), Eigen::MatrixXd::Zero(normals_, normals_)};
  }

  /// Adds the products of two halves, both ways around.
  void add(const LevelHermite& a, const LevelHermite& b, double weight,
           std::vector<Eigen::MatrixXd>& to) const {
    const double scale = 0.5 * weight / (a.z() * b.z());
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      for (const Term& term : terms_[k]) {
        const double product = a.moments[term.left] * b.moments[term.right] +
                               b.moments[term.left] * a.moments[term.right];
        to[k](term.row, term.column) += scale * term.factor * product;
      }
    }
  }

  /// The sum of all h_j of one normal and degree two.
  [[nodiscard]] double second(const LevelHermite& half) const {
    double sum = 0.0;
    for (const std::size_t j : squares_) sum += half.moments[j];
    return sum;
  }

  /// The weights of one half per unit of its mass times its mass, with the mass first: what a rule
  /// over labels is made for.
  [[nodiscard]] std::vector<double> contents(const LevelHermite& half) const {
    if (!(half.z() > 0.0)) return {};
    std::vector<Eigen::MatrixXd> sums = zero();
    add(half, half, half.z(), sums);
    std::vector<double> out{half.z()};
    for (const Eigen::MatrixXd& sum : sums) out.push_back(sum.trace());
    return out;
  }

 private:
  struct Term {
    Eigen::Index row, column;
    std::size_t left, right;
    double factor;
  };
  Eigen::Index normals_;
  std::vector<std::vector<Term>> terms_;
  std::vector<std::size_t> squares_;  ///< where those of degree two of one normal are
};

/// Sums over some labels, over normals still.
struct Sums {
  std::vector<Eigen::MatrixXd> contraction;
  double mass = 0.0;
  double second = 0.0;  ///< of all h_j of one normal and degree two, which average to 0
  double ratio_bias = 0.0;

  void add(const Contractions& rule, const LevelHermite& a, const LevelHermite& b, double weight) {
    if (!(a.z() > 0.0) || !(b.z() > 0.0)) return;  // shows in the mass
    mass += weight;
    second += 0.5 * weight * (rule.second(a) / a.z() + rule.second(b) / b.z());
    // As in SampleForm::add().
    const double difference = (a.z() - b.z()) / (a.z() + b.z());
    ratio_bias += 2.0 * weight * difference * difference;
    rule.add(a, b, weight, contraction);
  }
  Sums& operator+=(const Sums& other) {
    for (std::size_t k = 0; k < contraction.size(); ++k) contraction[k] += other.contraction[k];
    mass += other.mass;
    second += other.second;
    ratio_bias += other.ratio_bias;
    return *this;
  }
  Sums& operator*=(double factor) {
    for (Eigen::MatrixXd& one : contraction) one *= factor;
    mass *= factor;
    second *= factor;
    ratio_bias *= factor;
    return *this;
  }
};

/// As for thresholds: mass and second moments are known, and what their errors say of those of the
/// weights is taken out [links 16].
std::vector<Sums> less_scattered(const std::vector<Sums>& replicates) {
  const auto count = static_cast<Eigen::Index>(replicates.size());
  Eigen::MatrixXd controls(count, 2);
  for (Eigen::Index r = 0; r < count; ++r) {
    const Sums& one = replicates[static_cast<std::size_t>(r)];
    controls.row(r) << one.mass - 1.0, one.second;
  }
  return combined(numerics::control_weights(controls), replicates);
}

/// One replicate from its sums; divided by its mass.
HermiteAverages reduced(const SampleForm& form, const Sums& sum) {
  HermiteAverages out;
  for (const Eigen::MatrixXd& one : sum.contraction) {
    out.contraction.emplace_back(form.over_directions(one) / sum.mass);
  }
  out.mass = sum.mass;
  out.ratio_bias = sum.ratio_bias / sum.mass;
  return out;
}

/// Polynomials of higher degree live further out: beyond this radius the prior leaves less than
/// 1e-7 of their squares, for up to four normals.
double radius_of(int degree) {
  return degree <= 2 ? 7.5 : (degree <= 4 ? 8.2 : 9.2);
}

std::vector<HermiteAverages> at_zero(const TypedLink& link, const SampleForm& form, int max_degree,
                                     TypedChannelOptions options, const Context& context) {
  options.radius = radius_of(max_degree);
  const LabelUnits units(link, form, options, max_degree, context);
  const Contractions contractions(units.indices(), form.field_normals());
  const ContentsOf<LevelHermite> contents = [&](const LevelHermite& moments) {
    return contractions.contents(moments);
  };
  const LabelRule rule = units.rule(contents, context);
  const auto sums = pooled_sums(
      units.count(), rule.nodes, Sums{contractions.zero()},
      [&](std::size_t unit, const TypedLabel& label) { return units.hermite(unit, label); },
      [&](const LevelHermite& pooled, double weight, Sums& to) {
        to.add(contractions, pooled, pooled, weight);
      },
      contents, context);
  std::vector<HermiteAverages> out;
  for (const Sums& sum : less_scattered(sums.units)) {
    out.push_back(reduced(form, sum));
    // It remains what was found, for those who ask whether labels were missed.
    out.back().mass = sums.units[out.size() - 1].mass;
    out.back().ratio_bias = sums.ratio_bias + units.common_error();
    out.back().rule_error.assign(static_cast<std::size_t>(max_degree), 0.0);
    for (std::size_t k = 1; k < rule.error.size(); ++k) {
      out.back().rule_error[k - 1] = rule.error[k];
    }
    for (int k = 1; units.count() == 1 && k <= max_degree; ++k) {
      double& error = out.back().rule_error[static_cast<std::size_t>(k) - 1];
      const double excess = -std::numbers::sqrt2 * sums.units.front().second;
      error = std::max(error, missed_weight(rule.missed(out.back().mass), excess, k));
    }
  }
  return out;
}

}  // namespace

std::vector<HermiteAverages> hermite_channel(const TypedLink& link, const KnownDirections& state,
                                             int max_degree, const TypedChannelOptions& options,
                                             const Context& context) {
  const SampleForm form(link, state.exactly());
  if (state.known.cols() == 0 && has_label_integral(link)) {
    return at_zero(link, form, max_degree, options, context);
  }
  const HermiteIndices indices(form.normals(), max_degree);
  const Contractions contractions(indices, form.field_normals());
  const auto sums = sums_over_samples(
      link, form, options, context, Sums{contractions.zero()},
      [&](const OuterSample& sample, const SamplePosterior& posterior, Sums& sum) {
        sum.add(contractions, posterior.hermite(0, indices), posterior.hermite(1, indices),
                sample.weight);
      });
  std::vector<HermiteAverages> out;
  for (const Sums& sum : sums) {
    out.push_back(reduced(form, sum));
    // Fields are drawn from another law than their own: the weights' mean is 1 only nearly.
    out.back().mass /= static_cast<double>(options.points);
    for (const Eigen::MatrixXd& one : out.back().contraction) {
      out.back().rule_error.push_back(count_error(link, form, options) * std::abs(one.trace()));
    }
  }
  return out;
}

namespace {

/// Standard normals with weights: a product trapezoid rule with a random shift, row by row. It is
/// exact to rounding for smooth functions, and unbiased for all.
struct ShiftedRule {
  std::vector<double> normals;  ///< normals[k * count + i]
  std::vector<double> weights;
};

ShiftedRule shifted_rule(std::size_t normals, std::size_t points, double reach,
                         numerics::Stream& stream) {
  const auto side = static_cast<std::size_t>(
      std::floor(std::pow(static_cast<double>(points), 1.0 / static_cast<double>(normals)) + 1e-9));
  const double step = 2.0 * reach / static_cast<double>(side);
  std::vector<double> shift(normals);
  for (double& s : shift) s = stream.uniform();
  std::size_t count = 1;
  for (std::size_t k = 0; k < normals; ++k) count *= side;
  ShiftedRule rule{std::vector<double>(normals * count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    double squared = 0.0;
    std::size_t rest = i;
    for (std::size_t k = 0; k < normals; ++k, rest /= side) {
      const double x = step * (static_cast<double>(rest % side) + shift[k]) - reach;
      rule.normals[k * count + i] = x;
      squared += x * x;
    }
    rule.weights[i] =
        normal_density(squared, normals) * std::pow(step, static_cast<double>(normals));
  }
  return rule;
}

/// E[(y - offset) h_j(z_N) | z_U] for all multi-indices by one rule, the mean square last. An
/// offset near the mean of y takes away most of the scatter.
std::vector<double> projected_labels(const TypedLink& link, const SampleForm& form,
                                     const FieldVector& origin, const HermiteIndices& indices,
                                     const ShiftedRule& rule, double offset) {
  const std::size_t n = form.normals();
  const std::size_t count = rule.weights.size();
  const std::size_t rows = link.fields().size();
  std::vector<double> fields(rows * count);
  std::vector<double> labels(count);
  for (std::size_t f = 0; f < rows; ++f) {
    const auto row = static_cast<Eigen::Index>(f);
    for (std::size_t i = 0; i < count; ++i) {
      double z = origin(row);
      for (std::size_t k = 0; k < n; ++k) {
        z += form.matrix()(row, static_cast<Eigen::Index>(k)) * rule.normals[k * count + i];
      }
      fields[f * count + i] = z;
    }
  }
  link.values(count, fields.data(), labels.data());
  std::vector<double> sums(indices.size() + 1, 0.0);
  std::vector<double> values(indices.size());
  std::vector<double> xi(n);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < n; ++k) xi[k] = rule.normals[k * count + i];
    indices.values(xi.data(), values);
    const double y = labels[i] - offset;
    const double weight = rule.weights[i] * y;
    for (std::size_t j = 0; j < values.size(); ++j) sums[j] += weight * values[j];
    sums.back() += weight * y;
  }
  return sums;
}

/// Adds the products of two estimates of E[y h_j | z_U], degree by degree; noise is no direction.
void add_products(const SampleForm& form, const HermiteIndices& indices,
                  const std::vector<double>& a, const std::vector<double>& b,
                  std::vector<double>& weights) {
  for (int degree = 1; degree <= indices.max_degree(); ++degree) {
    for (std::size_t j = indices.first(degree); j < indices.first(degree + 1); ++j) {
      const auto& index = indices[j];
      const bool noisy =
          std::any_of(index.begin() + static_cast<std::ptrdiff_t>(form.field_normals()),
                      index.end(), [](int power) { return power > 0; });
      if (!noisy) weights[static_cast<std::size_t>(degree) - 1] += a[j] * b[j];
    }
  }
}

/// Where nothing is known and labels are discrete: sums over the regions of the labels, which lines
/// cut exactly, as no rule over points does.
std::vector<double> region_weights(const TypedLink& link, const SampleForm& form,
                                   const HermiteIndices& indices,
                                   const TypedChannelOptions& options, std::uint64_t replicate) {
  const LabelLines lines(link, form, options, replicate);
  std::vector<double> sums[2];
  double mean = 0.0;
  double square = 0.0;
  for (std::vector<double>& sum : sums) sum.assign(indices.size(), 0.0);
  for (const TypedLabel& atom : lines.atoms()) {
    const double y = atom.value.front();
    for (std::size_t h = 0; h < 2; ++h) {
      const LevelHermite region = lines.hermite(atom, h, indices);
      mean += 0.5 * y * region.z();
      square += 0.5 * y * y * region.z();
      for (std::size_t j = 0; j < indices.size(); ++j) sums[h][j] += y * region.moments[j];
    }
  }
  std::vector<double> weights(static_cast<std::size_t>(indices.max_degree()), 0.0);
  add_products(form, indices, sums[0], sums[1], weights);
  for (double& weight : weights) weight /= square - mean * mean;
  return weights;
}

/// Roughly the mean of the label.
double rough_mean(const TypedLink& link) {
  constexpr std::size_t count = 4096;
  const std::size_t rows = link.fields().size();
  std::vector<double> inputs(rows * count);
  numerics::Stream(1, "mean label").normal(inputs);
  std::vector<double> labels(count);
  link.values(count, inputs.data(), labels.data());
  return std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(count);
}

}  // namespace

std::vector<std::vector<double>> plain_label_weights(const TypedLink& link,
                                                     const KnownDirections& state, int max_degree,
                                                     const TypedChannelOptions& options,
                                                     const Context& context) {
  // Where nothing is known there is one outer point, and all effort goes into the inner ones.
  constexpr std::size_t outer_points = 64, inner_points = 4096;
  const SampleForm form(link, state.exactly());
  const bool none = form.centres() == 0;
  const std::size_t outer = none ? 1 : outer_points;
  const std::size_t inner = none ? 16 * inner_points : inner_points;
  const HermiteIndices indices(form.normals(), max_degree);
  const double offset = rough_mean(link);
  std::vector<std::vector<double>> out(options.replicates);
  numerics::parallel_for(context, options.replicates, [&](std::size_t r) {
    if (none && link.is_discrete()) {
      TypedChannelOptions wide = options;
      wide.radius = radius_of(max_degree);
      out[r] = region_weights(link, form, indices, wide, r);
      return;
    }
    std::vector<double> centres(form.centres() * outer);
    if (!none) {
      numerics::scrambled_sobol(static_cast<int>(form.centres()), options.seed, r)
          ->points(0, outer, centres);
      numerics::simd::normal_quantile(centres, centres);
    }
    numerics::Stream shifts(options.seed, "plain label shifts", r);
    const ShiftedRule first = shifted_rule(form.normals(), inner, options.radius, shifts);
    const ShiftedRule second = shifted_rule(form.normals(), inner, options.radius, shifts);
    std::vector<double> weights(static_cast<std::size_t>(max_degree), 0.0);
    double mean = 0.0;
    double square = 0.0;
    Eigen::VectorXd eta(static_cast<Eigen::Index>(form.centres()));
    for (std::size_t i = 0; i < outer; ++i) {
      FieldVector origin = FieldVector::Zero(static_cast<Eigen::Index>(link.fields().size()));
      for (std::size_t k = 0; k < form.centres(); ++k) {
        eta(static_cast<Eigen::Index>(k)) = centres[k * outer + i];
      }
      if (!none) origin = form.centre() * eta;
      const auto a = projected_labels(link, form, origin, indices, first, offset);
      const auto b = projected_labels(link, form, origin, indices, second, offset);
      mean += 0.5 * (a.front() + b.front());
      square += 0.5 * (a.back() + b.back());
      add_products(form, indices, a, b, weights);
    }
    const auto count = static_cast<double>(outer);
    const double variance = square / count - mean * mean / (count * count);
    for (double& weight : weights) weight /= count * variance;
    out[r] = std::move(weights);
  });
  return out;
}

}  // namespace onset::smi
