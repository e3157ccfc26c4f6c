#include "onset/testing/check_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "onset/core/error.hpp"
#include "onset/smi/model/link.hpp"
#include "smi/model/links/mixture.hpp"
#include "smi/model/links/normal_tail.hpp"
#include "smi/model/links/one_field_links.hpp"
#include "smi/model/links/sign_links.hpp"

namespace onset::testing {
namespace {

using smi::FieldShape;
using In = std::span<const double>;
using Out = std::span<double>;

// A good link whose posterior is changed on its way out.
template <class Good>
struct Spoiled {
  Good good;
  std::function<void(Out mean, Out second, double& log_z)> spoil;

  [[nodiscard]] FieldShape shape() const { return good.shape(); }
  [[nodiscard]] int label_size() const { return good.label_size(); }
  [[nodiscard]] double constraints() const { return good.constraints(); }
  void label(In z, Out y) const { good.label(z, y); }
  [[nodiscard]] double posterior(In label, In omega, In variance, Out mean, Out second) const {
    double log_z = good.posterior(label, omega, variance, mean, second);
    spoil(mean, second, log_z);
    return log_z;
  }
};

ModelCheckOptions quick() {
  ModelCheckOptions options;
  options.points = 256;
  options.differences = 16;
  return options;
}

template <class Good>
ModelReport check_spoiled(const Good& good, std::function<void(Out, Out, double&)> spoil) {
  return check_model(*smi::make_model(Spoiled<Good>{good, std::move(spoil)}), quick());
}

bool mentions(const ModelReport& report, const std::string& words) {
  return std::any_of(
      report.findings.begin(), report.findings.end(),
      [&](const std::string& finding) { return finding.find(words) != std::string::npos; });
}

TEST(CheckModel, PassesALinkThatIsConsistent) {
  const ModelReport report = check_spoiled(smi::SquareLink{}, [](Out, Out, double&) {});
  EXPECT_TRUE(report.passed);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_GT(report.statistical_tests, 0);
  ASSERT_EQ(report.blocks.size(), 1U);
  EXPECT_TRUE(report.blocks[0].sign_symmetric);
}

TEST(CheckModel, DoesNotMindAFactorOfZThatDependsOnNothing) {
  EXPECT_TRUE(
      check_spoiled(smi::SquareLink{}, [](Out, Out, double& log_z) { log_z += 3.0; }).passed);
}

TEST(CheckModel, CatchesASecondMomentThatIsFivePerCentTooLarge) {
  const ModelReport report =
      check_spoiled(smi::SignProductLink{2}, [](Out, Out second, double&) { second[0] *= 1.05; });
  EXPECT_FALSE(report.passed);
  EXPECT_TRUE(mentions(report, "E<zeta_1 zeta_1> differs from 1"));
  EXPECT_TRUE(mentions(report, "the covariance of zeta is not the derivative"));
}

TEST(CheckModel, CatchesAMeanOfTheWrongSign) {
  const ModelReport report =
      check_spoiled(smi::SignProductLink{1}, [](Out mean, Out, double&) { mean[0] = -mean[0]; });
  EXPECT_TRUE(mentions(report, "E<zeta>.zeta* differs from E|<zeta>|^2"));
  EXPECT_TRUE(mentions(report, "the mean of zeta is not the derivative of log Z"));
  EXPECT_TRUE(mentions(report, "standard errors"));
}

TEST(CheckModel, CatchesALogZThatForgetsAFactor) {
  const ModelReport report =
      check_spoiled(smi::SquareLink{}, [](Out, Out, double& log_z) { log_z *= 1.01; });
  EXPECT_TRUE(mentions(report, "the mean of zeta is not the derivative of log Z"));
}

TEST(CheckModel, CatchesValuesThatAreNotFinite) {
  const ModelReport report = check_spoiled(smi::LinearLink{}, [](Out, Out second, double&) {
    if (second[0] > 4.0) second[0] = std::numeric_limits<double>::infinity();
  });
  EXPECT_TRUE(mentions(report, "a second moment is not finite"));
}

TEST(CheckModel, CatchesACovarianceThatIsNotPositive) {
  const ModelReport report =
      check_spoiled(smi::LinearLink{}, [](Out, Out second, double&) { second[0] -= 1e-3; });
  EXPECT_TRUE(mentions(report, "a covariance has a negative eigenvalue"));
}

// sign(z_1) + sign(z_2) in the plain basis, as one block: its posterior is right, but the overlap
// of the two directions grows, so one number per block is not enough.
struct PlainCommittee {
  [[nodiscard]] static FieldShape shape() { return {1, {2}}; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 0.0; }
  static void label(In z, Out y) { y[0] = std::copysign(1.0, z[0]) + std::copysign(1.0, z[1]); }
  [[nodiscard]] static double posterior(In label, In omega, In variance, Out mean, Out second) {
    if (label[0] == 0.0) {
      return smi::sign_product_posterior(false, omega, variance[0], mean, second);
    }
    const double sign = label[0] / 2.0;
    double log_z = 0.0;
    for (std::size_t i = 0; i < 2; ++i) {
      const smi::HalfLine half = smi::half_line(sign * omega[i] / std::sqrt(variance[0]));
      mean[i] = sign * half.mean;
      second[2 * i] = half.second;
      log_z += half.log_mass;
    }
    second[1] = mean[0] * mean[1];
    return log_z;
  }
};

TEST(CheckModel, SaysWhenStateEvolutionDoesNotClose) {
  const ModelReport report = check_model(*smi::make_model(PlainCommittee{}), quick());
  EXPECT_FALSE(report.passed);
  for (const std::string& finding : report.findings) {
    EXPECT_NE(finding.find("does not close"), std::string::npos) << finding;
  }
}

// Two layers of attention: a posterior from importance sampling, with two independent halves.
class TwoLayers final : public smi::SequenceModel {
 public:
  explicit TwoLayers(double spoil = 1.0) : spoil_(spoil) {}
  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override { return 2; }
  [[nodiscard]] double constraints() const override { return 2.0; }
  [[nodiscard]] bool even(std::size_t /*block*/) const override { return true; }
  void label(In fields, In /*noise*/, Out label) const override {
    smi::label_field(model_, fields, label);
  }
  [[nodiscard]] int prediction_size() const override { return 4; }
  void prediction(In fields, Out out) const override { smi::attention_matrix(model_, fields, out); }
  [[nodiscard]] std::unique_ptr<smi::Posterior> posterior(
      const smi::PosteriorOptions& options) const override {
    return std::make_unique<Scaled>(smi::attention_posterior(model_, options), spoil_);
  }

 private:
  // Second moments times a factor.
  class Scaled final : public smi::Posterior {
   public:
    Scaled(std::unique_ptr<smi::Posterior> good, double factor)
        : good_(std::move(good)), factor_(factor) {}
    void moments(const smi::PosteriorQuery& query, smi::PosteriorMoments& out) const override {
      good_->moments(query, out);
      for (auto& half : out.half) {
        for (double& x : half.second) x *= factor_;
      }
    }
    [[nodiscard]] bool exact() const override { return good_->exact(); }

   private:
    std::unique_ptr<smi::Posterior> good_;
    double factor_;
  };

  smi::DeepAttention model_;
  FieldShape shape_ = model_.shape();
  double spoil_;
};

TEST(CheckModel, PassesAPosteriorWithInnerErrorsAndCatchesOneThatIsFivePerCentOff) {
  ModelCheckOptions options = quick();
  options.variances = {1.0, 0.3};
  const ModelReport report = check_model(TwoLayers{}, options);
  EXPECT_TRUE(report.passed) << report.findings.front();
  ASSERT_EQ(report.blocks.size(), 2U);
  EXPECT_TRUE(report.blocks[0].sign_symmetric);
  EXPECT_TRUE(report.blocks[1].sign_symmetric);
  EXPECT_TRUE(mentions(check_model(TwoLayers{1.05}, options), "(Nishimori)"));
}

// sign(z), which claims that a label does not show the sign of its field.
class FalselyEven final : public smi::SequenceModel {
 public:
  [[nodiscard]] const FieldShape& shape() const override { return good_->shape(); }
  [[nodiscard]] int label_size() const override { return good_->label_size(); }
  [[nodiscard]] double constraints() const override { return good_->constraints(); }
  [[nodiscard]] bool even(std::size_t /*block*/) const override { return true; }
  void label(In fields, In noise, Out label) const override { good_->label(fields, noise, label); }
  [[nodiscard]] int prediction_size() const override { return good_->prediction_size(); }
  void prediction(In fields, Out out) const override { good_->prediction(fields, out); }
  [[nodiscard]] std::unique_ptr<smi::Posterior> posterior(
      const smi::PosteriorOptions& options) const override {
    return good_->posterior(options);
  }

 private:
  std::unique_ptr<smi::SequenceModel> good_ = smi::make_model(smi::SignProductLink{1});
};

TEST(CheckModel, CatchesABlockThatIsCalledEvenButIsNot) {
  EXPECT_TRUE(mentions(check_model(FalselyEven{}, quick()), "called even"));
}

TEST(CheckModel, RefusesOptionsThatMakeNoSense) {
  const auto model = smi::make_model(smi::LinearLink{});
  ModelCheckOptions options;
  options.variances = {1.5};
  EXPECT_THROW((void)check_model(*model, options), InvalidArgument);
  options = {};
  options.points = 100;
  EXPECT_THROW((void)check_model(*model, options), InvalidArgument);
  options = {};
  options.replicates = 2;
  EXPECT_THROW((void)check_model(*model, options), InvalidArgument);
}

TEST(CheckModel, IsTheSameForAnyNumberOfThreads) {
  const auto model = smi::make_model(smi::SquareLink{});
  Context two;
  two.threads = 2;
  EXPECT_EQ(check_model(*model, quick()).blocks[0].growth.value,
            check_model(*model, quick(), two).blocks[0].growth.value);
}

}  // namespace
}  // namespace onset::testing
