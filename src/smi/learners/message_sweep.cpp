#include "smi/learners/message_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "numerics/parallel.hpp"
#include "smi/learners/smoothed_posterior.hpp"
#include "smi/learners/token_rows.hpp"

namespace onset::smi {
namespace {

/// The largest number of chains of blocks that run side by side, each with sums of its own.
constexpr std::size_t max_chains = 32;

/// The number of samples of a block: their inputs stay in the second-level cache between the two
/// products, as far as that lets posteriors have some samples at once.
std::size_t block_samples(const Dataset& data, const Posterior& posterior) {
  constexpr std::size_t cached_numbers = std::size_t{1} << 17U;
  constexpr std::size_t fewest = 8;
  constexpr std::size_t most = 64;
  if (posterior.on_device()) return most;
  return std::clamp(cached_numbers / (data.tokens * data.dimension), fewest, most);
}

/// The processor time of this thread in seconds, which measures work however many share the
/// machine.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

SweepSums empty_sums(const FieldShape& shape, std::size_t push_size) {
  SweepSums sums;
  sums.push.assign(push_size, 0.0);
  sums.curvature = isotropic(shape, 0.0);
  sums.squared_message.assign(shape.blocks(), 0.0);
  return sums;
}

void add(const SweepSums& part, SweepSums& sums) {
  for (std::size_t k = 0; k < sums.push.size(); ++k) sums.push[k] += part.push[k];
  for (std::size_t k = 0; k < sums.curvature.size(); ++k) sums.curvature[k] += part.curvature[k];
  for (std::size_t b = 0; b < sums.squared_message.size(); ++b) {
    sums.squared_message[b] += part.squared_message[b];
  }
  sums.squared_noise += part.squared_noise;
  sums.squared_residual += part.squared_residual;
  sums.lost += part.lost;
  sums.matrix_seconds += part.matrix_seconds;
  sums.posterior_seconds += part.posterior_seconds;
}

/// matrix <- (terms / dimension) (precision - precision matrix precision) with the mean covariance
/// in `matrix` [smi 44].
void curvature(const DirectionMatrix& precision, std::size_t size, double scale,
               DirectionMatrix& matrix) {
  DirectionMatrix half(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) {
        half[i * size + j] += matrix[i * size + k] * precision[k * size + j];
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      double x = precision[i * size + j];
      for (std::size_t k = 0; k < size; ++k) x -= precision[i * size + k] * half[k * size + j];
      matrix[i * size + j] = scale * x;
    }
  }
}

}  // namespace

/// What is the same for all samples of a pass.
struct MessageSweep::Pass {
  std::span<const double> weights;
  const DirectionMatrix& covariance;
  const DirectionMatrix& precision;
  const DirectionMatrix& response;
  SmoothedPrior prior;
};

struct MessageSweep::Workspace {
  Workspace(const FieldShape& shape, std::size_t labels, std::size_t samples)
      : fields(shape.fields() * samples),
        omega(fields.size()),
        message(fields.size()),
        label(labels * samples) {}
  std::vector<double> fields;   // direction * rows + row, rows being tokens of the block
  std::vector<double> omega;    // field * count + i
  std::vector<double> message;  // as `fields`
  std::vector<double> label;
};

MessageSweep::MessageSweep(const SequenceModel& model, const Posterior& posterior,
                           const Dataset& data)
    : model_(model),
      posterior_(posterior),
      data_(data),
      directions_(model.shape().directions()),
      between_(between_blocks(posterior, model.shape())),
      messages_(model.shape().fields() * data.samples, 0.0) {}

void MessageSweep::restart() {
  std::fill(messages_.begin(), messages_.end(), 0.0);
}

void MessageSweep::scale(std::size_t block, double factor) {
  const FieldShape& shape = model_.shape();
  const std::size_t first = shape.first(block) * data_.samples;
  for (std::size_t k = 0; k < shape.size(block) * data_.samples; ++k)
    messages_[first + k] *= factor;
}

/// Messages g = V^{-1} <z - omega> and sums of covariances of some samples.
void MessageSweep::read_moments(const Pass& pass, std::size_t first, std::size_t count,
                                Workspace& work, SweepSums& sums) {
  const FieldShape& shape = model_.shape();
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const auto labels = static_cast<std::size_t>(model_.label_size());
  const FieldMoments moments =
      smoothed_moments(posterior_, shape, pass.prior,
                       {count, std::span(work.label).first(labels * count),
                        std::span(work.omega).first(shape.fields() * count), first});
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (const std::vector<double>* all : {&moments.second, &moments.cross}) {
      for (std::size_t k = i; k < all->size(); k += count) sum += (*all)[k];
    }
    const bool usable = std::isfinite(sum);
    sums.lost += usable ? 0.0 : 1.0;
    const auto mean = [&](std::size_t p, std::size_t t) {
      return usable ? moments.mean[(p * tokens + t) * count + i] : 0.0;
    };
    for (std::size_t p = 0; p < directions_; ++p) {
      for (std::size_t t = 0; t < tokens; ++t) {
        double g = 0.0;
        for (std::size_t q = 0; q < directions_; ++q) {
          g += pass.precision[p * directions_ + q] * mean(q, t);
        }
        work.message[p * count * tokens + i * tokens + t] = g;
        messages_[(p * tokens + t) * data_.samples + first + i] = g;
      }
    }
    if (usable) add_statistics(pass, moments, count, i, sums);
  }
}

/// Adds a sample's covariances, and the sizes of its messages and of their noise.
void MessageSweep::add_statistics(const Pass& pass, const FieldMoments& moments, std::size_t count,
                                  std::size_t i, SweepSums& sums) const {
  const FieldShape& shape = model_.shape();
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const auto mean = [&](std::size_t f) { return moments.mean[f * count + i]; };
  const auto add_covariance = [&](std::size_t p, std::size_t q, double c) {
    sums.curvature[p * directions_ + q] += c;
    if (p != q) sums.curvature[q * directions_ + p] += c;
  };
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const double spread = mean_eigenvalue(pass.covariance, shape, b);
    const std::size_t start = shape.first(b);
    for (std::size_t f = start; f < start + shape.size(b); ++f) {
      const double gap = moments.gap[f * count + i];
      if (std::isfinite(gap)) sums.squared_noise += 0.25 * gap * gap / spread;
      sums.squared_message[b] += mean(f) * mean(f) / spread;
      sums.squared_residual += mean(f) * mean(f);
      for (std::size_t g = start + f % tokens; g <= f; g += tokens) {
        const std::size_t k = f - start;
        const std::size_t pair = shape.first_pair(b) + k * (k + 1) / 2 + (g - start);
        const double c = moments.second[pair * count + i] - mean(f) * mean(g);
        add_covariance(f / tokens, g / tokens, c);
      }
    }
    if (between_ == BetweenBlocks::nothing) continue;
    for (std::size_t p = start / tokens; p < (start + shape.size(b)) / tokens; ++p) {
      for (std::size_t q = 0; q < start / tokens; ++q) {
        double c = moments.cross[FieldShape::direction_pair(p, q) * count + i];
        for (std::size_t t = 0; t < tokens; ++t) c -= mean(p * tokens + t) * mean(q * tokens + t);
        add_covariance(p, q, c);
      }
    }
  }
}

void MessageSweep::block(const Pass& pass, std::size_t first, std::size_t count, Workspace& work,
                         SweepSums& sums) {
  const FieldShape& shape = model_.shape();
  const std::size_t tokens = data_.tokens;
  const std::size_t rows = count * tokens;
  const double* x = data_.inputs.data() + first * tokens * data_.dimension;
  double start = thread_seconds();
  project_rows(x, rows, data_.dimension, pass.weights.data(), directions_, work.fields.data());
  sums.matrix_seconds += thread_seconds() - start;

  start = thread_seconds();
  for (std::size_t f = 0; f < shape.fields(); ++f) {
    const std::size_t p = f / tokens, t = f % tokens;
    for (std::size_t i = 0; i < count; ++i) {
      double z = work.fields[p * rows + i * tokens + t];
      for (std::size_t q = 0; q < directions_; ++q) {
        z -= pass.response[p * directions_ + q] *
             messages_[(q * tokens + t) * data_.samples + first + i];
      }
      work.omega[f * count + i] = z;
    }
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_.label_size()); ++k) {
    std::copy_n(data_.labels.begin() + static_cast<std::ptrdiff_t>(k * data_.samples + first),
                count, work.label.begin() + static_cast<std::ptrdiff_t>(k * count));
  }
  read_moments(pass, first, count, work, sums);
  sums.posterior_seconds += thread_seconds() - start;

  start = thread_seconds();
  back_project_rows(x, rows, data_.dimension, work.message.data(), directions_, sums.push.data());
  sums.matrix_seconds += thread_seconds() - start;
}

SweepSums MessageSweep::pass(std::span<const double> weights, const DirectionMatrix& covariance,
                             const DirectionMatrix& precision, const DirectionMatrix& response,
                             const Context& context) {
  const FieldShape& shape = model_.shape();
  const Pass pass{weights, covariance, precision, response,
                  smoothed_prior(shape, covariance, between_)};
  const std::size_t samples = block_samples(data_, posterior_);
  const std::size_t blocks = (data_.samples + samples - 1) / samples;
  const std::size_t chains = std::min(max_chains, blocks);
  std::vector<SweepSums> parts(chains);
  numerics::parallel_for(context, chains, [&](std::size_t chain) {
    parts[chain] = empty_sums(shape, directions_ * data_.dimension);
    Workspace work(shape, static_cast<std::size_t>(model_.label_size()), samples);
    for (std::size_t k = chain * blocks / chains; k < (chain + 1) * blocks / chains; ++k) {
      if (context.stop.stop_requested()) return;
      const std::size_t first = k * samples;
      block(pass, first, std::min(samples, data_.samples - first), work, parts[chain]);
    }
  });
  context.check();
  SweepSums sums = empty_sums(shape, directions_ * data_.dimension);
  for (const SweepSums& part : parts) add(part, sums);
  const auto dimension = static_cast<double>(data_.dimension);
  for (double& s : sums.push) s /= std::sqrt(dimension);
  const double terms = (static_cast<double>(data_.samples) - sums.lost) * shape.tokens;
  for (double& c : sums.curvature) c /= std::max(terms, 1.0);
  curvature(precision, directions_, terms / dimension, sums.curvature);
  return sums;
}

}  // namespace onset::smi
