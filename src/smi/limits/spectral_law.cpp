#include "smi/limits/spectral_law.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/teacher_batch.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Labels = std::vector<LabelExcess>;

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

bool SpectralLaw::is_pulled(std::size_t block) const {
  constexpr double least = 1e-4, errors = 6.0;
  return pull[block].value > std::max(least, errors * pull[block].error);
}

double normalise(std::vector<LabelExcess>& labels) {
  double mass = 0.0;
  for (const LabelExcess& label : labels) mass += label.weight;
  for (std::size_t b = 0; b < labels.front().excess.size(); ++b) {
    const Index size = labels.front().excess[b].rows();
    const MatrixXd identity = MatrixXd::Identity(size, size);
    MatrixXd mean = identity;
    for (const LabelExcess& label : labels) mean += label.weight / mass * label.excess[b];
    const MatrixXd whitening = numerics::inverse(numerics::symmetric_root(mean));
    for (LabelExcess& label : labels) {
      const MatrixXd second = whitening * (label.excess[b] + identity) * whitening;
      label.excess[b] = 0.5 * (second + second.transpose()) - identity;
    }
  }
  for (LabelExcess& label : labels) label.weight /= mass;
  return std::abs(mass - 1.0);
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
  law.pull = {Estimate{}};
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
    law.pull.emplace_back();
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
        mean.excess.emplace_back(0.5 * (g0 + g1));
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
