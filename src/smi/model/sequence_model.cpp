#include "onset/smi/model/sequence_model.hpp"

#include <vector>

namespace onset::smi {
namespace {

/// Sample i of arrays that run over samples fastest.
void gather(std::span<const double> from, std::size_t count, std::size_t i, std::span<double> to) {
  for (std::size_t row = 0; row < to.size(); ++row) to[row] = from[row * count + i];
}

void scatter(std::span<const double> from, std::size_t count, std::size_t i, std::span<double> to) {
  for (std::size_t row = 0; row < from.size(); ++row) to[row * count + i] = from[row];
}

}  // namespace

void SequenceModel::labels(std::size_t count, std::span<const double> fields,
                           std::span<const double> noise, std::span<double> labels) const {
  std::vector<double> one_field(shape().fields());
  std::vector<double> one_noise(static_cast<std::size_t>(noise_size()));
  std::vector<double> one_label(static_cast<std::size_t>(label_size()));
  for (std::size_t i = 0; i < count; ++i) {
    gather(fields, count, i, one_field);
    gather(noise, count, i, one_noise);
    label(one_field, one_noise, one_label);
    scatter(one_label, count, i, labels);
  }
}

void SequenceModel::predictions(std::size_t count, std::span<const double> fields,
                                std::span<double> out) const {
  std::vector<double> one_field(shape().fields());
  std::vector<double> one_prediction(static_cast<std::size_t>(prediction_size()));
  for (std::size_t i = 0; i < count; ++i) {
    gather(fields, count, i, one_field);
    prediction(one_field, one_prediction);
    scatter(one_prediction, count, i, out);
  }
}

}  // namespace onset::smi
