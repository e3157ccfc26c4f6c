#include <fmt/format.h>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/certificate_file.hpp"
#include "mha/verbs/folder_fields.hpp"
#include "mha/verify/verify.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

Columns<Check> check_columns() {
  return Columns<Check>()
      .add("check", &Check::name, "what is checked")
      .add("value", &Check::value, "what it came to")
      .add("bound", &Check::bound, "what it is held against")
      .add("passed", &Check::passed, "whether it holds");
}

struct SettledVerify {
  ExampleFiles examples;
  Certificate certificate;
  Model model;  // empty where it was refused
};

SettledVerify settle_verify(Verify& request) {
  const std::filesystem::path folder = request.model;
  Certificate certificate = read_certificate(folder);
  SettledVerify out{
      find_examples(request.examples, certificate.inputs), std::move(certificate), {}};
  if (out.certificate.verdict != Verdict::refused) {
    out.model = {read_layer(folder), read_layer(folder / "geometry")};
  }
  return out;
}

/// The checks, with a certificate that does not fit blamed on its file.
Verification verification(const Verify& request, const SettledVerify& settled,
                          const Context& context) {
  const Examples examples = read_examples(settled.examples);
  try {
    return verify(settled.certificate, settled.model, examples, context);
  } catch (const InvalidArgument& error) {
    throw IoError(certificate_path(request.model), error.what());
  }
}

void run_verify(const Verify& request, const SettledVerify& settled, const Context& context,
                Result& result) {
  const Certificate& certificate = settled.certificate;
  const std::string claimed = to_string(certificate.verdict);
  if (certificate.verdict == Verdict::refused) {
    const Refused refusal("the model was refused, so there is nothing to verify: " +
                          certificate.reason);
    result.summary = {{"claimed", claimed},
                      {"verified", false},
                      {"verdict", claimed},
                      {"reason", std::string(refusal.what())}};
    throw refusal;
  }
  const Verification found = verification(request, settled, context);
  result.table = check_columns().table(found.checks);
  std::string failed;
  for (const Check& check : found.checks) {
    if (!check.passed) failed += (failed.empty() ? "" : ", ") + check.name;
  }
  std::string reason;
  if (!failed.empty()) {
    reason = "the certificate does not hold: " + failed;
    if (found.verdict != certificate.verdict) {
      reason += fmt::format(" (claimed {}, found {})", claimed, to_string(found.verdict));
    }
  } else if (certificate.verdict != Verdict::certified) {
    reason = "what is claimed holds, but it is no certificate: " + certificate.reason;
  }
  result.summary = {{"claimed", claimed},
                    {"found", to_string(found.verdict)},
                    {"verified", failed.empty()},
                    {"verdict", failed.empty() ? claimed : to_string(Verdict::refused)},
                    {"reason", reason}};
  if (!failed.empty()) throw Refused(reason);
  if (!reason.empty()) result.unconverged(reason);
}

Cost verify_cost(const Verify&, const SettledVerify& settled) {
  const double bytes = 9.0 * settled.examples.entries();
  return {"Everything that the certificate claims is computed again from the forward map alone.",
          3e-7 * bytes, 3.0 * bytes + 1e8};
}

}  // namespace

VerbOf<Verify> Verify::verb() {
  Definition<Verify, SettledVerify> d;
  d.family = "mha";
  d.name = "verify";
  d.summary = "checks the certificate of a learned layer against the examples";
  d.details = prose(R"(
      The check shares nothing with the learner but the forward map, and computes every number
      of the certificate again: that examples and layers are the ones meant, that held-out
      examples repeat no other, residuals, every single label, the rank of the Jacobian by
      finite differences, slabs and their singular gaps by its own least squares, and the proof
      that a wrong tuple of heads cannot explain the labels. Slabs are looked for in all
      examples, so that none can be left out. From these the verdict is derived
      again and compared with the one claimed. Values and bounds are exact to rounding and have
      no errors. The exit code is 0 when the model claims to be certified and every check
      passes.)");
  d.fields = model_fields<Verify>();
  d.rows = {{"", check_columns().list()}};
  d.method = 4;
  d.examples = {"mha verify examples --model model"};
  d.settle = settle_verify;
  d.cost = verify_cost;
  d.run = run_verify;
  return d.verb();
}

}  // namespace onset::mha
