#pragma once

#include <string>

#include "core/printable.hpp"
#include "core/prose.hpp"
#include "io/data_manifest.hpp"
#include "onset/core/error.hpp"
#include "smi/verbs/data_folder.hpp"
#include "smi/verbs/model_fields.hpp"

/// What requests on data of one's own (`data`) have in common.
namespace onset::smi {

/// The fields of the model, which data may say too.
template <class Request>
[[nodiscard]] Fields<Request> data_model_fields() {
  Fields<Request> fields = model_fields<Request>();
  for (const auto& [name, value] : usual_model()) {
    std::string& text = fields.edit(name).text;
    if (name == "tokens") {
      text.insert(text.size() - 1, " or said by the data");
    } else {
      text += " " + to_text(value) + " unless given or said by the data.";
    }
  }
  return fields;
}

/// Whether two ways to write a field of the model mean the same: one number for all layers or one
/// for each (after the last there is no skip), a correlation with its form or without.
[[nodiscard]] bool same_model(const std::string& name, const Value& given, const Value& said,
                              int layers);

/// Earlier versions filed other numbers than y for some links, which would look like a divergence.
/// Throws IoError.
void refuse_old_labels(const std::string& folder, const std::string& link);

/// Whether a manifest of an earlier version says the default of tokens where the link is typed,
/// which then meant those that it reads.
[[nodiscard]] bool is_token_default(const io::RunIdentity& identity, const std::string& link);

/// Fills the model from what the data say, if they have a manifest.
template <class Request>
io::FromManifest settle_with_data(Request& request) {
  if (request.dim) {
    throw InvalidArgument("dim", "comes from the data; allowed: leaving it out with `data`");
  }
  if (request.runs.value_or(1) != 1) {
    throw InvalidArgument("runs", prose(R"(
        {} runs on one data set would all be the same; allowed: 1 with `data`)",
                                        *request.runs));
  }
  request.runs = 1;
  if (request.token_correlation) {
    request.token_correlation = read_correlation(*request.token_correlation);
  }
  io::FromManifest found = io::take_from_manifest(
      *request.data, {"smi generate", "smi amp"}, model_fields<Request>(), request,
      [&request](const std::string& name, const Value& given, const Value& said) {
        return same_model(name, given, said, request.layers.value_or(Thresholds{}.layers));
      });
  if (!found.identity) return found;
  // No manifest of others names a file to be read.
  const std::string correlation = request.token_correlation.value_or("none");
  if (!is_correlation(correlation)) {
    throw IoError(found.file, "has the value " + in_quotes(correlation) +
                                  " of 'token-correlation'; allowed: what onset writes");
  }
  if (found.identity->method < 2) refuse_old_labels(*request.data, request.link.value_or("none"));
  if (is_token_default(*found.identity, request.link.value_or("none"))) request.tokens.reset();
  return found;
}

}  // namespace onset::smi
