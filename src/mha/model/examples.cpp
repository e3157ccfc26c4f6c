#include "onset/mha/model/examples.hpp"

#include <algorithm>
#include <numeric>

namespace onset::mha {
namespace {

/// One word per token, sorted; of X and -X the smaller.
void canonical_words(const std::int8_t* input, int tokens, int dim, std::uint64_t* out) {
  const auto count = static_cast<std::size_t>(tokens);
  std::vector<std::uint64_t> flipped(count);
  const std::uint64_t all = dim == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << dim) - 1;
  for (std::size_t a = 0; a < count; ++a) {
    std::uint64_t word = 0;
    for (int c = 0; c < dim; ++c) word = (word << 1) | (*input++ > 0 ? 1U : 0U);
    out[a] = word;
    flipped[a] = ~word & all;
  }
  std::sort(out, out + count);
  std::sort(flipped.begin(), flipped.end());
  if (std::lexicographical_compare(flipped.begin(), flipped.end(), out, out + count)) {
    std::copy(flipped.begin(), flipped.end(), out);
  }
}

}  // namespace

std::vector<std::uint32_t> distinct_examples(const Examples& examples) {
  const auto tokens = static_cast<std::size_t>(examples.tokens);
  std::vector<std::uint64_t> words(examples.count * tokens);
  for (std::size_t n = 0; n < examples.count; ++n) {
    canonical_words(&examples.x[n * examples.width()], examples.tokens, examples.dim,
                    &words[n * tokens]);
  }
  const auto key = [&](std::uint32_t n) { return words.data() + n * tokens; };
  std::vector<std::uint32_t> order(examples.count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto [left, right] = std::mismatch(key(a), key(a) + tokens, key(b));
    return left == key(a) + tokens ? a < b : *left < *right;
  });
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return std::equal(key(a), key(a) + tokens, key(b));
  };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace onset::mha
