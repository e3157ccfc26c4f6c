#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "mha/verify/parts.hpp"
#include "onset/core/error.hpp"

namespace onset::mha::verifier {
namespace {

[[noreturn]] void wrong(const std::string& field, const std::string& message) {
  throw InvalidArgument(field, message);
}

void require_row(const CertifiedRow& row, const Examples& examples, const std::string& field) {
  if (row.example >= examples.count || row.query < 0 || row.query >= examples.tokens) {
    wrong(field, fmt::format("[{}, {}] is no query of the {} examples of {} tokens", row.example,
                             row.query, examples.count, examples.tokens));
  }
}

void require_slabs(const std::vector<CertifiedSlab>& slabs, const Examples& examples,
                   const char* name) {
  const auto place = [](const CertifiedSlab& s) {
    return std::tuple(s.row.example, s.row.query, s.key, s.reference);
  };
  std::vector<decltype(place({}))> seen;
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    const std::string field = fmt::format("{}[{}]", name, i);
    require_row(slabs[i].row, examples, field);
    for (const int key : {slabs[i].key, slabs[i].reference}) {
      if (key < 0 || key >= examples.tokens) wrong(field, fmt::format("there is no key {}", key));
    }
    seen.push_back(place(slabs[i]));
  }
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    wrong(name, fmt::format("[{}, {}, {}, {}] is there twice", std::get<0>(*twice),
                            std::get<1>(*twice), std::get<2>(*twice), std::get<3>(*twice)));
  }
}

/// Sizes cannot be negative, however little is left.
void require_sizes(const Certificate& certificate) {
  for (const auto& [name, size] : {std::pair("residual.held_out", certificate.residual),
                                   std::pair("residual.geometry", certificate.geometry_residual),
                                   std::pair("residual.all", certificate.residual_all),
                                   std::pair("evidence.gap", certificate.gap),
                                   std::pair("counted.gap", certificate.counted.gap),
                                   std::pair("rejected.bound", certificate.rejected.bound)}) {
    if (!(size >= 0.0) || !std::isfinite(size)) {
      wrong(name, fmt::format("{} is not allowed; allowed: numbers from 0", size));
    }
  }
}

void require_held_out(const std::vector<std::uint32_t>& held_out, const Examples& examples) {
  if (held_out.empty()) wrong("held_out", "is empty");
  if (held_out.back() >= examples.count) {
    wrong("held_out", fmt::format("there is no example {}", held_out.back()));
  }
  const auto place =
      std::adjacent_find(held_out.begin(), held_out.end(), std::greater_equal<std::uint32_t>());
  if (place != held_out.end()) {
    wrong("held_out", fmt::format("{} comes after {}; allowed: increasing numbers of examples",
                                  place[1], place[0]));
  }
}

void require_counted(const CountedHeads& counted, const Examples& examples, int heads) {
  if (counted.heads < heads) {
    wrong("counted.heads", fmt::format("{}, but the layer has {}", counted.heads, heads));
  }
  if (counted.heads * static_cast<double>(examples.tokens - 1) > examples.dim) {
    wrong("counted.heads",
          fmt::format("m(k-1) > d: {} heads with {} tokens cannot be seen in dimension {}",
                      counted.heads, examples.tokens, examples.dim));
  }
  const auto size = static_cast<std::size_t>(examples.dim) * static_cast<std::size_t>(examples.dim);
  if (counted.w.size() != size) {
    wrong("counted.w", fmt::format("has {} numbers; allowed: {}", counted.w.size(), size));
  }
  require_slabs(counted.slabs, examples, "counted.slabs");
}

/// The proof may be missing, but only as a whole.
void require_tuple(const RejectedTuple& tuple, const Examples& examples, int heads) {
  const auto size = static_cast<std::size_t>(heads) * static_cast<std::size_t>(examples.dim) *
                    static_cast<std::size_t>(examples.dim);
  if (tuple.rows.size() != tuple.multipliers.size()) {
    wrong("rejected.multipliers", "not as many as rejected.rows");
  }
  if (tuple.rows.empty() && !tuple.thetas.empty()) {
    wrong("rejected.rows", "is empty: rejected.theta needs the proof that it is rejected");
  }
  if (!tuple.rows.empty() && tuple.thetas.size() != size) {
    wrong("rejected.theta", fmt::format("has {} numbers; allowed: {}", tuple.thetas.size(), size));
  }
  if (tuple.output < 0 || tuple.output >= examples.dim) {
    wrong("rejected.output", fmt::format("there is no output {}", tuple.output));
  }
  for (std::size_t i = 0; i < tuple.rows.size(); ++i) {
    require_row(tuple.rows[i], examples, fmt::format("rejected.rows[{}]", i));
  }
}

}  // namespace

void require_sense(const Certificate& certificate, const Model& model, const Examples& examples) {
  const Layer& layer = model.layer;
  if (layer.heads < 1 || layer.heads != certificate.heads) {
    wrong("heads", fmt::format("{}, but the layer has {}", certificate.heads, layer.heads));
  }
  if (layer.dim != examples.dim || model.geometry.dim != examples.dim) {
    wrong("dim", fmt::format("examples of dimension {} and layers of {} and {}", examples.dim,
                             layer.dim, model.geometry.dim));
  }
  if (examples.tokens < 2) wrong("examples.tokens", "one token shows nothing of theta");
  if ((certificate.verdict == Verdict::certified) != certificate.reason.empty()) {
    wrong("reason", "allowed: none where certified, and one where not");
  }
  require_sizes(certificate);
  require_held_out(certificate.held_out, examples);
  require_counted(certificate.counted, examples, layer.heads);
  require_slabs(certificate.slabs, examples, "slabs");
  require_tuple(certificate.rejected, examples, certificate.counted.heads);
}

}  // namespace onset::mha::verifier
