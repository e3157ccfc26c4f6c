#include "onset/smi/model/sequence_model.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "smi/model/links.hpp"

namespace onset::smi {
namespace {

// Arrays run over samples fastest: fields z1 of all samples, then z2.
TEST(SequenceModel, LabelsAndPredictionsOfManySamplesAreThoseOfEach) {
  const auto model = link_model("product");
  const std::vector<double> fields{1.0, 2.0, 3.0, 0.5, -1.0, 2.0};
  std::vector<double> labels(3 * static_cast<std::size_t>(model->label_size()));
  std::vector<double> predictions(3 * static_cast<std::size_t>(model->prediction_size()));
  model->labels(3, fields, {}, labels);
  model->predictions(3, fields, predictions);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<double> one{fields[i], fields[3 + i]};
    std::vector<double> label(static_cast<std::size_t>(model->label_size()));
    std::vector<double> prediction(static_cast<std::size_t>(model->prediction_size()));
    model->label(one, {}, label);
    model->prediction(one, prediction);
    for (std::size_t k = 0; k < label.size(); ++k) EXPECT_EQ(labels[3 * k + i], label[k]);
    for (std::size_t k = 0; k < prediction.size(); ++k) {
      EXPECT_EQ(predictions[3 * k + i], prediction[k]);
    }
  }
}

}  // namespace
}  // namespace onset::smi
