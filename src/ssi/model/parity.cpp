#include "ssi/model/parity.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "numerics/random/stream.hpp"

namespace onset::ssi {

namespace {

/// Number of points at which both questions are asked.
constexpr std::size_t points_asked = 64;

std::vector<double> some_fields(const Link& link, std::string_view purpose) {
  std::vector<double> z(link.tokens() * points_asked);
  numerics::Stream(1, purpose).normal(z);
  return z;
}

std::vector<double> values_at(const Link& link, const std::vector<double>& z) {
  std::vector<double> out(link.outputs() * points_asked);
  link.values(points_asked, z.data(), out.data());
  return out;
}

}  // namespace

bool is_even(const Link& link) {
  std::vector<double> z = some_fields(link, "ssi parity");
  const auto plus = values_at(link, z);
  for (double& x : z) x = -x;
  const auto minus = values_at(link, z);
  for (std::size_t i = 0; i < plus.size(); ++i) {
    if (!(std::abs(plus[i] - minus[i]) <= 1e-13 * (1.0 + std::abs(plus[i])))) return false;
  }
  return true;
}

bool is_flat(const Link& link) {
  const auto z = some_fields(link, "ssi flatness");
  const auto values = values_at(link, z);
  const std::vector<double> weight(values.size(), 1.0);
  std::vector<double> slopes(z.size());
  link.pullback(points_asked, z.data(), values.data(), weight.data(), slopes.data());
  return std::all_of(slopes.begin(), slopes.end(), [](double x) { return x == 0.0; });
}

bool treats_tokens_alike(const Link& link) {
  const std::size_t tokens = link.tokens();
  std::vector<double> z(tokens);
  for (std::size_t i = 0; i < tokens; ++i) z[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
  double before = 0.0;
  link.values(1, z.data(), &before);
  for (std::size_t i = 1; i < tokens; ++i) {
    std::swap(z[0], z[i]);
    double after = 0.0;
    link.values(1, z.data(), &after);
    if (std::abs(after - before) > 1e-12 * (1.0 + std::abs(before))) return false;
  }
  return true;
}

}  // namespace onset::ssi
