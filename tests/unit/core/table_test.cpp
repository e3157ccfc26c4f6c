#include "onset/core/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset {
namespace {

Table sample() {
  Table table({{"kind", "", "", false}, {"alpha", "", "N/D", true}});
  table.add_row({"weak", Estimate{0.5, 0.01}});
  table.add_row({"hard", std::monostate{}});
  return table;
}

TEST(Table, GivesNumbersAndTheirErrors) {
  const Table table = sample();
  EXPECT_EQ(table.number(0, "alpha"), 0.5);
  EXPECT_EQ(table.error(0, "alpha"), 0.01);
  EXPECT_TRUE(std::isnan(table.number(1, "alpha")));
  EXPECT_EQ(table.error(0, "kind"), 0.0);
}

TEST(Table, RefusesRowsOfTheWrongLength) {
  Table table = sample();
  EXPECT_THROW(table.add_row({"weak"}), InvalidArgument);
  EXPECT_EQ(table.rows().size(), 2u);
}

TEST(Table, RefusesAnEstimateWhereItsErrorWouldBeLost) {
  Table table = sample();
  EXPECT_THROW(table.add_row({Estimate{1.0, 0.1}, Estimate{1.0, 0.1}}), InvalidArgument);
}

TEST(Table, NamesTheNearestColumn) {
  EXPECT_EQ(testing::complaint([] { (void)sample().column("alhpa"); }),
            "alhpa: no such column; allowed: kind, alpha; did you mean 'alpha'?");
}

TEST(Table, TextIsNotANumberAndRowsEnd) {
  EXPECT_THROW((void)sample().number(0, "kind"), InvalidArgument);
  EXPECT_THROW((void)sample().at(2, "kind"), InvalidArgument);
}

}  // namespace
}  // namespace onset
