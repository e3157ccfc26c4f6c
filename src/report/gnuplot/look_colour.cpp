#include "report/gnuplot/look_colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/gnuplot/style.hpp"

namespace onset::report {
namespace {

/// The yellow end of the scale would be lost on white paper.
constexpr double lightest = 0.85;

int channel(std::string_view colour, std::size_t index) {
  return std::stoi(std::string(colour.substr(1 + 2 * index, 2)), nullptr, 16);
}

}  // namespace

std::string look_colour(const Look& look) {
  if (!look.shade) {
    return std::string(style::colours.at(static_cast<std::size_t>(look.colour)));
  }
  const double place =
      std::clamp(*look.shade, 0.0, 1.0) * lightest * static_cast<double>(style::shades.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, style::shades.size() - 1);
  const double part = place - static_cast<double>(below);
  const auto mixed = [&](std::size_t index) {
    const double a = channel(style::shades.at(below), index);
    const double b = channel(style::shades.at(above), index);
    return static_cast<int>(std::lround(a + part * (b - a)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

}  // namespace onset::report
