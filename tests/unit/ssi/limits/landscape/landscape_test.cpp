#include "onset/ssi/limits/landscape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "onset/core/error.hpp"
#include "ssi/limits/landscape/sampled_landscape.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// The quadrature of the test is good to nine digits.
constexpr double eighth_digit = 1e-8;
/// At a kink the rules are of second order, which leaves seven digits.
constexpr double of_a_kinked_student = 1e-7;
/// Nine digits are what the rules are made for, and what counts as lying on the rim.
constexpr double ninth_digit = 1e-9;

using testing::mixture;

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

/// E|Y - F|^2/2 by a plain product rule in the four fields: an integration that shares nothing with
/// the Hermite series.
double plain_risk(double a, double omega, double e, double m) {
  const double step = 0.28;
  const int half = 22;
  const double alpha = sigmoid(2.0 * a * a);
  const double q = std::sqrt(1.0 - m * m);
  std::vector<double> x;
  std::vector<double> w;
  double total = 0.0;
  for (int k = -half; k <= half; ++k) {
    x.push_back(k * step);
    w.push_back(std::exp(-0.5 * x.back() * x.back()));
    total += w.back();
  }
  double risk = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double difference = x[i] - x[j];
      const double y1 = (1.0 - omega) * sigmoid(x[i] * difference) + omega * alpha;
      const double y2 = (1.0 - omega) * sigmoid(-x[j] * difference) + omega * alpha;
      double inner = 0.0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        for (std::size_t l = 0; l < x.size(); ++l) {
          const double z1 = m * x[i] + q * x[k] + e;
          const double z2 = m * x[j] + q * x[l] - e;
          const double r1 = sigmoid(z1 * (z1 - z2)) - y1;
          const double r2 = sigmoid(z2 * (z2 - z1)) - y2;
          inner += w[k] * w[l] * (r1 * r1 + r2 * r2);
        }
      }
      risk += w[i] * w[j] * inner;
    }
  }
  return risk / std::pow(total, 4);
}

TEST(SsiRisk, AgreesWithAnIndependentQuadratureToTheEighthDigit) {
  const auto landscape = population_risk(mixture(1.0, 0.67), 1, {});
  const double plain = plain_risk(1.0, 0.67, 0.5, 0.6);
  EXPECT_NEAR(landscape->at(0.5, 0.6).risk.value, plain, eighth_digit);
  EXPECT_LT(landscape->at(0.5, 0.6).risk.error, 1e-8);
}

TEST(SsiRisk, SlopesAreItsDerivatives) {
  const auto landscape = population_risk(mixture(1.0, 0.6), 1, {});
  const double h = 1e-5;
  const RiskPoint at = landscape->at(0.3, -0.5);
  const double slope_e =
      (landscape->at(0.3 + h, -0.5).risk.value - landscape->at(0.3 - h, -0.5).risk.value) / (2 * h);
  const double slope_m =
      (landscape->at(0.3, -0.5 + h).risk.value - landscape->at(0.3, -0.5 - h).risk.value) / (2 * h);
  EXPECT_NEAR(at.slope_e.value, slope_e, tolerance::difference_quotient);
  EXPECT_NEAR(at.slope_m.value, slope_m, tolerance::difference_quotient);
}

TEST(SsiRisk, SampledAgreesWithSeries) {
  // Twice the half-squared loss is the squared one; the unsquared norm is sampled.
  const auto half = population_risk(mixture(1.0, 0.6), 1, {});
  const auto full = population_risk(mixture(1.0, 0.6, SampleLoss::squared), 1, {});
  EXPECT_NEAR(full->at(0.4, 0.2).risk.value, 2 * half->at(0.4, 0.2).risk.value,
              tolerance::thousands_of_roundings);
  const auto norm = population_risk(mixture(1.0, 0.6, SampleLoss::frobenius), 1, {});
  const RiskPoint at = norm->at(0.4, 0.2);
  EXPECT_GT(at.risk.error, 0.0);
  EXPECT_LT(at.risk.value * at.risk.value, 2 * half->at(0.4, 0.2).risk.value) << "Jensen";
  EXPECT_FALSE(norm->smooth());
}

TEST(SsiRisk, OfATiedStudentHasAClosedForm) {
  SequenceModel model;
  model.target = read_target("H2sum", 8);
  model.student = make_student("tied", {.tokens = 8});
  model.loss = SampleLoss::squared;
  const auto landscape = population_risk(model, 1, {});
  const double c2 = 0.5 * std::numbers::inv_sqrtpi;
  for (const double m : {0.0, 0.5, 1.0}) {
    // E g^2 = 8, E relu^2 = 1/2, X = c2 m^2.
    EXPECT_NEAR(landscape->at(0.0, m).risk.value, 8.5 - 2 * c2 * m * m, of_a_kinked_student);
    EXPECT_NEAR(landscape->at(0.0, m).slope_m.value, -4 * c2 * m, of_a_kinked_student);
  }
  const auto minima = local_minima(*landscape, false, {}).list;
  ASSERT_EQ(minima.size(), 2u);
  EXPECT_EQ(minima[0].type, "semantic");
  EXPECT_DOUBLE_EQ(minima[0].m.value, 1.0);
}

SequenceModel twins(const std::string& text) {
  SequenceModel model;
  model.target = expression_link(text, 2);
  model.student.link = model.target;
  return model;
}

TEST(SsiRisk, KinkedStudentsOfOneTokenAreExactInside) {
  // E|z*||z| = (2/pi)(sqrt(1 - m^2) + m asin m).
  const auto landscape = population_risk(twins("abs(z1)"), 1, {});
  for (const double m : {-0.8, 0.0, 0.5, 0.9}) {
    const RiskPoint at = landscape->at(0.0, m);
    const double exact = 1.0 - 2.0 / std::numbers::pi * (std::sqrt(1.0 - m * m) + m * std::asin(m));
    EXPECT_NEAR(at.risk.value, exact, ninth_digit) << m;
    EXPECT_LT(at.risk.error, 1e-7) << m;
    EXPECT_NEAR(at.slope_m.value, -2.0 / std::numbers::pi * std::asin(m), of_a_kinked_student) << m;
  }
  const RiskPoint rim = landscape->at(0.0, 1.0);
  EXPECT_LE(std::abs(rim.risk.value), rim.risk.error);
  EXPECT_LT(rim.risk.error, 1e-3);
  EXPECT_EQ(rim.slope_e.error, 0.0);
}

TEST(SsiRisk, AShiftMovesTheKink) {
  SequenceModel model = twins("abs(z1)");
  model.positional = true;
  const auto landscape = population_risk(model, 1, {});
  // At m = 0: E|z*|^2/2 + (1 + e^2)/2 - E|z*| E|z + e|.
  const double e = 0.7;
  const double folded = std::sqrt(2.0 / std::numbers::pi) * std::exp(-0.5 * e * e) +
                        e * std::erf(e / std::numbers::sqrt2);
  const RiskPoint at = landscape->at(e, 0.0);
  EXPECT_NEAR(at.risk.value, 0.5 + 0.5 * (1.0 + e * e) - std::sqrt(2.0 / std::numbers::pi) * folded,
              tolerance::magnified_roundings);
  EXPECT_LT(at.risk.error, 1e-8);
}

/// Encodings c times as long see c times the overlap.
TEST(SsiRisk, LongerEncodingsSeeMoreOfTheirOverlap) {
  SequenceModel model;
  model.target = read_target("softmax", 2);
  model.student = make_student("attention", {.tokens = 2, .outputs = 4});
  model.positional = true;
  const auto usual = population_risk(model, 1, {});
  model.encodings = reduced_encodings({{0.0, 2.0}, {0.0, -2.0}});
  const auto longer = population_risk(model, 1, {});
  const RiskPoint here = longer->at(0.3, 0.5);
  const RiskPoint there = usual->at(0.6, 0.5);
  EXPECT_NEAR(here.risk.value, there.risk.value, ninth_digit);
  EXPECT_NEAR(here.slope_e.value, 2.0 * there.slope_e.value, ninth_digit);
}

/// A component along the teacher that is c times the one across it moves e by c m. [ssi 41]
TEST(SsiRisk, EncodingsAlongTheTeacherMoveFieldsByM) {
  SequenceModel model;
  model.target = read_target("softmax", 2);
  model.student = make_student("attention", {.tokens = 2, .outputs = 4});
  model.positional = true;
  const auto usual = population_risk(model, 1, {});
  constexpr double c = 0.5;
  model.encodings = reduced_encodings({{c, 1.0}, {-c, -1.0}});
  EXPECT_FALSE(has_series(model));
  const auto tilted = population_risk(model, 1, {});
  const double m = 0.6;
  const RiskPoint here = tilted->at(0.2, m);
  const RiskPoint there = usual->at(0.2 + c * m, m);
  constexpr double errors = 7.0;  // of 15 degrees of freedom: one false alarm in 3e5
  EXPECT_NEAR(here.risk.value, there.risk.value, errors * here.risk.error);
  EXPECT_NEAR(here.slope_e.value, there.slope_e.value, errors * here.slope_e.error);
  EXPECT_NEAR(here.slope_m.value, there.slope_m.value + c * there.slope_e.value,
              errors * here.slope_m.error);
}

/// Minima of a sampled risk against those of the series of the same model.
TEST(LongSsiRisk, MinimaOfASampledRiskAreThoseOfItsSeries) {
  const SequenceModel model = testing::mixture(1.0, 0.67);  // semantic and positional minima
  const auto exact = local_minima(*population_risk(model, 1, {}), true, {});
  const auto sampled = sampled_landscape(model, 1, {});
  const auto found = local_minima(*interpolated_risk(*sampled, true, {}), true, {});
  ASSERT_EQ(found.list.size(), exact.list.size());
  // Two minima of one risk, at m and -m, may come in either order.
  for (const Minimum& minimum : found.list) {
    const auto near = [&](const Minimum& other) {
      constexpr double errors = 7.0;     // of 15 degrees of freedom: one false alarm in 3e5
      constexpr double rounding = 1e-4;  // the square of the error of the place, in the risk
      const auto same = [&](const Estimate& a, const Estimate& b) {
        return std::abs(a.value - b.value) <= errors * a.error + b.error + rounding;
      };
      return minimum.type == other.type && same(minimum.e, other.e) && same(minimum.m, other.m) &&
             same(minimum.risk, other.risk);
    };
    EXPECT_TRUE(std::any_of(exact.list.begin(), exact.list.end(), near))
        << minimum.type << " " << minimum.e.value << " " << minimum.m.value;
  }
}

/// Five tokens: a student that is the target's twin has its minima at m = 1 and m = -1.
TEST(LongSsiRisk, MinimaAreFoundForFiveTokens) {
  SequenceModel model;
  model.target = read_target("softmax", 5);
  model.student = make_student("attention", {.tokens = 5, .outputs = 25});
  model.positional = true;
  const auto sampled = population_risk(model, 1, {});
  EXPECT_FALSE(sampled->smooth());
  const auto found = local_minima(*interpolated_risk(*sampled, true, {}), true, {});
  ASSERT_EQ(found.list.size(), 2u);
  for (const Minimum& minimum : found.list) {
    EXPECT_EQ(minimum.type, "semantic");
    EXPECT_LE(std::abs(minimum.e.value), 2.0 * minimum.e.error);
    EXPECT_NEAR(std::abs(minimum.m.value), 1.0, 2.0 * minimum.m.error);
    EXPECT_LT(minimum.e.error, 0.02);
    constexpr double of_the_place = 1e-4;  // the square of its error, times a curvature of order 1
    EXPECT_NEAR(minimum.risk.value, 0.0, minimum.risk.error + of_the_place);
  }
}

TEST(SsiRisk, KinksThatCoupleTokensEndInSeconds) {
  const auto landscape = population_risk(twins("He3(z1)*relu(z2)"), 1, {});
  for (const double m : {-0.7, 0.5, 0.8}) {
    const double k =
        (std::sqrt(1.0 - m * m) + m * (std::numbers::pi - std::acos(m))) / (2.0 * std::numbers::pi);
    EXPECT_NEAR(landscape->at(0.0, m).risk.value, 3.0 - 6.0 * m * m * m * k, ninth_digit) << m;
  }
}

TEST(SsiRisk, AStopIsHeeded) {
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  EXPECT_THROW((void)population_risk(twins("He3(z1)*relu(z2)"), 1, context), Interrupted);
  EXPECT_THROW((void)population_risk(twins("abs(z1)"), 1, context), Interrupted);
}

TEST(SsiRisk, UntiedStudentsAreRefused) {
  SequenceModel model;
  model.target = read_target("H2sum", 2);
  model.student = make_student("untied", {.tokens = 2});
  EXPECT_THROW((void)population_risk(model, 1, {}), Refused);
}

TEST(SsiRisk, OnlyIsolatedMinimaAreCounted) {
  const auto minima = [](const SequenceModel& model) {
    return local_minima(*population_risk(model, 1, {}), model.positional, {});
  };
  // omega = 1: nothing depends on m, and at this a the least e lies inside.
  const auto valley = minima(mixture(0.5, 1.0));
  EXPECT_TRUE(valley.valley);
  EXPECT_TRUE(valley.list.empty());
  // He_4 against a student of degree 2: the risk is constant.
  SequenceModel flat;
  flat.target = read_target("He4(z1)", 2);
  flat.student = make_student("tied", {.tokens = 2, .activation = "He2"});
  EXPECT_TRUE(minima(flat).list.empty());
  // R = R_0 + c m^4 along m: a minimum without a curvature.
  SequenceModel quartic;
  quartic.target = read_target("He4sum", 2);
  quartic.student.link = attention_link({2, Reduction::trace, {}, {}});
  quartic.positional = true;
  const auto start = minima(quartic);
  ASSERT_EQ(start.list.size(), 1u);
  EXPECT_EQ(start.list[0].type, "uninformed");
}

/// The place of a mixed minimum is where the slope along the rim vanishes.
TEST(SsiRisk, AMixedMinimumHasAnErrorOfItsPlace) {
  SequenceModel model;
  model.target = read_target("sign(z1)", 2);
  model.student.link = attention_link({2, Reduction::trace, {}, {}});
  model.positional = true;
  const auto minima = local_minima(*population_risk(model, 1, {}), true, {}).list;
  ASSERT_EQ(minima.size(), 2u);
  EXPECT_EQ(minima[0].type, "mixed");
  EXPECT_GT(minima[0].e.error, 0.0);
  EXPECT_LT(minima[0].e.error, 1e-4);
  EXPECT_NEAR(std::hypot(minima[0].e.value, minima[0].m.value), 1.0, ninth_digit);
}

/// Four tokens, so that it is sampled. R = const - m: the target's z2 is all that the student
/// shares with it.
TEST(SsiRisk, SampledSlopesHoldAtTheRim) {
  SequenceModel model;
  model.target = read_target("He2(z1) + z2 + 0*z4", 4);
  model.student.link = expression_link("0.3*z1*z3 + z2 + 0*z4", 4);
  const auto landscape = population_risk(model, 1, {});
  ASSERT_FALSE(landscape->smooth());
  for (const double m : {-1.0, -0.999999, 0.5, 1.0}) {
    const Estimate slope = landscape->at(0.0, m).slope_m;
    EXPECT_NEAR(slope.value, -1.0, 6.0 * slope.error + 1e-9) << m;
    EXPECT_LT(slope.error, 0.1) << m;
  }
}

/// Omega = 0: the fit is perfect at m = 1, where the unsquared loss falls like sqrt(1 - m^2).
TEST(SsiRisk, AtAConeThereIsNoSlope) {
  const auto landscape = population_risk(mixture(1.0, 0.0, SampleLoss::frobenius), 1, {});
  for (const double m : {-1.0, 1.0}) {
    const RiskPoint cone = landscape->at(0.0, m);
    EXPECT_EQ(cone.risk.value, 0.0);
    EXPECT_TRUE(std::isnan(cone.slope_m.value));
    EXPECT_TRUE(std::isnan(cone.slope_e.value));
  }
  // Where the fit is not perfect, the slope at the rim is that just inside.
  const auto mixed = population_risk(mixture(1.0, 0.5, SampleLoss::frobenius), 1, {});
  EXPECT_TRUE(std::isfinite(mixed->at(0.0, 1.0).slope_m.value));
}

}  // namespace
}  // namespace onset::ssi
