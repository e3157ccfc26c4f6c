#include "onset/ssi/model/encodings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "onset/core/error.hpp"
#include "onset/ssi/model/model.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

TEST(Encodings, OppositeOnesAreThoseOfPositional) {
  const Encodings given = reduced_encodings({{0.0, 1.0}, {0.0, -1.0}, {0.0, 1.0}});
  const Encodings usual = opposite_encodings(3);
  EXPECT_EQ(given.teacher, usual.teacher);
  EXPECT_EQ(given.own, usual.own);
  EXPECT_FALSE(given.see_teacher());
}

/// Lengths and angles are all that matters of them, whatever the basis they were given in.
TEST(Encodings, KeepTheirProductsInFewerDirections) {
  const std::vector<std::vector<double>> rows{
      {0.3, 1.0, 2.0, 0.0}, {-0.5, -2.0, -4.0, 0.0}, {0.0, 0.5, 0.0, 1.0}};
  const Encodings e = reduced_encodings(rows);
  ASSERT_EQ(e.own.size(), 2u);
  EXPECT_TRUE(e.see_teacher());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(e.teacher[i], rows[i][0]);
    for (std::size_t j = 0; j < rows.size(); ++j) {
      double given = 0.0;
      double kept = 0.0;
      for (std::size_t k = 1; k < rows[i].size(); ++k) given += rows[i][k] * rows[j][k];
      for (const auto& direction : e.own) kept += direction[i] * direction[j];
      EXPECT_NEAR(kept, given, tolerance::dozens_of_roundings);
    }
  }
}

TEST(Encodings, AlongTheTeacherAloneHaveNoDirectionOfTheirOwn) {
  EXPECT_TRUE(reduced_encodings({{1.0}, {2.0}}).own.empty());
  EXPECT_TRUE(reduced_encodings({{1.0, 0.0}, {2.0, 0.0}}).own.empty());
}

TEST(Encodings, RowsThatMeanNothingAreNamed) {
  EXPECT_THROW((void)reduced_encodings({{1.0, 2.0}, {1.0}}), InvalidArgument);
  EXPECT_THROW((void)reduced_encodings({{std::numeric_limits<double>::infinity()}}),
               InvalidArgument);
}

TEST(Encodings, FitTheirModelOrAreRefused) {
  SequenceModel model;
  model.target = read_target("H2sum", 2);
  model.student = make_student("attention", {.tokens = 2});
  model.positional = true;
  model.encodings = reduced_encodings({{0.0, 1.0}, {0.0, -1.0}, {0.0, 1.0}});
  EXPECT_THROW(model.validate(), InvalidArgument);
  model.encodings = reduced_encodings({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}});
  EXPECT_NO_THROW(model.validate());
  EXPECT_THROW((void)model.shifts(), Refused);
  model.student = make_student("tied", {.tokens = 2});
  EXPECT_THROW(model.validate(), InvalidArgument);
}

}  // namespace
}  // namespace onset::ssi
