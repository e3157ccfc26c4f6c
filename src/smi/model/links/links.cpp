#include "smi/model/links.hpp"

#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "onset/smi/model/link.hpp"
#include "smi/model/links/attention_link.hpp"
#include "smi/model/links/committee_link.hpp"
#include "smi/model/links/norm_link.hpp"
#include "smi/model/links/one_field_links.hpp"
#include "smi/model/links/product_link.hpp"
#include "smi/model/links/sign_links.hpp"
#include "smi/model/links/staircase_link.hpp"

namespace onset::smi {
namespace {

using Maker = std::unique_ptr<SequenceModel> (*)();

struct Entry {
  LinkInfo info;
  Maker make;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"linear", "y = z", "z", "z1"}, [] { return make_model(LinearLink{}); }},
      {{"square", "y = z^2, phase retrieval", "z", "z1^2"},
       [] { return make_model(SquareLink{}); }},
      {{"he4", "y = z^4 - 6 z^2 + 3, the fourth Hermite polynomial", "z", "He4(z1)"},
       [] { return make_model(Hermite4Link{}); }},
      {{"sign", "y = sign(z), the perceptron", "z", "sign(z1)"},
       [] { return make_model(SignProductLink{1}); }},
      {{"relu", "y = max(z, 0)", "z", "relu(z1)"}, [] { return make_model(ReluLink{}); }},
      {{"product", "y = z1 z2", "(z1, z2)", "z1*z2"},
       [] {
         return make_model(ProductLink{{1, {2}}});
       }},
      {{"sign-product", "y = sign(z1 z2)", "(z1, z2)", "sign(z1*z2)"},
       [] { return make_model(SignProductLink{2}); }},
      {{"parity3", "y = sign(z1 z2 z3), hard at any number of samples per dimension",
        "(z1, z2, z3)", "sign(z1*z2*z3)"},
       [] { return make_model(SignProductLink{3}); }},
      {{"norm", "y = z1^2 + z2^2", "(z1, z2)", "z1^2+z2^2"}, [] { return make_model(NormLink{}); }},
      {{"committee", "y = sign(z1) + sign(z2)", "(z1 + z2) / sqrt(2); (z1 - z2) / sqrt(2)",
        "sign(z1)+sign(z2)"},
       [] { return make_model(CommitteeLink{}); }},
      {{"staircase", "y = z1^2 + sign(z1 z2 z3), the second block easy only given the first",
        "z1; (z2, z3)", "z1^2+sign(z1*z2*z3)"},
       [] { return make_model(StaircaseLink{}); }},
      {{"attention", "y = softmax(z z^T), one layer of attention, two tokens", "z, two tokens", ""},
       [] { return make_model(AttentionLink{2}); }},
      {{"token-product", "y = z(1) z(2), two tokens seen along one direction", "z, two tokens",
        "z1_1*z1_2"},
       [] {
         return make_model(ProductLink{{2, {1}}});
       }},
  };
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const LinkInfo& link : links()) out.push_back(link.name);
  return out;
}

}  // namespace

const std::vector<LinkInfo>& links() {
  static const std::vector<LinkInfo> all = [] {
    std::vector<LinkInfo> out;
    for (const Entry& entry : entries()) out.push_back(entry.info);
    return out;
  }();
  return all;
}

std::unique_ptr<SequenceModel> link_model(std::string_view name) {
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry.make();
  }
  const std::vector<std::string> known = names();
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  throw InvalidArgument("link", "'" + std::string(name) + "' is not a link" +
                                    suggestion(name, known) + "; allowed: " + list);
}

}  // namespace onset::smi
