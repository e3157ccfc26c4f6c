#include "mha/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "mha/verify/parts.hpp"
#include "unit/mha/certified_layer.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::Drawn;
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

/// A claim with other slabs, whose other numbers are those of these slabs.
Certificate with_slabs(Certificate claim, const std::vector<CertifiedSlab>& slabs,
                       const Layer& layer, const Examples& examples) {
  claim.slabs = claim.counted.slabs = slabs;
  const verifier::SlabFacts facts = verifier::slab_facts(slabs, layer, examples, {});
  claim.slabs_proved = facts.proved;
  claim.slabs_violated = facts.violated;
  claim.gap = facts.gap;
  claim.counted.w = verifier::sum_of_projections(layer);
  claim.counted.gap = verifier::counted_gap(claim.counted, slabs, examples, {});
  return claim;
}

/// Different ways to leave out `count` slabs.
std::vector<std::vector<CertifiedSlab>> with_omissions(const std::vector<CertifiedSlab>& slabs,
                                                       std::size_t count) {
  const auto some = static_cast<std::ptrdiff_t>(count);
  std::vector<CertifiedSlab> mixed = slabs;
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937_64(count));
  return {{slabs.begin(), slabs.end() - some},
          {slabs.begin() + some, slabs.end()},
          {mixed.begin() + some, mixed.end()}};
}

constexpr const char* omission = "slabs left out, counted, posterior slabs left out, same verdict";

TEST_F(MhaVerify, SlabsThatAreLeftOutFailThoughAllOtherNumbersAreTheirs) {
  const Layer& layer = learned_->layer;
  const std::vector<CertifiedSlab> all = certificate().slabs;
  EXPECT_EQ(failures(with_slabs(certificate(), all, layer, *examples_), model(), *examples_), "");
  for (const std::size_t count : {1, 80}) {
    for (const auto& fewer : with_omissions(all, count)) {
      const Certificate claim = with_slabs(certificate(), fewer, layer, *examples_);
      EXPECT_EQ(failures(claim, model(), *examples_), omission) << count;
    }
  }
}

TEST_F(MhaVerify, AGapThatGrowsBecauseSlabsAreLeftOutCertifiesNothing) {
  const Examples examples = draw(law_of(2, 6, 3, 3.0), 30000, 1).examples;
  const Learned learned = learn(examples, {}, {});
  const Model model{learned.layer, learned.geometry};
  Certificate claim = certificate_of(learned, examples);
  ASSERT_EQ(learned.verdict, Verdict::recovered) << learned.reason;
  ASSERT_LT(claim.gap, 3.0);
  const std::vector<CertifiedSlab> all = claim.slabs;
  claim.verdict = Verdict::certified;
  claim.reason = "";
  claim = with_slabs(claim, {all.begin(), all.end() - 80}, learned.layer, examples);
  ASSERT_GT(claim.gap, 3.5);  // which was enough for a certificate once
  ASSERT_GT(claim.counted.gap, 3.5);
  EXPECT_EQ(failures(claim, model, examples),
            "slabs left out, counted, singular gap, counted, posterior slabs left out, singular "
            "gap, same verdict");
  EXPECT_EQ(verify(claim, model, examples, {}).verdict, Verdict::refused);
}

TEST_F(MhaVerify, SlabsThatAHeadViolatesCannotBeLeftOut) {
  // A few labels are wrong, but such that all heads could agree on them.
  Examples wrong = *examples_;
  const testing::Drawn truth = draw(law_of(2, 8, 2, 3.0), 1, 14);
  const Matrix sum = testing::sum_of_w(truth.truth);
  for (const std::size_t n : {100, 200, 300}) {
    Matrix x(2, 8);
    wrong.copy_input(n, x.data());
    const Matrix outputs = (0.3 * x.row(0) + 0.7 * x.row(1)) * sum;
    std::copy_n(outputs.data(), 8, wrong.y.begin() + static_cast<std::ptrdiff_t>(n * 16));
  }
  LearnOptions options;
  options.heads = 2;
  const Learned learned = learn(wrong, options, {});
  ASSERT_EQ(learned.verdict, Verdict::recovered) << learned.reason;
  const Certificate honest = certificate_of(learned, wrong);
  EXPECT_EQ(failures(honest, {learned.layer, learned.geometry}, wrong), "");
  ASSERT_GT(honest.slabs_violated, 0);
  std::vector<CertifiedSlab> kept = honest.slabs;
  std::erase_if(kept, [&](const CertifiedSlab& slab) {
    return verifier::slab_facts({slab}, learned.layer, wrong, {}).violated > 0;
  });
  ASSERT_LT(kept.size(), honest.slabs.size());
  const Certificate claim = with_slabs(honest, kept, learned.layer, wrong);
  EXPECT_EQ(claim.slabs_violated, 0);
  EXPECT_EQ(failures(claim, {learned.layer, learned.geometry}, wrong), omission);
}

TEST_F(MhaVerify, ASlabThatTakesThePlaceOfABetterOneFails) {
  std::vector<CertifiedSlab> slabs = certificate().slabs;
  const std::vector<double> sum = verifier::sum_of_projections(learned_->layer);
  std::vector<bool> looked_at = verifier::first_of_orbits(*examples_);
  for (const std::uint32_t n : certificate().held_out) looked_at[n] = false;
  const auto choice = [&] { return verifier::slab_choice(slabs, sum, *examples_, looked_at, {}); };
  EXPECT_TRUE(choice().same);
  const std::vector<CertifiedSlab> all = slabs;
  // Some row that is not in the list gives a slab; the larger attention is its reference.
  std::uint32_t example = 0;
  verifier::SlabChoice found;
  do {
    slabs.front() = {{example / 4, static_cast<int>(example / 2 % 2)},
                     static_cast<int>(example % 2),
                     1 - static_cast<int>(example % 2)};
    found = choice();
    ++example;
  } while (found.wrong > 0 && example < 200);
  EXPECT_EQ(found.wrong, 0U);
  EXPECT_GE(found.lacking, 1U);
  EXPECT_FALSE(found.same);
  EXPECT_TRUE(std::equal(found.best.begin(), found.best.end(), all.begin(), all.end(),
                         [](const CertifiedSlab& a, const CertifiedSlab& b) {
                           return a.row.example == b.row.example && a.row.query == b.row.query;
                         }));
  const Certificate claim = with_slabs(certificate(), slabs, learned_->layer, *examples_);
  EXPECT_EQ(failures(claim, model(), *examples_), omission);
}

TEST_F(MhaVerify, TheOrderOfSlabsIsNoClaim) {
  Certificate claim = certificate();
  std::reverse(claim.slabs.begin(), claim.slabs.end());
  std::reverse(claim.counted.slabs.begin(), claim.counted.slabs.end());
  EXPECT_EQ(failures(claim, model(), *examples_), "");
}

TEST_F(MhaVerify, WhichExamplesAreHeldOutIsNoChoice) {
  for (const bool more : {true, false}) {
    Certificate claim = certificate();
    if (more) {
      claim.held_out.insert(claim.held_out.begin(), 0);
    } else {
      claim.held_out.pop_back();
    }
    const Verification found = verify(claim, model(), *examples_, {});
    EXPECT_EQ(found.verdict, Verdict::refused);
    EXPECT_NE(failures(claim, model(), *examples_).find("held out, wrongly"), std::string::npos);
  }
}

TEST_F(MhaVerify, SlabsOfEqualToleranceMayBeEitherOfThem) {
  // Queries ignore the first three coordinates, so that slabs come in groups whose order is a
  // matter of rounding.
  Drawn drawn = draw(law_of(2, 8, 2, 3.0), 20000, 3);
  for (int i = 0; i < 2; ++i) {
    for (std::size_t c = 0; c < 24; ++c)
      drawn.truth.theta[static_cast<std::size_t>(i) * 64 + c] = 0;
  }
  drawn.examples.y = forward(drawn.truth, drawn.examples, {});
  const Learned learned = learn(drawn.examples, {}, {});
  ASSERT_NE(learned.verdict, Verdict::refused) << learned.reason;
  EXPECT_EQ(failures(certificate_of(learned, drawn.examples), {learned.layer, learned.geometry},
                     drawn.examples),
            "");
}

TEST_F(MhaVerify, PosteriorSlabsAreTheBestOfAllThoughHeadsWereCountedFromFewer) {
  LearnOptions options;
  options.heads = 2;
  const Examples saturated = draw(law_of(2, 4, 3, 20.0), 300, 96).examples;
  const Learned learned = learn(saturated, options, {});
  ASSERT_NE(learned.verdict, Verdict::refused) << learned.reason;
  const Certificate claim = certificate_of(learned, saturated);
  EXPECT_GT(claim.slabs.size(), claim.counted.slabs.size());
  EXPECT_EQ(failures(claim, {learned.layer, learned.geometry}, saturated), "");
}

TEST_F(MhaVerify, AGapThatIsEnoughForTheJudgeIsEnoughForTheLearner) {
  // Phase 4 has no gap, the slabs of the found head have one of rounding and a small one further
  // up.
  InstanceLaw law = law_of(1, 2, 3, 2.0);
  law.inputs = Inputs::gaussian;
  LearnOptions options;
  options.heads = 1;
  const Examples examples = draw(law, 400, 9031).examples;
  const Learned learned = learn(examples, options, {});
  EXPECT_EQ(learned.verdict, Verdict::certified) << learned.reason;
  EXPECT_EQ(
      failures(certificate_of(learned, examples), {learned.layer, learned.geometry}, examples), "");
}

TEST_F(MhaVerify, AGapFromRoundingAloneIsNotWhateverIsClaimed) {
  const Examples examples = draw(law_of(1, 6, 2, 2.0), 2000, 4).examples;
  const Learned learned = learn(examples, {}, {});
  ASSERT_EQ(learned.verdict, Verdict::certified) << learned.reason;
  const Model model{learned.layer, learned.geometry};
  const Certificate honest = certificate_of(learned, examples);
  EXPECT_EQ(failures(honest, model, examples), "");
  for (const double gap : {1e308, 1.1e15, 1e5}) {
    Certificate claim = honest;
    claim.gap = gap;
    EXPECT_EQ(failures(claim, model, examples), "singular gap");
    claim = honest;
    claim.counted.gap = gap;
    EXPECT_EQ(failures(claim, model, examples), "singular gap, counted");
  }
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
  EXPECT_EQ(with([](auto& c) { c.residual = -4e-15; }), "residual.held_out");
  EXPECT_EQ(with([](auto& c) { c.geometry_residual = -1e-300; }), "residual.geometry");
  EXPECT_EQ(with([](auto& c) { c.residual_all = -0.5; }), "residual.all");
  EXPECT_EQ(with([](auto& c) { c.gap = -c.gap; }), "evidence.gap");
  EXPECT_EQ(with([](auto& c) { c.counted.gap = std::nan(""); }), "counted.gap");
  EXPECT_EQ(with([](auto& c) { c.rejected.bound = -1.0; }), "rejected.bound");
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
