#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "explore/http.hpp"

namespace onset::explore {

/// The largest body of a request: a study with thousands of values is far smaller.
inline constexpr std::size_t max_body = std::size_t{1} << 20;
/// The longest target.
inline constexpr std::size_t max_target = 4096;

/// A fresh secret of 192 random bits in hexadecimal, from the system. Throws IoError when the
/// system has no randomness to give.
[[nodiscard]] std::string make_token();

/// Lets a request pass (nothing) or refuses it. The address must begin with the token, which only
/// the person who started the server knows; the Host must be this machine by a loopback name, so
/// that no foreign name that resolves to it reaches us, with any port, as a tunnel has another one;
/// and an Origin, where a browser sends one, must be that of our own page.
[[nodiscard]] std::optional<Response> refuse(const Request& request, const std::string& token);

}  // namespace onset::explore
