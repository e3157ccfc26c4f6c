#include "report/gnuplot/look_colour.hpp"

#include <gtest/gtest.h>

namespace onset::report {
namespace {

TEST(LookColour, IsNamedOrAPlaceOnTheScale) {
  Look look;
  look.colour = Colour::blue;
  EXPECT_EQ(look_colour(look), "#0072B2");
  look.shade = 0.0;
  EXPECT_EQ(look_colour(look), "#440154");
  look.shade = 1.0;
  EXPECT_EQ(look_colour(look).size(), 7U);
  EXPECT_NE(look_colour(look), "#fde725");  // too light for paper
}

}  // namespace
}  // namespace onset::report
