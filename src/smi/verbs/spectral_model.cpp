#include "smi/verbs/spectral_model.hpp"

#include <algorithm>

#include "numerics/random/stream.hpp"

namespace onset::smi {
namespace {

constexpr std::size_t compared_labels = 64;

/// The label y as it is observed, from the numbers that describe it.
void observe(const SequenceModel& model, double& y) {
  const LabelForm* form = model.label_form();
  if (form == nullptr) return;
  const double described = y;
  form->write({&described, 1}, {&y, 1});
}

}  // namespace

SpectralLaw SpectralModel::law(const SequenceModel& model, int nodes, std::uint64_t seed,
                               const Context& context) const {
  if (typed) return spectral_law(*typed, seed, context);
  if (one_layer) return one_layer_law(*one_layer);
  return spectral_law(model, attention_law_labels, nodes, seed, context);
}

SampleExcess SpectralModel::excess(const SequenceModel& model, const Dataset& data, int nodes,
                                   std::uint64_t seed, const Context& context) const {
  if (!typed) return sample_excess(model, data.labels, nodes, seed, context);
  std::vector<double> labels = data.labels;
  for (double& y : labels) observe(model, y);
  return sample_excess(*typed, labels, data.tokens, seed, context);
}

std::vector<std::vector<std::size_t>> SpectralModel::directions(const SequenceModel& model) const {
  if (typed) return sign_blocks(*typed);
  std::vector<std::vector<std::size_t>> out;
  const FieldShape& shape = model.shape();
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t first = shape.first(b) / static_cast<std::size_t>(shape.tokens);
    out.emplace_back();
    for (std::size_t p = 0; p < static_cast<std::size_t>(shape.rank[b]); ++p) {
      out.back().push_back(first + p);
    }
  }
  return out;
}

bool SpectralModel::has_directions_of(const SequenceModel& model) const {
  if (!typed) return true;
  const auto tokens = static_cast<std::size_t>(model.shape().tokens);
  const auto& inputs = typed->fields();
  std::vector<double> fields(model.shape().fields());
  std::vector<double> noise(static_cast<std::size_t>(model.noise_size()));
  numerics::Stream stream(1, "directions of a link");
  for (std::size_t i = 0; i < compared_labels; ++i) {
    stream.normal(fields);
    stream.normal(noise);
    std::vector<double> label(typed->outputs());
    model.label(fields, noise, label);
    for (double& y : label) observe(model, y);
    std::vector<double> values;
    std::size_t next_noise = 0;
    for (const TypedField& field : inputs) {
      values.push_back(field.direction ? fields[*field.direction * tokens + field.token]
                                       : noise[next_noise++]);
    }
    std::vector<double> typed_label(typed->outputs());
    typed->values(1, values.data(), typed_label.data());
    for (std::size_t k = 0; k < label.size(); ++k) {
      if (!TypedLink::same_atom(label[k], typed_label[k])) return false;
    }
  }
  return true;
}

}  // namespace onset::smi
