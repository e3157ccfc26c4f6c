#include "onset/ssi/model/model.hpp"

#include <gtest/gtest.h>

#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

TEST(SsiModel, SaysWhatDoesNotFit) {
  SequenceModel model;
  model.target = read_target("softmax", 2);
  model.student.link = attention_link({2, Reduction::trace, {}, {}});
  EXPECT_THROW(model.validate(), InvalidArgument);
  model.student.link = attention_link({3, Reduction::none, {}, {}});
  EXPECT_THROW(model.validate(), InvalidArgument);
}

}  // namespace
}  // namespace onset::ssi
