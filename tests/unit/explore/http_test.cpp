#include "explore/http.hpp"

#include <gtest/gtest.h>

#include "explore/json.hpp"

namespace onset::explore {
namespace {

TEST(Address, IsSplitIntoPathAndQuery) {
  const Address address = read_address("/secret/api/runs/3?wait=500&seen=a-b&odd");
  EXPECT_EQ(address.path, (std::vector<std::string>{"secret", "api", "runs", "3"}));
  EXPECT_EQ(address.query, (std::map<std::string, std::string>{{"wait", "500"}, {"seen", "a-b"}}));
}

TEST(Address, DecodesAndCollapsesNothing) {
  EXPECT_EQ(read_address("/a//b").path, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(read_address("/a/../%2e").path, (std::vector<std::string>{"a", "..", "%2e"}));
  EXPECT_EQ(read_address("").path, (std::vector<std::string>{""}));
}

TEST(Refusal, IsOneSentenceWithoutControlCharacters) {
  const Response response = refusal(http_invalid, "a\x1b[2Jb", "fie\x01ld");
  EXPECT_EQ(response.status, http_invalid);
  const Json body = Json::parse(response.body);
  EXPECT_EQ(body["error"], "a\\x1b[2Jb");
  EXPECT_EQ(body["field"], "fie\\x01ld");
}

}  // namespace
}  // namespace onset::explore
