#include "mha/verify/verify.hpp"

#include <algorithm>
#include <cmath>

#include "unit/mha/certified_layer.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;

class MhaVerify : public testing::CertifiedLayer {};

TEST_F(MhaVerify, ACertificateHolds) {
  ASSERT_EQ(learned_->verdict, Verdict::certified) << learned_->reason;
  EXPECT_EQ(failures(certificate(), model(), *examples_), "");
}

TEST_F(MhaVerify, ChangedParametersFailByTheirResidualsNotOnlyByTheirDigest) {
  Model changed = model();
  changed.layer.theta[5] += 1e-6;
  changed.geometry.w[3] += 1e-3;
  Certificate forged = certificate();
  forged.layer_digest = digest_of(changed.layer);
  forged.geometry_digest = digest_of(changed.geometry);
  const std::string failed = failures(forged, changed, *examples_);
  EXPECT_NE(failed.find("residual, held out"), std::string::npos) << failed;
  EXPECT_NE(failed.find("residual, geometry"), std::string::npos) << failed;
  EXPECT_EQ(failed.find("same layer"), std::string::npos) << failed;
  EXPECT_EQ(failed.find("same geometry"), std::string::npos) << failed;
}

TEST_F(MhaVerify, ChangedExamplesFail) {
  Examples changed = *examples_;
  changed.y[17] = std::nextafter(changed.y[17], 10.0);
  EXPECT_EQ(failures(certificate(), model(), changed), "same examples");
}

TEST_F(MhaVerify, HeadsThatAreNotUniqueFailTheRank) {
  // The second head split in two equal ones: the same function, three heads, no local uniqueness.
  Layer split = make_layer(3, 8);
  for (int i = 0; i < 3; ++i) {
    const int from = std::min(i, 1);
    for (std::size_t c = 0; c < 64; ++c) {
      split.theta[static_cast<std::size_t>(i) * 64 + c] = learned_->layer.theta_of(from)[c];
      split.w[static_cast<std::size_t>(i) * 64 + c] =
          (i == 0 ? 1.0 : 0.5) * learned_->layer.w_of(from)[c];
    }
  }
  Certificate claim = certificate();
  claim.heads = claim.counted.heads = 3;
  claim.layer_digest = digest_of(split);
  claim.jacobian_rank = 192;
  std::vector<double>& thetas = claim.rejected.thetas;
  thetas.insert(thetas.end(), split.theta_of(2).begin(), split.theta_of(2).end());
  const std::string failed = failures(claim, {split, learned_->geometry}, *examples_);
  EXPECT_NE(failed.find("rank of the Jacobian"), std::string::npos) << failed;
}

TEST_F(MhaVerify, AHeadSplitInTwoUnequalPartsFailsWhateverSlabsAreShown) {
  Layer split = make_layer(3, 8);
  for (std::size_t c = 0; c < 64; ++c) {
    const double part = std::sin(static_cast<double>(c));
    for (std::size_t i = 0; i < 3; ++i) {
      split.theta[i * 64 + c] = learned_->layer.theta_of(i == 0 ? 0 : 1)[c];
    }
    split.w[c] = learned_->layer.w_of(0)[c];
    split.w[64 + c] = 0.1 * part;
    split.w[128 + c] = learned_->layer.w_of(1)[c] - 0.1 * part;
  }
  Certificate claim = certificate();
  claim.heads = claim.counted.heads = 3;
  claim.layer_digest = digest_of(split);
  std::vector<double>& thetas = claim.rejected.thetas;
  thetas.insert(thetas.end(), split.theta_of(2).begin(), split.theta_of(2).end());
  const std::string failed = failures(claim, {split, learned_->geometry}, *examples_);
  EXPECT_NE(failed.find("canonical form"), std::string::npos) << failed;
  EXPECT_NE(failed.find("independent features"), std::string::npos) << failed;
}

TEST_F(MhaVerify, SlabsThatLeaveMoreFreeThanTheHeadsFail) {
  Certificate claim = certificate();  // one coordinate of the queries is the same in all of them
  std::erase_if(claim.slabs, [](const CertifiedSlab& slab) {
    const std::size_t query = slab.row.example * 16 + static_cast<std::size_t>(slab.row.query) * 8;
    return examples_->x[query] != examples_->x[query + 1];
  });
  ASSERT_GT(claim.slabs.size(), 65U);
  const std::string failed = failures(claim, model(), *examples_);
  EXPECT_NE(failed.find("slabs, off the heads"), std::string::npos) << failed;
}

TEST_F(MhaVerify, ACertificateWithoutTheProofThatAWrongTupleIsRejectedFails) {
  Certificate claim = certificate();
  claim.rejected = {};
  EXPECT_EQ(failures(claim, model(), *examples_), "wrong tuple rejected, same verdict");
}

TEST_F(MhaVerify, TheRejectedTupleMustBeTheFoundHeadsWithOneMoved) {
  Certificate claim = certificate();
  for (double& theta : claim.rejected.thetas) theta *= 1.0 + 1e-9;
  const std::string failed = failures(claim, model(), *examples_);
  EXPECT_NE(failed.find("wrong tuple, heads kept"), std::string::npos) << failed;
}

/// What verify finds when the word is turned into certified, after checking that the honest file
/// holds as recovered.
std::string failures_when_flipped(const Learned& learned, const Examples& examples) {
  EXPECT_EQ(learned.verdict, Verdict::recovered) << learned.reason;
  const Model model{learned.layer, learned.geometry};
  Certificate claim = certificate_of(learned, examples);
  for (const Check& check : verify(claim, model, examples, {}).checks) {
    EXPECT_TRUE(check.passed) << check.name;
  }
  claim.verdict = Verdict::certified;
  claim.reason = "";
  const Verification found = verify(claim, model, examples, {});
  EXPECT_EQ(found.verdict, Verdict::recovered);
  std::string failed;
  for (const Check& check : found.checks) failed += check.passed ? "" : check.name + "; ";
  return failed;
}

TEST_F(MhaVerify, OneLabelThatIsALittleOffCannotBeCalledCertified) {
  Examples examples = *examples_;
  examples.y[5000 * 16 + 3] += 1e-7;
  EXPECT_EQ(failures_when_flipped(learn(examples, {}, {}), examples),
            "labels not given; same verdict; ");
}

TEST_F(MhaVerify, AGapThatWasTooSmallForTheLearnerIsTooSmallForTheJudge) {
  LearnOptions options;
  options.heads = 2;
  const Examples examples = draw(law_of(2, 6, 2, 3.0), 6000, 12).examples;
  const std::string failed = failures_when_flipped(learn(examples, options, {}), examples);
  EXPECT_NE(failed.find("singular gap, counted"), std::string::npos) << failed;
}

TEST_F(MhaVerify, NoisyLabelsAndGeometryAloneHoldAsRecoveredAndNotAsCertified) {
  InstanceLaw law = law_of(2, 8, 2, 3.0);
  law.noise = 1e-3;
  const Examples noisy = draw(law, 20000, 5).examples;
  std::string failed = failures_when_flipped(learn(noisy, {}, {}), noisy);
  EXPECT_NE(failed.find("residual, held out"), std::string::npos) << failed;
  LearnOptions geometry_only;
  geometry_only.polish = false;
  failed = failures_when_flipped(learn(*examples_, geometry_only, {}), *examples_);
  EXPECT_NE(failed.find("residual, held out"), std::string::npos) << failed;
}

TEST_F(MhaVerify, LearnerAndJudgeAgreeWhereAttentionSaturatesAndWhereOnlyRoundingIsLeft) {
  LearnOptions one;
  one.heads = 1;
  const Examples saturated = draw(law_of(1, 9, 2, 25.197), 2396, 532).examples;
  const Examples exact = draw(law_of(1, 7, 8, 0.001652), 306, 116).examples;  // k - 1 = d
  for (const Examples* examples : {&saturated, &exact}) {
    const Learned learned = learn(*examples, one, {});
    ASSERT_NE(learned.verdict, Verdict::refused) << learned.reason;
    EXPECT_EQ(
        failures(certificate_of(learned, *examples), {learned.layer, learned.geometry}, *examples),
        "");
  }
}

TEST_F(MhaVerify, ACertifiedLayerCannotBeCalledRecovered) {
  Certificate claim = certificate();
  claim.verdict = Verdict::recovered;
  claim.reason = "modesty";
  EXPECT_EQ(failures(claim, model(), *examples_), "same verdict");
}

TEST_F(MhaVerify, ProjectionsThatCancelAreNoAnswer) {
  // The second head's projection becomes minus the first's, and labels follow.
  Model cancelling = model();
  std::copy_n(cancelling.layer.w.begin(), 64, cancelling.layer.w.begin() + 64);
  for (std::size_t c = 64; c < 128; ++c) cancelling.layer.w[c] *= -1.0;
  Examples examples = *examples_;
  examples.y = forward(cancelling.layer, examples, {});
  const Verification found = verify(certificate(), cancelling, examples, {});
  EXPECT_EQ(found.verdict, Verdict::refused);
  EXPECT_TRUE(std::any_of(found.checks.begin(), found.checks.end(), [](const Check& check) {
    return check.name == "sum of projections" && !check.passed;
  }));
}

TEST_F(MhaVerify, ExamplesOfAnotherShapeAreOtherExamples) {
  Examples fewer = *examples_;
  fewer.count = 100;
  fewer.x.resize(1600);
  fewer.y.resize(1600);
  EXPECT_EQ(failures(certificate(), model(), fewer), "same examples");
}

TEST_F(MhaVerify, AHeldOutExampleThatWasSeenBeforeFails) {
  Examples more = *examples_;  // one more: the first with its tokens exchanged and its sign turned
  for (std::size_t e = 0; e < 16; ++e) {
    more.x.push_back(static_cast<std::int8_t>(-more.x[(e + 8) % 16]));
    more.y.push_back(-more.y[(e + 8) % 16]);
  }
  ++more.count;
  Certificate claim = certificate();
  claim.count = more.count;
  claim.digest = digest_of(more);
  EXPECT_EQ(failures(claim, model(), more), "");
  claim.held_out.push_back(static_cast<std::uint32_t>(more.count - 1));
  const std::string failed = failures(claim, model(), more);
  EXPECT_NE(failed.find("held out, seen before"), std::string::npos) << failed;
}

TEST_F(MhaVerify, NonsenseIsMisuseAndTheFieldIsNamed) {
  const auto with = [](const auto& change) {
    Certificate claim = certificate();
    change(claim);
    return nonsense(claim);
  };
  EXPECT_EQ(with([](auto& c) { c.slabs.front().row.example = 1'000'000; }), "slabs[0]");
  EXPECT_EQ(with([](auto& c) { c.slabs[1] = c.slabs[0]; }), "slabs");
  EXPECT_EQ(with([](auto& c) { c.held_out[1] = c.held_out[0]; }), "held_out");
  EXPECT_EQ(with([](auto& c) { c.held_out.clear(); }), "held_out");
  EXPECT_EQ(with([](auto& c) { c.heads = 3; }), "heads");
  EXPECT_EQ(with([](auto& c) { c.reason = "none"; }), "reason");
  EXPECT_EQ(with([](auto& c) { c.rejected.thetas.pop_back(); }), "rejected.theta");
  EXPECT_EQ(with([](auto& c) { c.rejected.rows.clear(), c.rejected.multipliers.clear(); }),
            "rejected.rows");
  EXPECT_EQ(with([](auto& c) { c.counted.heads = 1; }), "counted.heads");
  EXPECT_EQ(with([](auto& c) { c.counted.heads = 9; }), "counted.heads");
  EXPECT_EQ(with([](auto& c) { c.counted.w.pop_back(); }), "counted.w");
  EXPECT_EQ(with([](auto& c) { c.counted.slabs.front().key = 2; }), "counted.slabs[0]");
  EXPECT_EQ(with([](auto& c) { c.rejected.multipliers.pop_back(); }), "rejected.multipliers");
}

}  // namespace
}  // namespace onset::mha
