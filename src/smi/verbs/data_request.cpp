#include "smi/verbs/data_request.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace onset::smi {

bool same_model(const std::string& name, const Value& given, const Value& said, int layers) {
  if (name == "token-correlation") {
    const auto plain = [](const Value& value) {
      const auto& text = std::get<std::string>(value);
      return text.starts_with("equi:") ? text.substr(5) : text;
    };
    return plain(given) == plain(said);
  }
  if (name != "skip" && name != "rank") return false;
  const auto& a = std::get<std::vector<double>>(given);
  const auto& b = std::get<std::vector<double>>(said);
  const auto of_layer = [](const std::vector<double>& list, std::size_t layer) {
    return list.at(list.size() == 1 ? 0 : std::min(layer, list.size() - 1));
  };
  const int compared = name == "skip" ? layers - 1 : layers;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(compared); ++layer) {
    if (of_layer(a, layer) != of_layer(b, layer)) return false;
  }
  return true;
}

void refuse_old_labels(const std::string& folder, const std::string& link) {
  for (const char* changed : {"square", "he4", "norm"}) {
    if (link != changed) continue;
    throw IoError((std::filesystem::path(folder) / "Y.npy").string(), prose(R"(
            was written by an earlier version, which filed other numbers than the labels y of {};
            allowed: data of this version of 'smi generate')",
                                                                            link));
  }
}

bool is_token_default(const io::RunIdentity& identity, const std::string& link) {
  if (identity.method >= (identity.command == "smi generate" ? 3 : 7)) return false;
  const std::vector<std::string> words = link_words();
  if (std::find(words.begin(), words.end(), link) != words.end()) return false;
  const auto tokens = identity.parameters.find("tokens");
  return tokens != identity.parameters.end() && to_text(tokens->second) == "2";
}

}  // namespace onset::smi
