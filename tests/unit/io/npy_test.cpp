#include "onset/io/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace onset::io {
namespace {

constexpr std::size_t prefix = 12;  // magic, version, length

std::size_t header_length(const std::string& bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, sizeof length);
  return length;
}

template <class T>
T value_at(const std::string& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + prefix + header_length(bytes) + offset, sizeof value);
  return value;
}

Table mixed() {
  Table table({{"n", "", "", false},
               {"x", "", "", true},
               {"ok", "", "", false},
               {"word", "", "", false},
               {"gap", "", "", false}});
  table.add_row({std::int64_t{7}, Estimate{0.5, 0.25}, true, std::string("\xc3\xa9t"), {}});
  table.add_row({std::int64_t{8}, {}, false, std::string("abc"), std::int64_t{3}});
  return table;
}

TEST(Npy, DescribesOneFieldForEveryColumnAndError) {
  const std::string bytes = to_npy(mixed());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x03\x00", 8));
  EXPECT_EQ((prefix + header_length(bytes)) % 64, 0U);
  const std::string header = bytes.substr(prefix, header_length(bytes));
  EXPECT_EQ(header.substr(0, header.find('}') + 1),
            "{'descr': [('n', '<i8'), ('x', '<f8'), ('x_err', '<f8'), ('ok', '|b1'), ('word', "
            "'<U3'), ('gap', '<f8'), ], 'fortran_order': False, 'shape': (2,), }");
  EXPECT_EQ(header.back(), '\n');
}

TEST(Npy, PacksTheRows) {
  const std::string bytes = to_npy(mixed());
  constexpr std::size_t row = 8 + 8 + 8 + 1 + 3 * 4 + 8;
  EXPECT_EQ(bytes.size(), prefix + header_length(bytes) + 2 * row);
  EXPECT_EQ(value_at<std::int64_t>(bytes, 0), 7);
  EXPECT_EQ(value_at<double>(bytes, 8), 0.5);
  EXPECT_EQ(value_at<double>(bytes, 16), 0.25);
  EXPECT_TRUE(value_at<bool>(bytes, 24));
  EXPECT_EQ(value_at<char32_t>(bytes, 25), U'\u00e9');
  EXPECT_EQ(value_at<char32_t>(bytes, 33), U'\0');
  EXPECT_TRUE(std::isnan(value_at<double>(bytes, 37)));
  EXPECT_TRUE(std::isnan(value_at<double>(bytes, row + 8)));
  EXPECT_EQ(value_at<double>(bytes, row + 37), 3.0);
}

TEST(Npy, NamesOfOthersStayWithinTheirLiteral) {
  const std::string name("a'\\\n\0\x1b", 6);
  const std::string bytes = to_npy(Table({{name, "", "", false}}));
  EXPECT_NE(bytes.find("('a\\'\\\\\\x0a\\x00\\x1b', '<f8')"), std::string::npos) << bytes;
}

TEST(Npy, AnEmptyTableHasFieldsAndNoRows) {
  const std::string bytes = to_npy(Table({{"x", "", "", true}}));
  EXPECT_NE(bytes.find("'shape': (0,)"), std::string::npos);
  EXPECT_EQ(bytes.size(), prefix + header_length(bytes));
}

}  // namespace
}  // namespace onset::io
