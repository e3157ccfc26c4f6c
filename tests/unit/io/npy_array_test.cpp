#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"

namespace onset::io {
namespace {

class NpyArray : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  Array round_trip(const Array& array) const {
    write(to_npy(array));
    return read_npy(path_);
  }

  std::string complaint() const {
    try {
      (void)read_npy(path_);
    } catch (const IoError& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path path_;
};

/// A version 1 file as NumPy writes it.
std::string version_one(const std::string& header, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

template <class T>
std::string bytes(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

TEST_F(NpyArray, EveryTypeComesBackAsItWas) {
  const Array reals{{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 1e-300}};
  EXPECT_EQ(round_trip(reals).values, reals.values);
  EXPECT_EQ(round_trip(reals).shape, reals.shape);
  const Array signs{{1, 2, 2}, std::vector<std::int8_t>{1, -1, -1, 1}};
  EXPECT_EQ(round_trip(signs).values, signs.values);
  EXPECT_EQ(round_trip(signs).shape, signs.shape);
  const Array whole{{1}, std::vector<std::int64_t>{std::int64_t{1} << 60}};
  EXPECT_EQ(round_trip(whole).values, whole.values);
  EXPECT_EQ(round_trip(Array{{0, 4}, std::vector<double>{}}).shape,
            (std::vector<std::size_t>{0, 4}));
  EXPECT_EQ(round_trip(Array{{}, std::vector<double>{7}}).size(), 1U);
}

TEST_F(NpyArray, SinglePrecisionIsWidenedAndFortranOrderIsTurned) {
  write(version_one("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                    bytes<float>({1, 4, 2, 5, 3, 6})));
  const Array array = read_npy(path_);
  EXPECT_EQ(std::get<std::vector<double>>(array.values), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyArray, WhatIsWrongWithAFileIsSaid) {
  EXPECT_NE(complaint().find("cannot be opened"), std::string::npos);
  write("hello");
  EXPECT_NE(complaint().find("not an NPY file"), std::string::npos);
  write(version_one("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", ""));
  EXPECT_NE(complaint().find("'<c16'; allowed: float64"), std::string::npos);
  write(version_one("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", ""));
  EXPECT_NE(complaint().find("records"), std::string::npos);
  write(
      version_one("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", bytes<double>({1})));
  EXPECT_NE(complaint().find("cut short"), std::string::npos);
  write(version_one("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
                    bytes<double>({1, 2})));
  EXPECT_NE(complaint().find("more bytes"), std::string::npos);
  write(version_one(
      "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 9999999999), }", ""));
  EXPECT_NE(complaint().find("no memory"), std::string::npos);
}

TEST_F(NpyArray, TheEntriesOfAHeaderMayStandInAnyOrderWithAnyBlanks) {
  write(version_one("{ \"shape\":( 2 , ) ,'fortran_order' :False,\n 'descr': \"<f8\" } \n",
                    bytes<double>({1, 2})));
  EXPECT_EQ(std::get<std::vector<double>>(read_npy(path_).values), (std::vector<double>{1, 2}));
  EXPECT_EQ(read_npy_shape(path_), std::vector<std::size_t>{2});
}

TEST_F(NpyArray, AHeaderWithAFieldOfManyCharactersIsRefusedAndNotRepeated) {
  const std::string many(50'000, 'x');
  for (const std::string& header :
       {"{'descr': '" + many + "', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', '" + many + "': False, 'shape': (1,), }",
        "{'descr': [('" + many +
            "', '<f8')], 'fortran_order': False, "
            "'shape': (1,), }",
        std::string(50'000, '{'), std::string(50'000, '[')}) {
    write(version_one(header, ""));
    EXPECT_NE(complaint(), "none");
    EXPECT_LT(complaint().size(), path_.string().size() + 300);
  }
}

TEST_F(NpyArray, WhatIsNoHeaderIsSaid) {
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8\\", "{'descr': [('a', '<f8')"}) {
    write(version_one(header, bytes<double>({1})));
    EXPECT_NE(complaint().find("header that cannot be read"), std::string::npos) << header;
  }
  write(
      version_one("{'descr': '<f8', 'fortran_order': False, 'shape': "
                  "(99999999999999999999999999,), }",
                  ""));
  EXPECT_NE(complaint().find("no memory"), std::string::npos) << complaint();
}

}  // namespace
}  // namespace onset::io
