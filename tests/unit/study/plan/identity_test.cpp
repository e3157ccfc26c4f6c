#include <gtest/gtest.h>

#include <map>

#include "study/store/sha256.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::study {
namespace {

TEST(Sha256, GivesTheKnownAnswersOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

std::string key(const std::map<std::string, Value>& given, const Verb& verb = toy_verb()) {
  return identity(verb, verb.settle(given).parameters);
}

TEST(Identity, IsTheSameForTheSameEffectiveParameters) {
  EXPECT_EQ(key({}), key({{"slope", 1.0}, {"seed", std::int64_t{1}}, {"tol", 1e-3}}));
  EXPECT_EQ(key({{"slope", std::int64_t{2}}}), key({{"slope", 2.0}}));
  EXPECT_EQ(key({{"slope", 0.0}}), key({{"slope", -0.0}}));
  EXPECT_EQ(key({{"skip", 0.5}}), key({{"skip", std::string("0.5")}}));
}

TEST(Identity, ChangesWithEverythingThatMatters) {
  Verb raised = toy_verb();
  raised.method = 2;
  Verb renamed = toy_verb();
  renamed.name = "curve";
  const std::vector<std::string> keys = {key({}),
                                         key({{"slope", 2.0}}),
                                         key({{"slope", 1.0 + 1e-15}}),
                                         key({{"seed", std::int64_t{2}}}),
                                         key({{"tol", 1e-4}}),
                                         key({{"mode", std::string("slow")}}),
                                         key({{"loud", true}}),
                                         key({{"skip", std::vector<double>{1.0, 1.0}}}),
                                         key({}, raised),
                                         key({}, renamed)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
  }
}

TEST(Identity, DoesNotChangeWhenAVerbGetsAnOptionWithoutADefault) {
  const Verb verb = toy_verb();
  Parameters more = verb.settle({}).parameters;
  more.set("stages", Value{});
  EXPECT_EQ(identity(verb, more), key({}));
}

TEST(Identity, DoesNotChangeBetweenReleases) {
  // Stores on disk are filed under these: a change here makes every old result unfindable.
  EXPECT_EQ(key({}), "680ac771289282ddf7572459fa509aff");
}

}  // namespace
}  // namespace onset::study
