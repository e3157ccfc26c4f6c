#include "mha/verbs/certificate_file.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"
#include "io/read_file.hpp"
#include "mha/verbs/certificate_field.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr int schema = 6;

std::string hexadecimal(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

Json rows_json(const std::vector<CertifiedRow>& rows) {
  Json list = Json::array();
  for (const CertifiedRow& row : rows) list.push_back({row.example, row.query});
  return list;
}

Json slabs_json(const std::vector<CertifiedSlab>& slabs) {
  Json list = Json::array();
  for (const CertifiedSlab& slab : slabs) {
    list.push_back({slab.row.example, slab.row.query, slab.key, slab.reference});
  }
  return list;
}

CertifiedRow read_row(const Field& row) {
  return {row.at(0).whole<std::uint32_t>(), row.at(1).whole<int>()};
}

std::vector<CertifiedRow> read_rows(const Field& list) {
  return list.each<CertifiedRow>([](const Field& row) {
    row.require_size(2);
    return read_row(row);
  });
}

std::vector<CertifiedSlab> read_slabs(const Field& list) {
  return list.each<CertifiedSlab>([](const Field& slab) {
    slab.require_size(4);
    return CertifiedSlab{read_row(slab), slab.at(2).whole<int>(), slab.at(3).whole<int>()};
  });
}

std::vector<double> read_numbers(const Field& list) {
  return list.each<double>([](const Field& number) { return number.real(); });
}

Verdict read_verdict(const Field& field) {
  const std::string word = field.text();
  for (const Verdict verdict : {Verdict::certified, Verdict::recovered, Verdict::refused}) {
    if (to_string(verdict) == word) return verdict;
  }
  field.fail(
      fmt::format("{} is not allowed; allowed: certified, recovered, refused", in_quotes(word)));
}

Inputs read_inputs(const Field& field) {
  const std::string word = field.text();
  for (const Inputs inputs : {Inputs::boolean, Inputs::gaussian}) {
    if (to_string(inputs) == word) return inputs;
  }
  field.fail(fmt::format("{} is not allowed; allowed: boolean, gaussian", in_quotes(word)));
}

/// What every certificate has, also that of a refusal.
Certificate read_head(const Field& root) {
  if (root["schema"].whole<int>() != schema) {
    root["schema"].fail(fmt::format("allowed: {}", schema));
  }
  Certificate out;
  out.verdict = read_verdict(root["verdict"]);
  out.reason = root["reason"].text();
  const Field examples = root["examples"];
  examples.require_keys({"count", "tokens", "dim", "inputs", "digest"});
  out.count = examples["count"].whole<std::uint32_t>();
  out.tokens = examples["tokens"].whole<int>();
  out.dim = examples["dim"].whole<int>();
  out.inputs = read_inputs(examples["inputs"]);
  out.digest = examples["digest"].digest();
  return out;
}

void read_claims(const Field& root, Certificate& out) {
  const Field model = root["model"];
  model.require_keys({"layer", "geometry"});
  out.layer_digest = model["layer"].digest();
  out.geometry_digest = model["geometry"].digest();
  out.heads = root["heads"].whole<int>();
  const Field residual = root["residual"];
  residual.require_keys({"held_out", "geometry", "all"});
  out.residual = residual["held_out"].real();
  out.geometry_residual = residual["geometry"].real();
  out.residual_all = residual["all"].real();
  const Field evidence = root["evidence"];
  evidence.require_keys({"gap", "jacobian_rank", "slabs_proved", "slabs_violated", "disagreeing"});
  out.gap = evidence["gap"].real();
  out.jacobian_rank = evidence["jacobian_rank"].whole<int>();
  out.slabs_proved = evidence["slabs_proved"].whole<int>();
  out.slabs_violated = evidence["slabs_violated"].whole<int>();
  out.disagreeing = evidence["disagreeing"].whole<std::uint32_t>();
  out.held_out = root["held_out"].each<std::uint32_t>(
      [](const Field& example) { return example.whole<std::uint32_t>(); });
  const Field counted = root["counted"];
  counted.require_keys({"heads", "gap", "w", "slabs"});
  out.counted = {counted["heads"].whole<int>(), counted["gap"].real(), read_numbers(counted["w"]),
                 read_slabs(counted["slabs"])};
  out.slabs = read_slabs(root["slabs"]);
  const Field tuple = root["rejected"];
  tuple.require_keys({"output", "bound", "theta", "rows", "multipliers"});
  out.rejected = {read_numbers(tuple["theta"]), tuple["output"].whole<int>(), tuple["bound"].real(),
                  read_rows(tuple["rows"]), read_numbers(tuple["multipliers"])};
}

}  // namespace

std::string certificate_text(const Certificate& certificate) {
  Json json;
  json["schema"] = schema;
  json["verdict"] = to_string(certificate.verdict);
  json["reason"] = certificate.reason;
  json["examples"] = {{"count", certificate.count},
                      {"tokens", certificate.tokens},
                      {"dim", certificate.dim},
                      {"inputs", to_string(certificate.inputs)},
                      {"digest", hexadecimal(certificate.digest)}};
  if (certificate.verdict == Verdict::refused) return io::json_lines(json, 1);
  json["model"] = {{"layer", hexadecimal(certificate.layer_digest)},
                   {"geometry", hexadecimal(certificate.geometry_digest)}};
  json["heads"] = certificate.heads;
  json["residual"] = {{"held_out", certificate.residual},
                      {"geometry", certificate.geometry_residual},
                      {"all", certificate.residual_all}};
  json["evidence"] = {{"gap", certificate.gap},
                      {"jacobian_rank", certificate.jacobian_rank},
                      {"slabs_proved", certificate.slabs_proved},
                      {"slabs_violated", certificate.slabs_violated},
                      {"disagreeing", certificate.disagreeing}};
  json["held_out"] = certificate.held_out;
  json["counted"] = {{"heads", certificate.counted.heads},
                     {"gap", certificate.counted.gap},
                     {"w", certificate.counted.w},
                     {"slabs", slabs_json(certificate.counted.slabs)}};
  json["slabs"] = slabs_json(certificate.slabs);
  const RejectedTuple& tuple = certificate.rejected;
  json["rejected"] = {{"output", tuple.output},
                      {"bound", tuple.bound},
                      {"theta", tuple.thetas},
                      {"rows", rows_json(tuple.rows)},
                      {"multipliers", tuple.multipliers}};
  return io::json_lines(json, 1);
}

Certificate read_certificate(const std::filesystem::path& folder) {
  const std::string path = certificate_path(folder);
  const std::string text = io::read_file(path);
  Json json;
  std::string repeated;
  try {
    json = io::parse_json(text);
    repeated = io::repeated_name(text);
  } catch (const Json::exception& error) {
    throw IoError(path, fmt::format("is not JSON: {}", io::plain_reason(error)));
  }
  if (!repeated.empty()) throw IoError(path, fmt::format("has {} twice", in_quotes(repeated)));
  const Field root(json, path);
  Certificate out = read_head(root);
  if (out.verdict == Verdict::refused) {
    root.require_keys({"schema", "verdict", "reason", "examples"});
    return out;
  }
  root.require_keys({"schema", "verdict", "reason", "examples", "model", "heads", "residual",
                     "evidence", "held_out", "counted", "slabs", "rejected"});
  read_claims(root, out);
  return out;
}

std::string certificate_path(const std::filesystem::path& folder) {
  return (folder / "certificate.json").string();
}

}  // namespace onset::mha
