#include "smi/model/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/zeros.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

/// The streams of one run, one per sample, are numbered from run times this on.
constexpr std::uint64_t streams_per_run = std::uint64_t{1} << 32;
/// The number of samples that one task draws.
constexpr std::size_t samples_per_task = 64;

/// The fields of one sample, in the order of FieldShape.
void sample_fields(const Dataset& data, std::size_t i, std::span<double> fields) {
  const std::size_t dim = data.dimension;
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  const double* x = data.inputs.data() + i * data.tokens * dim;
  for (std::size_t p = 0; p * data.tokens < fields.size(); ++p) {
    const double* w = data.teacher.data() + p * dim;
    for (std::size_t t = 0; t < data.tokens; ++t) {
      double sum = 0.0;
      for (std::size_t d = 0; d < dim; ++d) sum += w[d] * x[t * dim + d];
      fields[p * data.tokens + t] = sum * scale;
    }
  }
}

}  // namespace

Dataset Dataset::first(std::size_t count) const {
  if (count > samples) {
    throw InvalidArgument("count", std::to_string(count) + " samples are wanted; allowed: up to " +
                                       std::to_string(samples));
  }
  Dataset part{count, tokens, dimension, {}, {}, teacher};
  const auto kept = static_cast<std::ptrdiff_t>(count * tokens * dimension);
  part.inputs.assign(inputs.begin(), inputs.begin() + kept);
  for (std::size_t row = 0; row * samples < labels.size(); ++row) {
    const auto begin = labels.begin() + static_cast<std::ptrdiff_t>(row * samples);
    part.labels.insert(part.labels.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return part;
}

Dataset draw_dataset(const SequenceModel& model, std::size_t dimension, std::size_t samples,
                     std::uint64_t seed, std::uint64_t run, const Context& context) {
  const FieldShape& shape = model.shape();
  const auto label_size = static_cast<std::size_t>(model.label_size());
  const auto noise_size = static_cast<std::size_t>(model.noise_size());
  Dataset data;
  data.samples = samples;
  data.tokens = static_cast<std::size_t>(shape.tokens);
  data.dimension = dimension;
  numerics::lay_zeros(data.inputs, samples * data.tokens * dimension, context);
  numerics::lay_zeros(data.labels, label_size * samples, context);
  data.teacher.resize(shape.directions() * dimension);
  numerics::Stream(seed, "smi teacher", run).normal(data.teacher);

  const std::size_t tasks = (samples + samples_per_task - 1) / samples_per_task;
  numerics::parallel_for(context, tasks, [&](std::size_t task) {
    const std::size_t size = data.tokens * dimension;
    const std::size_t begin = task * samples_per_task;
    const std::size_t count = std::min(samples - begin, samples_per_task);
    std::vector<double> one_field(shape.fields()), one_noise(noise_size);
    std::vector<double> fields(one_field.size() * count), noise(noise_size * count);
    std::vector<double> label(label_size * count);
    for (std::size_t k = 0; k < count; ++k) {
      context.check();  // one sample of a large dimension takes a while
      const std::size_t i = begin + k;
      const std::uint64_t index = run * streams_per_run + i;
      numerics::Stream(seed, "smi inputs", index)
          .normal(std::span(data.inputs).subspan(i * size, size));
      numerics::Stream(seed, "smi label noise", index).normal(one_noise);
      sample_fields(data, i, one_field);
      for (std::size_t f = 0; f < one_field.size(); ++f) fields[f * count + k] = one_field[f];
      for (std::size_t e = 0; e < noise_size; ++e) noise[e * count + k] = one_noise[e];
    }
    model.labels(count, fields, noise, label);
    for (std::size_t row = 0; row < label_size; ++row) {
      for (std::size_t k = 0; k < count; ++k) {
        data.labels[row * samples + begin + k] = label[row * count + k];
      }
    }
  });
  return data;
}

double dataset_bytes(const FieldShape& shape, double dimension, double samples) {
  return sizeof(double) * samples *
         (shape.tokens * dimension + static_cast<double>(shape.fields()));
}

}  // namespace onset::smi
