#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mha/learners/six_phases.hpp"
#include "mha/verify/verify.hpp"
#include "onset/core/error.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha::testing {

/// A learned layer with its certificate, and what verify() says of changed ones.
class CertifiedLayer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    examples_ = new Examples(draw(law_of(2, 8, 2, 3.0), 15000, 14).examples);
    learned_ = new Learned(learn(*examples_, {}, {}));
  }
  static void TearDownTestSuite() {
    delete examples_;
    delete learned_;
  }
  static Model model() { return {learned_->layer, learned_->geometry}; }
  static Certificate certificate() { return certificate_of(*learned_, *examples_); }

  /// The checks that fail, separated by commas; empty when the certificate holds.
  static std::string failures(const Certificate& certificate, const Model& model,
                              const Examples& examples) {
    std::string out;
    for (const Check& check : verify(certificate, model, examples, {}).checks) {
      if (!check.passed) out += (out.empty() ? "" : ", ") + check.name;
    }
    return out;
  }
  /// The field that a certificate is misused in; empty when it is not.
  static std::string nonsense(const Certificate& certificate) {
    try {
      (void)verify(certificate, model(), *examples_, {});
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return "";
  }

  inline static Examples* examples_ = nullptr;
  inline static Learned* learned_ = nullptr;
};

}  // namespace onset::mha::testing
