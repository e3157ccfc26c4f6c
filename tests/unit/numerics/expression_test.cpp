#include "onset/numerics/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

ExpressionNames two_tokens() {
  return {{"z1", "z2"}, "z"};
}

double at(const std::string& text, double z1, double z2) {
  const double inputs[2] = {z1, z2};
  double out = 0.0;
  Expression(text, two_tokens()).values(1, inputs, &out);
  return out;
}

std::string complaint(const std::string& text) {
  try {
    (void)Expression(text, two_tokens());
  } catch (const SyntaxError& e) {
    return e.what();
  }
  return "";
}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_DOUBLE_EQ(at("1 + 2*3 - 4/8", 0, 0), 6.5);
  EXPECT_DOUBLE_EQ(at("-z1^2", 3, 0), -9.0);
  EXPECT_DOUBLE_EQ(at("2^3^2", 0, 0), 512.0);
  EXPECT_DOUBLE_EQ(at("2^-1", 0, 0), 0.5);
  EXPECT_DOUBLE_EQ(at("-(z1 - z2)*-2", 5, 3), 4.0);
  EXPECT_DOUBLE_EQ(at("8/4/2", 0, 0), 1.0);
}

TEST(Expression, ANumberMayStandBeforeANameWithoutAStar) {
  EXPECT_DOUBLE_EQ(at("2 z1 + 3(z2 + 1)", 5, 1), 16.0);
  EXPECT_DOUBLE_EQ(at("4/3 + 2He2(z2)", 0, 2), 4.0 / 3.0 + 6.0);
  EXPECT_NE(complaint("1/2 z1").find("write * here"), std::string::npos);
}

TEST(Expression, KnowsHermitePolynomialsOfBothNormalisations) {
  const double x = 1.3;
  EXPECT_NEAR(at("He4(z1)", x, 0), std::pow(x, 4) - 6 * x * x + 3,
              tolerance::hundreds_of_roundings);
  EXPECT_NEAR(at("h3(z1)", x, 0), (x * x * x - 3 * x) / std::sqrt(6.0),
              tolerance::hundreds_of_roundings);
  EXPECT_DOUBLE_EQ(at("He0(z1)", x, 0), 1.0);
  EXPECT_DOUBLE_EQ(at("He_1(z1)", x, 0), x);
}

TEST(Expression, RunsOverTokens) {
  EXPECT_DOUBLE_EQ(at("sum(z^2) / L", 1, 3), 5.0);
  EXPECT_DOUBLE_EQ(at("mean(z)", 1, 3), 2.0);
  EXPECT_DOUBLE_EQ(at("prod(z)", 2, 3), 6.0);
  EXPECT_DOUBLE_EQ(at("sum(z * sum(z))", 1, 3), 16.0) << "the inner sum has a token of its own";
}

TEST(Expression, ExtremesHaveTwoArgumentsOrMore) {
  EXPECT_DOUBLE_EQ(at("max(z1, 2, z2, -4)", 1, 3), 3.0);
  EXPECT_DOUBLE_EQ(at("min(z1 + z2, min(z2, 5), 2*z1)", 1, 3), 2.0);
}

TEST(Expression, VariablesInsideJumpsAloneHaveNoSlope) {
  using Variables = std::vector<std::size_t>;
  EXPECT_EQ(Expression("sign(z1)*z2", two_tokens()).used_with_slope(), Variables{1});
  EXPECT_EQ(Expression("relu(z1 - 9) + step(z1*z2)", two_tokens()).used_with_slope(), Variables{0});
  EXPECT_EQ(Expression("step(z1)", two_tokens()).used_with_slope(), Variables{});
}

TEST(Expression, DerivativesAgreeWithCentralDifferences) {
  const std::vector<std::string> cases = {"He4(z1)*z2",
                                          "h3(z1 - z2)",
                                          "exp(z1)*sin(z2)",
                                          "tanh(z1*z2)",
                                          "sigmoid(z1)/(1+z2^2)",
                                          "sqrt(2 + z1*z1)",
                                          "erf(z1) + atan(z2)",
                                          "softplus(z1)^2",
                                          "log(3 + z1^2)",
                                          "relu(z1)*z2",
                                          "abs(z1 - z2)",
                                          "max(z1, z2)*min(z1, z2)",
                                          "cosh(z1) - sinh(z2)",
                                          "cos(z1) + tan(z2/4)",
                                          "(2 + z1^2)^z2",
                                          "z1^5",
                                          "3 - z1/z2",
                                          "sign(z1)*z2 + step(z2)*z1",
                                          "prod(z) + sum(z^3)",
                                          "He0(z1)"};
  const double z[2] = {0.7, -0.4};
  for (const std::string& text : cases) {
    const Expression f(text, two_tokens());
    double value = 0.0;
    double slope[2];
    f.gradient(1, z, &value, slope);
    EXPECT_DOUBLE_EQ(value, at(text, z[0], z[1])) << text;
    const double h = 1e-5;
    const double d1 = (at(text, z[0] + h, z[1]) - at(text, z[0] - h, z[1])) / (2 * h);
    const double d2 = (at(text, z[0], z[1] + h) - at(text, z[0], z[1] - h)) / (2 * h);
    EXPECT_NEAR(slope[0], d1, 1e-8 * (1 + std::abs(d1))) << text;
    EXPECT_NEAR(slope[1], d2, 1e-8 * (1 + std::abs(d2))) << text;
  }
}

TEST(Expression, ABatchGivesWhatSinglePointsGive) {
  const Expression f("exp(z1)*He3(z2) - sigmoid(z1*z2)", two_tokens());
  constexpr std::size_t count = 37;
  std::vector<double> inputs(2 * count), out(count), slope(2 * count);
  for (std::size_t i = 0; i < 2 * count; ++i) inputs[i] = std::sin(static_cast<double>(i));
  f.gradient(count, inputs.data(), out.data(), slope.data());
  for (std::size_t i = 0; i < count; ++i) {
    const double z[2] = {inputs[i], inputs[count + i]};
    double value = 0.0;
    double one[2];
    f.gradient(1, z, &value, one);
    EXPECT_EQ(out[i], value);
    EXPECT_EQ(slope[i], one[0]);
    EXPECT_EQ(slope[count + i], one[1]);
  }
}

TEST(Expression, AMistakeShowsItsPlace) {
  EXPECT_EQ(complaint("He2(z1)+"),
            "expected a number, a variable or a function at column 9\n  He2(z1)+\n          ^");
  EXPECT_EQ(complaint("z1\t+q").substr(complaint("z1\t+q").find('\n')), "\n  z1 +q\n      ^");
  EXPECT_NE(complaint("z1 + z3").find("no variable 'z3' at column 6; variables are z1, z2"),
            std::string::npos);
  EXPECT_NE(complaint("sgn(z1)").find("did you mean"), std::string::npos);
  EXPECT_NE(complaint("(z1 + z2").find("expected ')'"), std::string::npos);
  EXPECT_NE(complaint("z1 z2").find("unexpected 'z' at column 4; a product is written *"),
            std::string::npos);
  EXPECT_NE(complaint("z1 = 2").find("unexpected '=' at column 4\n"), std::string::npos);
  EXPECT_NE(complaint("z").find("only inside sum()"), std::string::npos);
  EXPECT_NE(complaint("He99(z1)").find("up to order 64"), std::string::npos);
  EXPECT_NE(complaint("").find("column 1"), std::string::npos);
  EXPECT_NE(complaint("z1**2").find("written ^"), std::string::npos);
  EXPECT_NE(complaint("exp").find("expected '('"), std::string::npos);
  EXPECT_NE(complaint("He3+z1").find("expected '(' after the function He3"), std::string::npos);
  EXPECT_NE(complaint("max(z1)").find("expected ',' between the arguments of max, which are two"),
            std::string::npos);
  EXPECT_NE(complaint(std::string(1000, '(')).find("nested too deeply"), std::string::npos);
}

TEST(Expression, OfALongTextOnlyWhatIsNearAMistakeIsShown) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "z1+";
  const std::string message = complaint(text + "\xc3\xa9 " + text);
  EXPECT_LT(message.size(), 300U);
  EXPECT_NE(message.find("at column 3001\n  .. z1+z1+"), std::string::npos) << message;
  EXPECT_NE(message.find("+z1+ ..\n"), std::string::npos) << message;
  // The mark stands below the letter.
  const std::size_t line = message.find("\n  ..") + 1;
  const std::size_t mark = message.rfind('\n') + 1;
  EXPECT_EQ(message.find("\xc3\xa9", line) - line, message.find('^') - mark);
  EXPECT_LT(complaint(std::string(5000, 'x')).size(), 400U);
  EXPECT_LT(complaint(std::string(5000, 'x') + "(z1)").size(), 600U);
}

TEST(Expression, OpensSumsThroughConstantFactors) {
  const Expression f("-(2*(z1 - He2(z2))/4) + 3", two_tokens());
  const auto terms = f.terms();
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_DOUBLE_EQ(terms[0].factor, -0.5);
  EXPECT_DOUBLE_EQ(terms[1].factor, 0.5);
  EXPECT_EQ(terms[1].part.used(), std::vector<std::size_t>{1});
  const double z[2] = {0.3, 0.9};
  double total = 0.0;
  for (const auto& term : terms) {
    double value = 0.0;
    term.part.values(1, z, &value);
    total += term.factor * value;
  }
  EXPECT_NEAR(total, at("-(2*(z1 - He2(z2))/4) + 3", z[0], z[1]), tolerance::few_roundings);
}

/// What is left of a text, at a point.
double core_at(const std::string& text, double z1, double z2) {
  const double z[2] = {z1, z2};
  double value = 0.0;
  Expression(text, two_tokens()).up_to_injections().values(1, z, &value);
  return value;
}

TEST(Expression, OuterFunctionsThatTakeNoValueTwiceAreTakenAway) {
  const double z1 = 0.3;
  const double z2 = -1.7;
  for (const char* text :
       {"tanh(z1*z2)", "-2*sigmoid(3 - z1*z2) + 1", "exp(z1*z2/4)", "2^(z1*z2)", "(z1*z2)^3",
        "(z1*z2)^(-1)", "5/erf(atan(z1*z2))", "log(softplus(z1*z2))", "sinh(sqrt(exp(z1*z2)))"}) {
    EXPECT_EQ(core_at(text, z1, z2), z1 * z2) << text;
  }
  // Others stay: they take values twice, or are functions of several parts.
  for (const char* text : {"sin(z1)", "cosh(z1)", "abs(z1)", "z1^2", "z1^(-2)", "z1^0", "relu(z1)",
                           "z1 + tanh(z2)", "z1^z2", "1^z1", "min(z1, 2)"}) {
    EXPECT_EQ(core_at(text, z1, z2), at(text, z1, z2)) << text;
  }
  EXPECT_EQ(core_at("tanh(z1^2)", z1, z2), z1 * z1);
  // Odd functions inside an even one; others stay.
  EXPECT_EQ(core_at("1-tanh(3*z1)^2", z1, z2), z1 * z1);
  EXPECT_EQ(core_at("abs(-erf(z1^3))", z1, z2), z1);
  EXPECT_EQ(core_at("cosh(sinh(z1)/2)", z1, z2), std::cosh(z1));
  for (const char* text : {"sigmoid(z1)^2", "abs(z1-1)", "(1/z1+1)^2", "tanh(z1+z2+1)^0"}) {
    EXPECT_EQ(core_at(text, z1, z2), at(text, z1, z2)) << text;
  }
}

TEST(Expression, WithoutVariablesThereAreNumbersAlone) {
  const ExpressionNames none;
  double out = 0.0;
  Expression("2*pi/pi", none).values(1, nullptr, &out);
  EXPECT_EQ(out, 2.0);
  for (const char* text : {"beta", "2*x", "sum(x)", "mean(x)", "prod(1)"}) {
    EXPECT_THROW(Expression(text, none), SyntaxError) << text;
  }
}

TEST(Expression, QuotientsRootsAndLogarithmsMayBeSingular) {
  const ExpressionNames names{{"x", "y"}, ""};
  for (const char* text : {"x/y", "1/(1+x^2)", "sqrt(x^2+y^2)", "log(x)", "x^0.5", "x^-1", "x^y"}) {
    EXPECT_TRUE(Expression(text, names).may_be_singular()) << text;
  }
  for (const char* text : {"x/2", "x^3*y", "exp(x)", "abs(x)", "tanh(x)", "x*sqrt(2)"}) {
    EXPECT_FALSE(Expression(text, names).may_be_singular()) << text;
  }
}

TEST(Expression, KnowsThePolynomialsAmongThem) {
  EXPECT_EQ(Expression("He4(z1)*z2^3 + 1", two_tokens()).degree(), 7);
  EXPECT_EQ(Expression("3", two_tokens()).degree(), 0);
  EXPECT_FALSE(Expression("exp(z1)", two_tokens()).degree());
  EXPECT_FALSE(Expression("1/z1", two_tokens()).degree());
  EXPECT_FALSE(Expression("z1 + He0(exp(z2))", two_tokens()).degree());
}

TEST(Expression, ADegreeThatNoWholeNumberHoldsIsNone) {
  std::string nested = "z1";
  for (int k = 0; k < 8; ++k) nested = "He64(" + nested + ")";  // 64^8 is 2^48
  EXPECT_FALSE(Expression(nested, two_tokens()).degree());
  EXPECT_FALSE(Expression("He0(z1)^(1e308*10)", two_tokens()).degree());
}

std::string repeated(const std::string& first, const std::string& next, int times) {
  std::string text = first;
  for (int k = 0; k < times; ++k) text += next;
  return text;
}

TEST(Expression, ALongTextIsReadWithoutDeepRecursion) {
  constexpr int many = 40'000;
  EXPECT_EQ(Expression(repeated("z1", "*z2", many), two_tokens()).degree(), many + 1);
  const auto terms = Expression(repeated("z1", "*2/2", many / 2), two_tokens()).terms();
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].factor, 1.0);
  EXPECT_EQ(Expression(repeated("z1", "-sum(z)", many / 4), two_tokens()).terms().size(),
            1u + 2u * (many / 4));
}

TEST(Expression, ATextOfTooManyPartsIsRefused) {
  EXPECT_NE(complaint(repeated("z1", "*z2", 200'000)).find("too large"), std::string::npos);
  EXPECT_NE(complaint(repeated("1", "+1", 200'000)).find("too large"), std::string::npos);
}

TEST(Expression, DerivativeAlongALineIsThatOfTheGradient) {
  // Sums of products of a few numbers near 1: rounding alone.
  constexpr double rounding = 1e-13;
  const std::vector<std::string> texts = {"3",
                                          "z1",
                                          "z1*z2^3 - z1/z2",
                                          "exp(-z1^2)*tanh(z2)",
                                          "max(z1, z2)*abs(z1)",
                                          "He3(z1)",
                                          "sigmoid(z1+z2)^2",
                                          "sign(z1)*z2",
                                          "relu(z1 - z2) + 2"};
  const std::vector<double> points = {0.3, -1.2, 0.9, 1.7, 0.4, -0.6};  // three, z1 first
  const double direction[2] = {0.8, -0.6};
  for (const std::string& text : texts) {
    const Expression f(text, two_tokens());
    std::vector<double> value(3), slope(3), plain(3), gradient(6);
    f.along(3, points.data(), direction, value.data(), slope.data());
    f.gradient(3, points.data(), plain.data(), gradient.data());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(value[i], plain[i]) << text;
      EXPECT_NEAR(slope[i], direction[0] * gradient[i] + direction[1] * gradient[3 + i], rounding)
          << text;
    }
  }
}

TEST(Expression, SwitchesAreTheFactorsOfProducts) {
  const ExpressionNames names{{"x", "y"}, ""};
  const auto switches = [&](const char* text) { return Expression(text, names).switches(); };
  EXPECT_EQ(switches("sign(x*y)"), 2U);
  EXPECT_EQ(switches("sign(x/y)*abs(-2*x)"), 2U);  // x is the same switch twice
  EXPECT_EQ(switches("relu(x^3*(y-1))+sign(x^2)"), 2U);
  EXPECT_EQ(switches("max(x*y, y)"), 1U);
  EXPECT_EQ(switches("sign(x+y)"), 1U);
  EXPECT_EQ(switches("sign(exp(x))"), 1U);
  const Expression product("sign(x*(y-1))", names);
  const double at[] = {2.0, 0.5};
  double out[2];
  product.switch_values(1, at, out);
  EXPECT_EQ(out[0], 2.0);
  EXPECT_EQ(out[1], -0.5);
  EXPECT_TRUE(product.jumps());
  EXPECT_FALSE(Expression("abs(x*y)", names).jumps());
}

}  // namespace
}  // namespace onset::numerics
