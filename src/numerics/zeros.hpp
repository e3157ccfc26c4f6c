#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "onset/core/context.hpp"

namespace onset::numerics {

/// Makes `out` hold `count` zeros, laid down in pieces with a look at the stop token before each: a
/// new array of some gigabytes takes seconds to clear, since the machine hands it over page by
/// page. Throws Interrupted.
template <class Number>
void lay_zeros(std::vector<Number>& out, std::size_t count, const Context& context) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  out.clear();
  out.reserve(count);
  do {
    context.check();
    out.resize(std::min(count, out.size() + piece));
  } while (out.size() < count);
}

/// body(0), .., body(count-1) in this order, with a look at the stop token every few thousand.
/// Throws Interrupted.
template <class Body>
void for_each_until_stopped(std::size_t count, const Context& context, const Body& body) {
  constexpr std::size_t together = 4096;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % together == 0) context.check();
    body(i);
  }
}

}  // namespace onset::numerics
