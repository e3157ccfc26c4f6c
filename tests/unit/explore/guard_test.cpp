#include "explore/guard.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/explore/toy_explorer.hpp"

namespace onset::explore {
namespace {

int status_of(const Request& request) {
  const auto refused = refuse(request, toy_token);
  return refused ? refused->status : http_ok;
}

TEST(Guard, LetsOurOwnPagePass) {
  EXPECT_EQ(status_of(toy_request("")), http_ok);
  EXPECT_EQ(status_of(toy_request("api/catalog?x=1")), http_ok);
}

TEST(Guard, RefusesAddressesWithoutTheWholeToken) {
  for (const char* path : {"/", "", "/api/catalog", "/0123456789abcde/", "/0123456789abcdef0/",
                           "/0123456789abcdeF/", "//0123456789abcdef/", "/%30123456789abcdef/"}) {
    Request request = toy_request("");
    request.target = path;
    EXPECT_EQ(status_of(request), http_forbidden) << path;
  }
}

TEST(Guard, AnswersToLoopbackNamesWithAnyPortOnly) {
  const auto with_host = [](const std::string& host) {
    Request request = toy_request("");
    request.headers["host"] = host;
    return status_of(request);
  };
  // A tunnel has a port of its own.
  for (const char* host : {"127.0.0.1", "localhost:1", "127.0.0.1:65535", "[::1]:80"}) {
    EXPECT_EQ(with_host(host), http_ok) << host;
  }
  for (const char* host :
       {"", "example.org", "127.0.0.1.example.org", "localhost.example.org:80",
        "127.0.0.1:", "127.0.0.1:80x", "127.0.0.1:123456", "localhost, localhost", "0.0.0.0"}) {
    EXPECT_EQ(with_host(host), http_forbidden) << host;
  }
  Request request = toy_request("");
  request.headers.erase("host");
  EXPECT_EQ(status_of(request), http_forbidden);
}

TEST(Guard, RefusesRequestsFromOtherPages) {
  Request request = toy_request("", "POST");
  request.headers["origin"] = "http://127.0.0.1:8642";
  EXPECT_EQ(status_of(request), http_ok);
  for (const char* origin : {"http://example.org", "null", "https://127.0.0.1:8642",
                             "http://127.0.0.1:1", "http://localhost:8642", ""}) {
    request.headers["origin"] = origin;
    EXPECT_EQ(status_of(request), http_forbidden) << origin;
  }
}

TEST(Guard, RefusesWhatIsTooLarge) {
  Request request = toy_request("", "POST");
  request.body.assign(max_body, ' ');
  EXPECT_EQ(status_of(request), http_ok);
  request.body += ' ';
  EXPECT_EQ(status_of(request), http_too_large);
  request = toy_request(std::string(max_target, 'a'));
  EXPECT_EQ(status_of(request), http_bad_request);
}

TEST(Guard, TokensAreLongAndDifferent) {
  constexpr std::size_t digits = 48;
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 100U);
  for (const std::string& token : tokens) {
    EXPECT_EQ(token.size(), digits);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

}  // namespace
}  // namespace onset::explore
