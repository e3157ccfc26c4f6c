#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "mha/verbs/files.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

Json rows_json(const std::vector<CertifiedRow>& rows) {
  Json list = Json::array();
  for (const CertifiedRow& row : rows) list.push_back({row.example, row.query});
  return list;
}

std::vector<CertifiedRow> read_rows(const Json& list) {
  std::vector<CertifiedRow> rows;
  for (const Json& row : list) {
    rows.push_back({row.at(0).get<std::uint32_t>(), row.at(1).get<int>()});
  }
  return rows;
}

Verdict read_verdict(const std::string& word) {
  for (const Verdict verdict : {Verdict::certified, Verdict::recovered, Verdict::refused}) {
    if (to_string(verdict) == word) return verdict;
  }
  throw std::runtime_error("verdict '" + word + "' is unknown");
}

Json evidence_json(const Learned& learned) {
  const Evidence& e = learned.evidence;
  Json json;
  json["gap"] = e.gap;
  json["singular_ratios"] = e.ratios;
  json["inflation"] = e.inflation;
  json["hull_bound"] = e.hull_bound;
  json["support"] = {
      {"along", e.support_along}, {"across", e.support_across}, {"sine", e.support_sine}};
  json["tuple_tau"] = e.tuple_tau;
  json["jacobian"] = {{"rank", e.jacobian_rank}, {"smallest", e.jacobian_smallest}};
  json["features_smallest"] = e.features_smallest;
  json["slabs"] = {{"checked", e.slabs_checked}, {"violated", e.slabs_violated}};
  return json;
}

}  // namespace

std::string certificate_text(const Learned& learned, const Examples& examples) {
  const Certificate certificate = certificate_of(learned, examples);
  Json json;
  json["schema"] = schema;
  json["verdict"] = to_string(certificate.verdict);
  json["reason"] = certificate.reason;
  json["examples"] = {{"count", examples.count},
                      {"tokens", examples.tokens},
                      {"dim", examples.dim},
                      {"digest", fmt::format("{:016x}", certificate.digest)}};
  json["heads"] = certificate.heads;
  json["residual"] = {{"held_out", certificate.residual}, {"geometry", learned.geometry_residual}};
  json["evidence"] = evidence_json(learned);
  json["held_out"] = certificate.held_out;
  json["rows"] = rows_json(certificate.rows);
  const RejectedTuple& tuple = certificate.rejected;
  json["rejected"] = {{"output", tuple.output},
                      {"bound", tuple.bound},
                      {"theta", tuple.thetas},
                      {"rows", rows_json(tuple.rows)},
                      {"multipliers", tuple.multipliers}};
  return json.dump(1) + "\n";
}

Certificate read_certificate(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "certificate.json";
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError(path.string(), "cannot be opened");
  try {
    const Json json = Json::parse(in);
    if (json.at("schema").get<int>() != schema) throw std::runtime_error("unknown schema");
    Certificate out;
    out.verdict = read_verdict(json.at("verdict").get<std::string>());
    out.reason = json.at("reason").get<std::string>();
    out.digest = std::stoull(json.at("examples").at("digest").get<std::string>(), nullptr, 16);
    out.heads = json.at("heads").get<int>();
    out.residual = json.at("residual").at("held_out").get<double>();
    out.held_out = json.at("held_out").get<std::vector<std::uint32_t>>();
    out.rows = read_rows(json.at("rows"));
    const Json& tuple = json.at("rejected");
    out.rejected = {tuple.at("theta").get<std::vector<double>>(), tuple.at("output").get<int>(),
                    tuple.at("bound").get<double>(), read_rows(tuple.at("rows")),
                    tuple.at("multipliers").get<std::vector<double>>()};
    return out;
  } catch (const std::exception& error) {
    throw IoError(path.string(), fmt::format("is not a certificate: {}", error.what()));
  }
}

}  // namespace onset::mha
