#pragma once

#include <vector>

#include "mha/learners/polish/separable_fit.hpp"

namespace onset::mha {

/// Phase 5: where on the hull the heads are.
struct NetSearch {
  std::size_t points = 0;                 ///< the number of points of the net
  std::size_t tuples = 0;                 ///< the number of tuples tried
  std::vector<std::vector<Vector>> best;  ///< the best tuples after a fit in hull coordinates
  std::vector<double> residuals;          ///< their relative residuals, increasing
  std::size_t evaluations = 0;  ///< of the layer, in examples; a single head is a part of one
};

/// Searches a net of geometric radii around the best single head, with every tuple's w by least
/// squares, and moves the best few tuples along the hull to the nearest minimum [mha 18].
[[nodiscard]] NetSearch search_net(const Subset& sample, const Hull& hull, int heads,
                                   const Context& context);

}  // namespace onset::mha
