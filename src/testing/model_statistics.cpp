#include "testing/model_statistics.hpp"

#include <fmt/format.h>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "testing/model_samples.hpp"

namespace onset::testing {
namespace {

using smi::FieldShape;
using smi::PosteriorMoments;

// One direction of a block: the row of its first token.
struct Direction {
  std::size_t block;
  std::size_t row;
};

std::vector<Direction> directions_of(const FieldShape& shape) {
  std::vector<Direction> out;
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for (std::size_t row = 0; row < shape.size(b); row += tokens) {
      out.push_back({b, shape.first(b) + row});
    }
  }
  return out;
}

// Sums over the samples of a batch, appended output by output in one fixed order.
class Outputs {
 public:
  Outputs(const FieldShape& shape, const ModelSamples& samples, const PosteriorMoments& moments,
          std::span<double> out)
      : shape_(shape), samples_(samples), moments_(moments), out_(out), count_(samples.count) {}

  void write() {
    for (std::size_t b = 0; b < shape_.blocks(); ++b) {
      gain(b);
      growth(b);
      truth(b);
      second_moments(b);
    }
    products_of_means();
  }

 private:
  [[nodiscard]] const double* mean(int half, std::size_t row) const {
    return &moments_.half[half].mean[row * count_];
  }
  [[nodiscard]] const double* second(int half, std::size_t row) const {
    return &moments_.half[half].second[row * count_];
  }
  template <class F>
  void emit(const F& value) {
    for (std::size_t i = 0; i < count_; ++i) out_[next_ * count_ + i] = value(i);
    ++next_;
  }
  // Sum over tokens of <zeta><zeta>, one factor from each half.
  [[nodiscard]] double product(std::size_t p, std::size_t q, std::size_t i) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.tokens); ++t) {
      sum += 0.5 * (mean(0, p + t)[i] * mean(1, q + t)[i] + mean(1, p + t)[i] * mean(0, q + t)[i]);
    }
    return sum;
  }
  [[nodiscard]] double squared_mean(std::size_t b, std::size_t i) const {
    double sum = 0.0;
    for (std::size_t f = 0; f < shape_.size(b); ++f) {
      sum += mean(0, shape_.first(b) + f)[i] * mean(1, shape_.first(b) + f)[i];
    }
    return sum;
  }
  void gain(std::size_t b) {
    emit([&](std::size_t i) { return squared_mean(b, i) / shape_.rank[b]; });
  }
  void growth(std::size_t b) {
    emit([&](std::size_t i) {
      double sum = 0.0;
      std::size_t row = shape_.first_pair(b);
      for (std::size_t f = 0; f < shape_.size(b); ++f) {
        for (std::size_t g = 0; g <= f; ++g, ++row) {
          const double one = f == g ? 1.0 : 0.0;
          const double term = (second(0, row)[i] - one) * (second(1, row)[i] - one);
          sum += f == g ? term : 2.0 * term;
        }
      }
      return sum / shape_.rank[b];
    });
  }
  void truth(std::size_t b) {
    emit([&](std::size_t i) {
      double sum = -squared_mean(b, i);
      for (std::size_t f = 0; f < shape_.size(b); ++f) {
        const std::size_t row = shape_.first(b) + f;
        sum += 0.5 * (mean(0, row)[i] + mean(1, row)[i]) * samples_.zeta[row * count_ + i];
      }
      return sum;
    });
  }
  void second_moments(std::size_t b) {
    std::size_t row = shape_.first_pair(b);
    for (std::size_t f = 0; f < shape_.size(b); ++f) {
      for (std::size_t g = 0; g <= f; ++g, ++row) {
        const double one = f == g ? 1.0 : 0.0;
        emit([&](std::size_t i) { return 0.5 * (second(0, row)[i] + second(1, row)[i]) - one; });
      }
    }
  }
  void products_of_means() {
    const std::vector<Direction> all = directions_of(shape_);
    for (std::size_t p = 0; p < all.size(); ++p) {
      for (std::size_t q = 0; q < p; ++q) {
        emit([&](std::size_t i) { return product(all[p].row, all[q].row, i); });
      }
      if (p == 0 || all[p].block != all[p - 1].block) continue;
      emit([&](std::size_t i) {
        return product(all[p].row, all[p].row, i) - product(all[p - 1].row, all[p - 1].row, i);
      });
    }
  }

  const FieldShape& shape_;
  const ModelSamples& samples_;
  const PosteriorMoments& moments_;
  std::span<double> out_;
  std::size_t count_;
  std::size_t next_ = 0;
};

// Says what the outputs are, in the order of Outputs::write(); empty for gain and growth.
std::vector<std::string> sentences(const FieldShape& shape, const std::string& where) {
  std::vector<std::string> out;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::string block = fmt::format("block {}, {}", b + 1, where);
    out.insert(out.end(), 2, "");
    out.push_back(block + ": E<zeta>.zeta* differs from E|<zeta>|^2 (Nishimori)");
    for (std::size_t f = 0; f < shape.size(b); ++f) {
      for (std::size_t g = 0; g <= f; ++g) {
        out.push_back(fmt::format("{}: E<zeta_{} zeta_{}> differs from {} (Nishimori)", block,
                                  f + 1, g + 1, f == g ? 1 : 0));
      }
    }
  }
  const std::vector<Direction> all = directions_of(shape);
  for (std::size_t p = 0; p < all.size(); ++p) {
    for (std::size_t q = 0; q < p; ++q) {
      out.push_back(
          fmt::format("{}: directions {} (block {}) and {} (block {}) become correlated, so "
                      "state evolution with one overlap per block does not close",
                      where, q + 1, all[q].block + 1, p + 1, all[p].block + 1));
    }
    if (p == 0 || all[p].block != all[p - 1].block) continue;
    out.push_back(
        fmt::format("{}: directions {} and {} of block {} are not learned alike, so state "
                    "evolution with one overlap per block does not close",
                    where, p, p + 1, all[p].block + 1));
  }
  return out;
}

}  // namespace

ModelStatistics model_statistics(const smi::SequenceModel& model, const smi::Posterior& posterior,
                                 std::span<const double> variance, const ModelCheckOptions& options,
                                 const Context& context) {
  const FieldShape& shape = model.shape();
  const std::vector<std::string> what = sentences(shape, describe(variance));
  const numerics::ExpectationOptions expectation{static_cast<int>(normals_per_sample(model)),
                                                 static_cast<int>(what.size()), options.points,
                                                 options.replicates, options.seed};
  const auto integrand = [&](const numerics::NormalBatch& batch, std::span<double> out) {
    const ModelSamples samples = make_samples(model, variance, batch.normals, batch.count);
    PosteriorMoments moments(shape, batch.count);
    posterior.moments(samples.query(batch.first, batch.replicate), moments);
    Outputs(shape, samples, moments, out).write();
  };
  const std::vector<numerics::Replicates> values =
      numerics::gaussian_expectation(expectation, integrand, context);
  ModelStatistics out;
  std::size_t unnamed = 0;
  for (std::size_t k = 0; k < what.size(); ++k) {
    const Estimate value = numerics::reduce(values[k]);
    if (!what[k].empty()) {
      out.deviations.push_back({what[k], value});
    } else {
      (unnamed++ % 2 == 0 ? out.gain : out.growth).push_back(value);
    }
  }
  return out;
}

}  // namespace onset::testing
