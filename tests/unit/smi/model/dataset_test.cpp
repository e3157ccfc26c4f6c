#include "smi/model/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "onset/core/error.hpp"
#include "smi/model/attention_model.hpp"
#include "support/contexts.hpp"
#include "support/peak_memory.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

TEST(SmiDataset, LabelsAreThoseOfTheTeacher) {
  DeepAttention attention;
  attention.tokens = 3;
  const auto model = attention_model(attention);
  const Dataset data = draw_dataset(*model, 20, 5, 1, 0, {});
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<double> fields(6), label(3);
    for (std::size_t f = 0; f < 6; ++f) {
      for (std::size_t d = 0; d < 20; ++d) {
        fields[f] += data.teacher[f / 3 * 20 + d] * data.inputs[(i * 3 + f % 3) * 20 + d];
      }
      fields[f] /= std::sqrt(20.0);
    }
    model->label(fields, {}, label);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(data.labels[k * 5 + i], label[k], tolerance::thousands_of_roundings);
  }
}

TEST(SmiDataset, FewerSamplesAreTheFirstOfMore) {
  const auto model = attention_model({});
  const Dataset few = draw_dataset(*model, 30, 70, 4, 2, {});
  const Dataset many = draw_dataset(*model, 30, 200, 4, 2, testing::with_threads(3));
  const Dataset part = many.first(70);
  EXPECT_EQ(few.inputs, part.inputs);
  EXPECT_EQ(few.labels, part.labels);
  EXPECT_EQ(few.teacher, part.teacher);
  EXPECT_THROW((void)few.first(71), InvalidArgument);
  EXPECT_NE(draw_dataset(*model, 30, 70, 4, 3, {}).teacher, few.teacher);
}

TEST(SmiDataset, IsNotClearedBeforeAStopIsHeeded) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  const auto model = attention_model({});
  constexpr std::size_t samples = std::size_t{1} << 22;
  const double before = testing::peak_memory();
  EXPECT_THROW((void)draw_dataset(*model, 8, samples, 1, 0, context), Interrupted);
  EXPECT_LT(testing::peak_memory() - before, 0.5 * 8.0 * 8.0 * static_cast<double>(samples));
}

}  // namespace
}  // namespace onset::smi
