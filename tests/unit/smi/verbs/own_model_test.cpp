#include "smi/verbs/own_model.hpp"

#include <gtest/gtest.h>

#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/model/links.hpp"

namespace onset::smi {
namespace {

OwnModel::Make named(const char* name) {
  return [name] { return link_model(name); };
}

TEST(OwnModel, RequestsSpeakOfItWhileItLives) {
  const Result there = Thresholds{.link = "square"}.run();
  Call call;
  {
    const OwnModel own(named("square"));
    call = Thresholds{}.settle();
    EXPECT_TRUE(own.used());
  }
  const Result here = onset::run(Thresholds::verb(), call, {});
  ASSERT_EQ(here.table.rows().size(), there.table.rows().size());
  EXPECT_EQ(here.table.number(0, "alpha"), there.table.number(0, "alpha"));
  EXPECT_EQ(OwnModel::current(), nullptr);
}

TEST(OwnModel, FieldsOfAttentionAreRefusedBesideIt) {
  const OwnModel own(named("square"));
  EXPECT_THROW((void)Thresholds{.layers = 3}.settle(), InvalidArgument);
}

TEST(OwnModel, TheInnermostOneCountsAndUnaskedOnesAreUnused) {
  const OwnModel outer(named("square"));
  {
    const OwnModel inner(named("linear"));
    EXPECT_EQ(OwnModel::current()->constraints(), link_model("linear")->constraints());
    EXPECT_TRUE(inner.used());
  }
  EXPECT_FALSE(outer.used());
}

}  // namespace
}  // namespace onset::smi
