#include <gtest/gtest.h>

#include <cmath>

#include "onset/ssi/limits/landscape.hpp"
#include "ssi/limits/phase/phase.hpp"
#include "ssi/limits/phase/universal.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// Errors of replicates have 15 degrees of freedom: this many are a false alarm in 10^6.
constexpr double sure_errors = 7.5;

/// Sampled functions of two tokens beside the series of the same.
TEST(SsiSampledUniversal, AgreesWithTheSeriesOfTwoTokens) {
  const SampledUniversal sampled = sampled_universal(2, 1, {});
  const auto exact = two_token_universal(true, {});
  EXPECT_LT(sampled.misfit, 1e-5);
  const auto scatter = [&](const auto& value_of) {
    double mean = 0.0;
    double square = 0.0;
    for (const auto& one : sampled.replicates) {
      mean += value_of(*one) / 16.0;
      square += value_of(*one) * value_of(*one) / 16.0;
    }
    return std::sqrt(std::max(0.0, square - mean * mean) / 15.0) + 10.0 * sampled.misfit;
  };
  const auto expect_same = [&](const auto& value_of) {
    EXPECT_NEAR(value_of(*sampled.mean), value_of(*exact), sure_errors * scatter(value_of));
  };
  for (const auto& [e, m] :
       {std::pair{0.0, 0.0}, {0.5, 0.3}, {0.6, 0.8}, {1.0, 0.0}, {0.0, 1.0}, {0.0, 0.5}}) {
    expect_same([e = e, m = m](const Universal& x) { return x.cross(e, m).value; });
    expect_same([e = e, m = m](const Universal& x) { return x.cross(e, m).e; });
    expect_same([e = e](const Universal& x) { return x.square(e).value; });
    expect_same([e = e](const Universal& x) { return x.own_attention(true, e).value; });
    expect_same([e = e](const Universal& x) { return x.own_attention(false, e).value; });
  }
}

/// (1 - omega) softmax + omega A of L tokens, for landscapes that know nothing of tables.
class ManyTokenMixture final : public Link {
 public:
  ManyTokenMixture(std::size_t tokens, double a, double omega)
      : tokens_(tokens), a_(a), omega_(omega), softmax_(read_target("softmax", tokens)) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] std::size_t outputs() const override { return tokens_ * tokens_; }
  void values(std::size_t count, const double* z, double* out) const override {
    softmax_->values(count, z, out);
    for (std::size_t i = 0; i < tokens_; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < tokens_; ++j) sum += weight(i, j);
      for (std::size_t j = 0; j < tokens_; ++j) {
        for (std::size_t p = 0; p < count; ++p) {
          double& x = out[(i * tokens_ + j) * count + p];
          x = (1.0 - omega_) * x + omega_ * weight(i, j) / sum;
        }
      }
    }
  }
  void pullback(std::size_t, const double*, const double*, const double*, double*) const override {}

 private:
  [[nodiscard]] double weight(std::size_t i, std::size_t j) const {
    return std::exp((i + j) % 2 == 0 ? a_ * a_ : -a_ * a_);
  }
  std::size_t tokens_;
  double a_;
  double omega_;
  LinkPointer softmax_;
};

TEST(SsiSampledUniversal, TheRiskOfManyTokensIsThatOfTheModel) {
  for (const std::size_t tokens : {3U, 4U}) {
    const PhaseDiagram diagram({}, tokens, 1);
    SequenceModel model;
    model.target = std::make_shared<ManyTokenMixture>(tokens, 1.1, 0.6);
    model.student = make_student(
        "attention", {.tokens = tokens, .outputs = tokens * tokens, .reduction = Reduction::none});
    model.positional = true;
    const auto landscape = population_risk(model, 5, {});
    // The error of the risk hardly depends on the place: it is mostly that of E|softmax|^2.
    const double stated = diagram.point(1.1, 0.6).risk_min.error;
    for (const auto& [e, m] : {std::pair{0.0, 0.0}, {0.3, 0.5}, {0.8, 0.6}, {1.0, 0.0}}) {
      const Estimate expected = landscape->at(e, m).risk;

      EXPECT_NEAR(diagram.risk(1.1, 0.6, e, m).value, expected.value,
                  sure_errors * std::hypot(expected.error, stated));
    }
  }
}

TEST(SsiSampledUniversal, CurvesOfFourTokensHaveErrorsAndPointsChangeThere) {
  const PhaseDiagram diagram({}, 4, 1);
  const PhaseCurves curves = diagram.curves(1.2);
  ASSERT_TRUE(curves.start_switches && curves.global_switches);
  EXPECT_GT(curves.start_switches->error, 0.0);
  EXPECT_LT(curves.start_switches->error, 0.01);
  const double at = curves.start_switches->value;
  EXPECT_EQ(diagram.point(1.2, at - 0.1).start_type, "semantic");
  EXPECT_EQ(diagram.point(1.2, at + 0.1).start_type, "positional");
  EXPECT_EQ(diagram.point(1.2, at).start_type, "unresolved");
  EXPECT_EQ(diagram.point(1.2, at).region, "unresolved");
}

}  // namespace
}  // namespace onset::ssi
