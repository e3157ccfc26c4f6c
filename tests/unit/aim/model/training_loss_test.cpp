#include "aim/model/training_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aim/model/channels.hpp"
#include "numerics/random/stream.hpp"

namespace onset::aim {
namespace {

TEST(AimTrainingLoss, SlopesAreThoseOfDifferences) {
  constexpr double step = 1e-4;
  constexpr double stencil_error = 1e-7;
  numerics::Stream stream(3, "test losses");
  for (const int tokens : {1, 2, 3, 20}) {
    for (const Channel* channel : {&linear_channel(), &softmax_channel(), &hardmax_channel()}) {
      for (const SgdLoss loss : {SgdLoss::squared, SgdLoss::cross_entropy}) {
        const bool linear = channel == &linear_channel();
        if (linear != (loss == SgdLoss::squared) && channel != &softmax_channel()) continue;
        AttentionIndexed labels;
        labels.channel = channel;
        labels.tokens = tokens;
        labels.beta = 1.3;
        std::vector<double> teacher(static_cast<std::size_t>(tokens * tokens));
        std::vector<double> student(teacher.size());
        std::vector<double> slope(teacher.size());
        std::vector<double> ignored(teacher.size());
        stream.normal(teacher);
        stream.normal(student);
        training_loss(labels, loss, teacher, student, slope);
        for (std::size_t i = 0; i < student.size(); ++i) {
          const auto at = [&](double h) {
            std::vector<double> moved = student;
            moved[i] += h;
            return training_loss(labels, loss, teacher, moved, ignored);
          };
          EXPECT_NEAR(slope[i], (at(step) - at(-step)) / (2.0 * step), stencil_error);
        }
      }
    }
  }
}

}  // namespace
}  // namespace onset::aim
