#include "ssi/model/parity.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "onset/numerics/random.hpp"

namespace onset::ssi {

bool is_even(const Link& link) {
  constexpr std::size_t count = 64;
  std::vector<double> z(link.tokens() * count);
  numerics::Stream(1, "ssi parity").normal(z);
  std::vector<double> plus(link.outputs() * count);
  std::vector<double> minus(plus.size());
  link.values(count, z.data(), plus.data());
  for (double& x : z) x = -x;
  link.values(count, z.data(), minus.data());
  for (std::size_t i = 0; i < plus.size(); ++i) {
    if (!(std::abs(plus[i] - minus[i]) <= 1e-13 * (1.0 + std::abs(plus[i])))) return false;
  }
  return true;
}

bool is_flat(const Link& link) {
  constexpr std::size_t count = 64;
  std::vector<double> z(link.tokens() * count);
  numerics::Stream(1, "ssi flatness").normal(z);
  std::vector<double> values(link.outputs() * count);
  std::vector<double> slopes(z.size());
  link.values(count, z.data(), values.data());
  const std::vector<double> weight(values.size(), 1.0);
  link.pullback(count, z.data(), values.data(), weight.data(), slopes.data());
  return std::all_of(slopes.begin(), slopes.end(), [](double x) { return x == 0.0; });
}

}  // namespace onset::ssi
