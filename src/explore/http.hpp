#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onset::explore {

/// What a browser asked, as it came from the socket.
struct Request {
  std::string method = "GET";
  std::string target = "/";                    ///< path and query, still percent-encoded
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  /// A header, or nothing when it is missing.
  [[nodiscard]] std::optional<std::string> header(const std::string& name) const;
};

/// What it gets.
struct Response {
  int status = 200;
  std::string type;  ///< MIME type of the body
  std::string body;
  std::map<std::string, std::string> headers;  ///< besides Content-Type and Content-Length
};

enum HttpStatus : int {
  http_ok = 200,
  http_created = 201,
  http_bad_request = 400,
  http_forbidden = 403,
  http_not_found = 404,
  http_wrong_method = 405,
  http_conflict = 409,
  http_too_large = 413,
  http_invalid = 422,  ///< well-formed, but a value is not allowed
  http_busy = 429,
  http_internal = 500,
};

/// A target in parts. Our own addresses have neither percent signs nor repeated slashes, so nothing
/// is decoded and nothing collapses.
struct Address {
  std::vector<std::string> path;
  std::map<std::string, std::string> query;
};

[[nodiscard]] Address read_address(std::string_view target);

/// A refusal with one sentence, as JSON: {"error": "..."}; `field` names the parameter at fault
/// where there is one.
[[nodiscard]] Response refusal(int status, std::string_view message, std::string_view field = {});

}  // namespace onset::explore
