#include "explore/guard.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "onset/core/error.hpp"

namespace onset::explore {
namespace {

/// Takes the same time wherever the first difference is, so that time says nothing about the token.
bool same(std::string_view given, std::string_view wanted) {
  if (given.size() != wanted.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned>(given[i] ^ wanted[i]);
  }
  return difference == 0;
}

bool is_port(std::string_view text) {
  constexpr std::size_t most_digits = 5;
  return !text.empty() && text.size() <= most_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    if (rest.empty() || (rest[0] == ':' && is_port(rest.substr(1)))) return true;
  }
  return false;
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, 24> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw IoError("getrandom", "the system gave no random bytes for the token");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::optional<Response> refuse(const Request& request, const std::string& token) {
  if (request.target.size() > max_target) {
    return refusal(http_bad_request, "the address is too long");
  }
  if (request.body.size() > max_body) {
    return refusal(http_too_large, fmt::format("the body is larger than {} bytes", max_body));
  }
  const std::string host = request.header("host").value_or("");
  if (!is_loopback(host)) {
    return refusal(http_forbidden, "this server answers to localhost and 127.0.0.1 only");
  }
  const std::optional<std::string> origin = request.header("origin");
  if (origin && *origin != "http://" + host) {
    return refusal(http_forbidden, "the request comes from another page");
  }
  if (!same(read_address(request.target).path[0], token)) {
    return refusal(http_forbidden,
                   "the address lacks the token; open the one that onset serve printed");
  }
  return std::nullopt;
}

}  // namespace onset::explore
