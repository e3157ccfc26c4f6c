#include <fmt/format.h>

#include "core/plain_verb.hpp"
#include "mha/verbs/files.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"
#include "mha/verify/verify.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

/// The checks, with a certificate that does not fit blamed on its file.
Verification verification_of(const std::filesystem::path& folder, const Certificate& certificate,
                             const Examples& examples, const Context& context) {
  const Model model{read_layer(folder), read_layer(folder / "geometry")};
  try {
    return verify(certificate, model, examples, context);
  } catch (const InvalidArgument& error) {
    throw IoError(certificate_path(folder), error.what());
  }
}

Result run_verify(const Parameters& p, const Context& context) {
  const Examples examples = read_examples(p.text("examples"));
  const Certificate certificate = read_certificate(p.text("model"));
  Result result;
  result.table = Table(verify_verb().columns());
  if (certificate.verdict == Verdict::refused) {
    result.status = ResultStatus::refused;
    result.reason = "the model was refused, so there is nothing to verify: " + certificate.reason;
    result.summary = {{"claimed", to_string(certificate.verdict)},
                      {"verified", false},
                      {"verdict", to_string(certificate.verdict)},
                      {"reason", result.reason}};
    return result;
  }
  const Verification found = verification_of(p.text("model"), certificate, examples, context);
  std::string failed;
  for (const Check& check : found.checks) {
    result.table.add_row({check.name, check.value, check.bound, check.passed});
    if (!check.passed) failed += (failed.empty() ? "" : ", ") + check.name;
  }
  result.summary = {{"claimed", to_string(certificate.verdict)},
                    {"found", to_string(found.verdict)},
                    {"verified", failed.empty()}};
  if (!failed.empty()) {
    result.status = ResultStatus::refused;
    result.reason = "the certificate does not hold: " + failed;
    if (found.verdict != certificate.verdict) {
      result.reason += fmt::format(" (claimed {}, found {})", to_string(certificate.verdict),
                                   to_string(found.verdict));
    }
  } else if (certificate.verdict != Verdict::certified) {
    result.status = ResultStatus::unconverged;
    result.reason = "what is claimed holds, but it is no certificate: " + certificate.reason;
  }
  const Verdict verdict = failed.empty() ? certificate.verdict : Verdict::refused;
  result.summary.emplace_back("verdict", to_string(verdict));
  result.summary.emplace_back("reason", result.reason);
  return result;
}

Cost verify_cost(const Parameters& p) {
  const double bytes = example_bytes(p.text("examples"));
  return {"Everything that the certificate claims is computed again from the forward map alone.",
          2e-7 * bytes, 3.0 * bytes + 1e8};
}

}  // namespace

Verb verify_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "verify";
  verb.summary = "checks the certificate of a learned layer against the examples";
  verb.details =
      "Shares nothing with the learner but the forward map, and computes every number of the "
      "certificate again: that examples and layers are the ones meant, that held-out examples "
      "repeat no other, residuals, every single label, the rank of the Jacobian by finite "
      "differences, slabs and their singular gaps by its own least squares, and the proof that a "
      "wrong tuple of heads cannot explain the labels. From these the verdict is derived again "
      "and compared with the one claimed. The exit code is 0 when the model claims to be "
      "certified and every check passes.";
  verb.parameters = {make_folder("examples", true, "Folder with X.npy and Y.npy."),
                     make_folder("model", false, "Folder that mha learn wrote.")};
  verb.columns = {{"check", "what is checked", "", false},
                  {"value", "what it came to", "", false},
                  {"bound", "what it is held against", "", false},
                  {"passed", "whether it holds", "", false}};
  verb.method = 2;
  verb.examples = {"mha verify examples --model model"};
  verb.cost = verify_cost;
  verb.run = run_verify;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
