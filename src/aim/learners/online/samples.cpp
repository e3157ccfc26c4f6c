#include "aim/learners/online/samples.hpp"

namespace onset::aim {

void pair_scores(const std::vector<double>& x, const std::vector<double>& y, std::size_t width,
                 std::size_t tokens, double trace, double scale, std::vector<double>& out) {
  const std::size_t count = x.size() / (tokens * width);
  out.resize(count * tokens * tokens);
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = 0; b < tokens; ++b) {
        const double* left = x.data() + (s * tokens + a) * width;
        const double* right = y.data() + (s * tokens + b) * width;
        double dot = a == b ? -trace : 0.0;
        for (std::size_t i = 0; i < width; ++i) dot += left[i] * right[i];
        out[(s * tokens + a) * tokens + b] = scale * dot;
      }
    }
  }
}

}  // namespace onset::aim
