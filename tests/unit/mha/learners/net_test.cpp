#include <gtest/gtest.h>

#include <cmath>

#include "mha/learners/net/tuple_certificate.hpp"
#include "mha/learners/polish/head_features.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

/// The tolerance to which the linear program satisfies its constraints.
constexpr double of_the_simplex = 1e-9;

using testing::draw;
using testing::law_of;
using testing::theta_vector;
using testing::use_all;

TEST(MhaTuples, TheTrueTupleIsAcceptedAndAWrongOneRejectedWithAProof) {
  auto drawn = draw(law_of(2, 5, 3, 2.0), 60, 21);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  EXPECT_LT(std::abs(certify_tuple(drawn.sample, thetas, {}).tau), 1e-9);
  thetas[1] *= 0.5;
  const TupleCertificate wrong = certify_tuple(drawn.sample, thetas, {});
  EXPECT_GT(wrong.tau, 0.05);
  // The proof, checked from its definition: |lambda|_1 <= 1, Z^T lambda = 0, y . lambda = tau.
  EXPECT_LE(wrong.multipliers.lpNorm<1>(), 1.0 + 1e-9);
  for (const Vector& theta : thetas) {
    const Matrix z = head_features(drawn.sample, theta).mixed;
    EXPECT_LT((z.transpose() * wrong.multipliers).lpNorm<Eigen::Infinity>(), 1e-9);
  }
  const Matrix y = labels_of(drawn.sample, 0, drawn.sample.size());
  EXPECT_NEAR(y.col(wrong.output).dot(wrong.multipliers), wrong.tau, of_the_simplex);
}

}  // namespace
}  // namespace onset::mha
