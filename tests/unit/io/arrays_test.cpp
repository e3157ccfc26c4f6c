#include "io/arrays.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "onset/io/npy.hpp"
#include "onset/io/run_folder.hpp"
#include "support/complaint.hpp"

namespace onset::io {
namespace {

class Arrays : public ::testing::Test {
 protected:
  [[nodiscard]] static std::filesystem::path file(const Array& array) {
    // A name of its own: tests run beside one another.
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto path = std::filesystem::path(::testing::TempDir()) / ("onset-" + test + ".npy");
    write_file_atomically(path, to_npy(array));
    return path;
  }
};

const Extents cube{{"samples"}, {"tokens", 2}, {"dimension"}};

TEST_F(Arrays, NumbersOfEveryTypeAreReadAsReals) {
  const ArrayOf<double> read =
      read_reals(file({{1, 2, 2}, std::vector<std::int64_t>{1, 2, 3, 4}}), cube);
  EXPECT_EQ(read.shape, (std::vector<std::size_t>{1, 2, 2}));
  EXPECT_EQ(read.values, (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Arrays, AWrongShapeIsToldWithTheOneThatIsNeeded) {
  const auto path = file({{2, 3}, std::vector<double>(6)});
  EXPECT_EQ(testing::complaint([&] { (void)read_reals(path, cube); }),
            path.string() +
                ": has the shape 2 x 3; allowed: samples x 2 tokens x dimension, none "
                "of them 0");
}

TEST_F(Arrays, AnEntryThatIsNotFiniteIsToldWithItsPlace) {
  std::vector<double> values(8, 1.0);
  values[5] = std::numeric_limits<double>::infinity();
  const auto path = file({{2, 2, 2}, values});
  EXPECT_EQ(testing::complaint([&] { (void)read_reals(path, cube); }),
            path.string() + ": [1, 0, 1] is inf; allowed: finite numbers");
}

TEST_F(Arrays, SignsOfEveryTypeAreReadAndNothingElse) {
  EXPECT_EQ(read_signs(file({{1, 2, 1}, std::vector<std::int64_t>{1, -1}}), cube).values,
            (std::vector<std::int8_t>{1, -1}));
  const auto path = file({{1, 2, 1}, std::vector<std::int8_t>{1, 0}});
  EXPECT_EQ(testing::complaint([&] { (void)read_signs(path, cube); }),
            path.string() + ": [0, 1, 0] is 0; allowed: 1 and -1");
}

}  // namespace
}  // namespace onset::io
