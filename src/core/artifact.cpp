#include "onset/core/artifact.hpp"

#include <functional>
#include <numeric>

namespace onset {

std::size_t Array::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace onset
