#pragma once

#include <cstddef>
#include <vector>

namespace onset::aim {

/// Tokens of some samples and the derivatives of their losses.
struct Samples {
  std::size_t count = 0;
  std::vector<double> tokens;   ///< count T x d
  std::vector<double> teacher;  ///< scores, count x T x T, with the noise of linear labels
  std::vector<double> student;  ///< scores
  std::vector<double> slopes;   ///< derivatives of the loss with respect to them
  double loss = 0.0;
  std::size_t disagreements = 0;  ///< rows whose largest scores differ
};

/// out = x_a . y_b over each sample's tokens, minus the trace on the diagonal, times `scale`. x and
/// y have `width` numbers for a token.
void pair_scores(const std::vector<double>& x, const std::vector<double>& y, std::size_t width,
                 std::size_t tokens, double trace, double scale, std::vector<double>& out);

}  // namespace onset::aim
