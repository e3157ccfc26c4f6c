#include "testing/pointwise_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/dense.hpp"

namespace onset::testing {
namespace {

using smi::FieldShape;
using smi::PosteriorMoments;

// Negative eigenvalues of a covariance below this part of the second moments are rounding.
constexpr double psd_tolerance = 1e-9;
// The shift of omega / sqrt(V) for differences; half of it is used too, to extrapolate.
constexpr double shift = 0.02;
// Besides the difference between the two shifts, derivatives may be off by this part.
constexpr double difference_tolerance = 1e-6;
// Two posteriors that agree to this part are the same.
constexpr double same_tolerance = 1e-8;

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

std::size_t pair_row(const FieldShape& shape, std::size_t block, std::size_t i, std::size_t j) {
  const auto [low, high] = std::minmax(i, j);
  return shape.first_pair(block) + high * (high + 1) / 2 + low;
}

double covariance(const PosteriorMoments& m, std::size_t block, std::size_t sample, std::size_t i,
                  std::size_t j) {
  const auto mean = [&](std::size_t k) {
    return m.half[0].mean[(m.shape.first(block) + k) * m.count + sample];
  };
  const double second = m.half[0].second[pair_row(m.shape, block, i, j) * m.count + sample];
  return second - mean(i) * mean(j);
}

double min_eigenvalue_of_covariance(const PosteriorMoments& m, std::size_t block,
                                    std::size_t sample) {
  const std::size_t size = m.shape.size(block);
  std::vector<double> matrix(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      matrix[i * size + j] = covariance(m, block, sample, i, j);
    }
  }
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, matrix, values);
  return values.front();
}

// log Z and means with omega of one field shifted by +-shift and +-shift/2, in units of sqrt V.
class Shifted {
 public:
  Shifted(const smi::Posterior& posterior, const FieldShape& shape, const ModelSamples& samples,
          std::size_t field, double variance) {
    ModelSamples moved = samples;
    const std::size_t count = samples.count;
    for (const double by : {shift, -shift, 0.5 * shift, -0.5 * shift}) {
      for (std::size_t i = 0; i < count; ++i) {
        double& omega = moved.omega[field * count + i];
        omega = samples.omega[field * count + i] + by * std::sqrt(variance);
        // This is how far omega moved after rounding.
        by_.push_back((omega - samples.omega[field * count + i]) / std::sqrt(variance));
      }
      moments_.emplace_back(shape, count);
      posterior.moments(moved.query(), moments_.back());
    }
    count_ = count;
  }

  struct Derivative {
    double value;
    double uncertainty;
  };
  [[nodiscard]] Derivative log_z(std::size_t i) const {
    return extrapolate(i, [&](const PosteriorMoments& m) { return m.half[0].log_z[i]; });
  }
  [[nodiscard]] Derivative mean(std::size_t field, std::size_t i) const {
    return extrapolate(
        i, [&](const PosteriorMoments& m) { return m.half[0].mean[field * count_ + i]; });
  }

 private:
  template <class Read>
  [[nodiscard]] Derivative extrapolate(std::size_t i, const Read& read) const {
    const double wide = (read(moments_[0]) - read(moments_[1])) / (by_[i] - by_[count_ + i]);
    const double narrow =
        (read(moments_[2]) - read(moments_[3])) / (by_[2 * count_ + i] - by_[3 * count_ + i]);
    return {(4.0 * narrow - wide) / 3.0, std::fabs(narrow - wide)};
  }

  std::size_t count_;
  std::vector<double> by_;
  std::vector<PosteriorMoments> moments_;
};

// The worst of many comparisons, as a sentence.
class Worst {
 public:
  void compare(double given, const Shifted::Derivative& wanted) {
    const double allowed =
        difference_tolerance * (1.0 + std::fabs(wanted.value)) + wanted.uncertainty;
    const double excess = std::fabs(given - wanted.value) / allowed;
    ++compared_;
    if (!(excess > 1.0)) return;
    ++wrong_;
    if (excess <= excess_) return;
    excess_ = excess;
    given_ = given;
    wanted_ = wanted.value;
  }
  void report(const std::string& what, std::vector<std::string>& out) const {
    if (wrong_ == 0) return;
    out.push_back(fmt::format("{} in {} of {} comparisons, at worst {:.8g} instead of {:.8g}", what,
                              wrong_, compared_, given_, wanted_));
  }

 private:
  int compared_ = 0;
  int wrong_ = 0;
  double excess_ = 0.0;
  double given_ = 0.0;
  double wanted_ = 0.0;
};

}  // namespace

std::vector<std::string> check_values(const PosteriorMoments& moments, const std::string& where) {
  for (const PosteriorMoments::Half& half : moments.half) {
    if (!all_finite(half.log_z)) return {fmt::format("{}: log Z is not finite", where)};
    if (!all_finite(half.mean)) return {fmt::format("{}: a mean is not finite", where)};
    if (!all_finite(half.second)) return {fmt::format("{}: a second moment is not finite", where)};
  }
  std::vector<std::string> out;
  for (std::size_t b = 0; b < moments.shape.blocks(); ++b) {
    double worst = 0.0;
    for (std::size_t i = 0; i < moments.count; ++i) {
      double size = 1.0;
      for (std::size_t k = 0; k < moments.shape.size(b); ++k) {
        size +=
            std::fabs(moments.half[0].second[pair_row(moments.shape, b, k, k) * moments.count + i]);
      }
      worst = std::min(worst, min_eigenvalue_of_covariance(moments, b, i) / size);
    }
    if (worst < -psd_tolerance) {
      out.push_back(fmt::format(
          "block {}, {}: a covariance has a negative eigenvalue, {:.3g} of its second moments",
          b + 1, where, worst));
    }
  }
  return out;
}

namespace {

// Compares sums over tokens of covariances between blocks with derivatives of means.
void check_cross(const smi::Posterior& posterior, const FieldShape& shape,
                 const ModelSamples& samples, const PosteriorMoments& base,
                 std::vector<std::string>& out) {
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  for (std::size_t b = 1; b < shape.blocks(); ++b) {
    Worst cross;
    for (std::size_t f = shape.first(b); f < shape.first(b + 1); f += tokens) {
      std::vector<Shifted> shifted;
      for (std::size_t t = 0; t < tokens; ++t) {
        shifted.emplace_back(posterior, shape, samples, f + t, samples.variance[b]);
      }
      for (std::size_t g = 0; g < shape.first(b); g += tokens) {
        const std::size_t pair = FieldShape::direction_pair(f / tokens, g / tokens);
        for (std::size_t i = 0; i < samples.count; ++i) {
          const auto mean = [&](std::size_t row) {
            return base.half[0].mean[row * samples.count + i];
          };
          double given = base.half[0].cross[pair * samples.count + i];
          Shifted::Derivative wanted{0.0, 0.0};
          for (std::size_t t = 0; t < tokens; ++t) {
            given -= mean(f + t) * mean(g + t);
            const Shifted::Derivative slope = shifted[t].mean(g + t, i);
            wanted.value += slope.value;
            wanted.uncertainty += slope.uncertainty;
          }
          cross.compare(given, wanted);
        }
      }
    }
    cross.report(fmt::format("block {}, {}: the covariance with earlier blocks is not the "
                             "derivative of their means",
                             b + 1, describe(samples.variance)),
                 out);
  }
}

}  // namespace

std::vector<std::string> check_derivatives(const smi::Posterior& posterior, const FieldShape& shape,
                                           const ModelSamples& samples) {
  PosteriorMoments base(shape, samples.count, posterior.between_blocks());
  posterior.moments(samples.query(), base);
  std::vector<std::string> out;
  if (posterior.between_blocks()) check_cross(posterior, shape, samples, base, out);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    Worst mean;
    Worst cov;
    for (std::size_t f = 0; f < shape.size(b); ++f) {
      const Shifted shifted(posterior, shape, samples, shape.first(b) + f, samples.variance[b]);
      for (std::size_t i = 0; i < samples.count; ++i) {
        mean.compare(base.half[0].mean[(shape.first(b) + f) * samples.count + i], shifted.log_z(i));
        for (std::size_t g = 0; g <= f; ++g) {
          Shifted::Derivative wanted = shifted.mean(shape.first(b) + g, i);
          wanted.value += f == g ? 1.0 : 0.0;
          cov.compare(covariance(base, b, i, f, g), wanted);
        }
      }
    }
    const std::string where = fmt::format("block {}, {}", b + 1, describe(samples.variance));
    mean.report(where + ": the mean of zeta is not the derivative of log Z", out);
    cov.report(where + ": the covariance of zeta is not the derivative of its mean plus one", out);
  }
  return out;
}

bool sign_symmetric(const smi::SequenceModel& model, const smi::Posterior& posterior,
                    const ModelSamples& samples, std::size_t block) {
  const FieldShape& shape = model.shape();
  ModelSamples flipped = samples;
  const std::size_t first = shape.first(block) * samples.count;
  for (std::size_t k = 0; k < shape.size(block) * samples.count; ++k) {
    flipped.field[first + k] = -flipped.field[first + k];
  }
  flipped.label = make_labels(model, flipped, flipped.field);
  PosteriorMoments before(shape, samples.count);
  PosteriorMoments after(shape, samples.count);
  posterior.moments(samples.query(), before);
  posterior.moments(flipped.query(), after);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
      return std::fabs(x - y) <= same_tolerance * (1.0 + std::fabs(x));
    });
  };
  return same(before.half[0].log_z, after.half[0].log_z) &&
         same(before.half[0].mean, after.half[0].mean) &&
         same(before.half[0].second, after.half[0].second);
}

}  // namespace onset::testing
