#include "smi/verbs/overlap_columns.hpp"

#include <algorithm>
#include <string>

namespace onset::smi {
namespace {

bool all_rank_one(const FieldShape& shape) {
  return std::all_of(shape.rank.begin(), shape.rank.end(), [](int r) { return r == 1; });
}

}  // namespace

std::vector<Column> overlap_columns(const FieldShape& shape) {
  std::vector<Column> columns;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::string n = std::to_string(b + 1);
    const std::string meaning = "overlap of layer " + n + ": 0 nothing, 1 exact";
    if (all_rank_one(shape)) {
      columns.push_back({"Q" + n + n, meaning, ""});
      continue;
    }
    for (int p = 1; p <= shape.rank[b]; ++p) {
      for (int q = p; q <= shape.rank[b]; ++q) {
        columns.push_back({"Q" + n + "_" + std::to_string(p) + std::to_string(q), meaning, ""});
      }
    }
  }
  return columns;
}

}  // namespace onset::smi
