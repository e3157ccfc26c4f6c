#include "ssi/model/parity.hpp"

#include <cmath>

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

}  // namespace onset::ssi
