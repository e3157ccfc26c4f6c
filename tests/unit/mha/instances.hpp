#pragma once

#include "mha/learners/subset.hpp"
#include "mha/model/instance.hpp"

namespace onset::mha::testing {

/// A drawn layer with its examples, all distinct up to symmetry.
struct Drawn {
  Layer truth;
  Examples examples;
  Subset sample;
};

inline Drawn draw(const InstanceLaw& law, std::size_t count, std::uint64_t seed) {
  Drawn out;
  out.truth = draw_layer(law, seed);
  out.examples = draw_examples(law, out.truth, count, seed, "mha examples", {});
  return out;
}

inline void use_all(Drawn& drawn) {
  drawn.sample = {&drawn.examples, distinct_examples(drawn.examples)};
}

inline InstanceLaw law_of(int heads, int dim, int tokens, double scale) {
  InstanceLaw law;
  law.heads = heads;
  law.dim = dim;
  law.tokens = tokens;
  law.scale = scale;
  return law;
}

inline Matrix sum_of_w(const Layer& layer) {
  Matrix sum = Matrix::Zero(layer.dim, layer.dim);
  for (int i = 0; i < layer.heads; ++i) {
    sum += Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return sum;
}

inline Vector theta_vector(const Layer& layer, int head) {
  return Eigen::Map<const Vector>(layer.theta_of(head).data(), layer.dim * layer.dim);
}

}  // namespace onset::mha::testing
