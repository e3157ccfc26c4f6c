#include "mha/model/examples.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

/// Writes one word per token, sorted, for the smaller of X and -X.
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

/// The bits of the tokens times a sign, in the order of these bits; both zeros have the same.
std::vector<std::vector<std::uint64_t>> sorted_words(const double* input, int tokens, int dim,
                                                     double sign) {
  std::vector<std::vector<std::uint64_t>> out(static_cast<std::size_t>(tokens));
  for (auto& token : out) {
    for (int c = 0; c < dim; ++c) {
      token.push_back(std::bit_cast<std::uint64_t>(sign * *input++ + 0.0));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// The same as canonical_words for real inputs: one word per entry.
void canonical_words(const double* input, int tokens, int dim, std::uint64_t* out) {
  const auto words =
      std::min(sorted_words(input, tokens, dim, 1.0), sorted_words(input, tokens, dim, -1.0));
  for (const auto& token : words) out = std::copy(token.begin(), token.end(), out);
}

/// The examples' orbits as words, and the examples in the order of their orbits.
class Orbits {
 public:
  explicit Orbits(const Examples& examples)
      : size_(examples.real() ? examples.width() : static_cast<std::size_t>(examples.tokens)),
        words_(examples.count * size_),
        order_(examples.count) {
    for (std::size_t n = 0; n < examples.count; ++n) {
      const std::size_t first = n * examples.width();
      if (examples.real()) {
        canonical_words(&examples.real_x[first], examples.tokens, examples.dim, &words_[n * size_]);
      } else {
        canonical_words(&examples.x[first], examples.tokens, examples.dim, &words_[n * size_]);
      }
    }
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      const auto [left, right] = std::mismatch(key(a), key(a) + size_, key(b));
      return left == key(a) + size_ ? a < b : *left < *right;
    });
  }
  [[nodiscard]] bool same(std::uint32_t a, std::uint32_t b) const {
    return std::equal(key(a), key(a) + size_, key(b));
  }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  [[nodiscard]] const std::uint64_t* key(std::uint32_t n) const {
    return words_.data() + n * size_;
  }

  std::size_t size_;  // words of one example
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> order_;
};

/// The tokens of an example, times a sign.
std::vector<std::vector<double>> signed_tokens(const Examples& examples, std::uint32_t n,
                                               int sign) {
  std::vector<double> x(examples.width());
  examples.copy_input(n, x.data());
  const double* next = x.data();
  std::vector<std::vector<double>> out(static_cast<std::size_t>(examples.tokens));
  for (auto& token : out) {
    for (int c = 0; c < examples.dim; ++c) token.push_back(sign * *next++);
  }
  return out;
}

/// The squared difference of the labels of two examples of one orbit, where equal tokens are
/// compared.
double label_difference(const Examples& examples, std::uint32_t a, std::uint32_t b) {
  const auto left = signed_tokens(examples, a, 1);
  auto right = signed_tokens(examples, b, 1);
  int sign = 1;
  if (!std::is_permutation(left.begin(), left.end(), right.begin())) {
    right = signed_tokens(examples, b, -1);
    sign = -1;
  }
  const auto dim = static_cast<std::size_t>(examples.dim);
  double sum = 0.0;
  for (std::size_t t = 0; t < left.size(); ++t) {
    const auto place = std::find(right.begin(), right.end(), left[t]);
    const auto other = static_cast<std::size_t>(place - right.begin());
    place->clear();  // it is taken, so that each of several equal tokens has its own partner
    const double* y = &examples.y[a * examples.width() + t * dim];
    const double* z = &examples.y[b * examples.width() + other * dim];
    for (std::size_t c = 0; c < dim; ++c) sum += (y[c] - sign * z[c]) * (y[c] - sign * z[c]);
  }
  return sum;
}

/// The number of examples per unit of parallel work.
constexpr std::size_t per_block = 512;

}  // namespace

void Examples::copy_input(std::size_t example, double* out) const {
  if (real()) {
    std::copy_n(real_x.data() + example * width(), width(), out);
  } else {
    std::copy_n(x.data() + example * width(), width(), out);
  }
}

void forward_one(const Layer& layer, const Examples& examples, std::size_t example, double* out) {
  const std::size_t first = example * examples.width();
  if (examples.real()) {
    forward_one(layer, &examples.real_x[first], examples.tokens, out);
  } else {
    forward_one(layer, &examples.x[first], examples.tokens, out);
  }
}

std::vector<double> forward(const Layer& layer, const Examples& examples, const Context& context) {
  std::vector<double> out(examples.count * examples.width());
  const std::size_t blocks = (examples.count + per_block - 1) / per_block;
  numerics::parallel_for(context, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(examples.count, (block + 1) * per_block);
    for (std::size_t n = block * per_block; n < end; ++n) {
      forward_one(layer, examples, n, &out[n * examples.width()]);
    }
  });
  return out;
}

double distinct_inputs(int tokens, int dim) {
  // The number of multisets of `size` things out of `kinds`.
  const auto multisets = [](double kinds, int size) {
    double count = 1.0;
    for (int i = 0; i < size; ++i) count *= (kinds + i) / (i + 1);
    return count;
  };
  // Multisets of tokens that a change of sign maps to themselves consist of pairs x, -x; all others
  // come in twos.
  const double words = std::exp2(dim);
  const double symmetric = tokens % 2 == 0 ? multisets(words / 2, tokens / 2) : 0.0;
  return std::round((multisets(words, tokens) + symmetric) / 2);
}

std::vector<std::uint32_t> distinct_examples(const Examples& examples) {
  const Orbits orbits(examples);
  std::vector<std::uint32_t> order = orbits.order();
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return orbits.same(a, b); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::sort(order.begin(), order.end());
  return order;
}

Repeats compare_repeats(const Examples& examples, double rounding) {
  const Orbits orbits(examples);
  double size = 0.0;
  for (const double y : examples.y) size += y * y;
  size /= static_cast<double>(std::max<std::size_t>(1, examples.count));  // the size of one example
  Repeats out;
  out.first = static_cast<std::uint32_t>(examples.count);
  double sum = 0.0;
  for (std::size_t i = 1, leader = 0; i < orbits.order().size(); ++i) {
    const std::uint32_t n = orbits.order()[i];
    if (!orbits.same(orbits.order()[leader], n)) {
      leader = i;
      continue;
    }
    const double square = label_difference(examples, orbits.order()[leader], n);
    sum += square;
    ++out.count;
    if (square <= rounding * rounding * size) continue;
    ++out.different;
    out.first = std::min(out.first, n);
  }
  if (out.count > 0) out.difference = std::sqrt(sum / (static_cast<double>(out.count) * size));
  return out;
}

}  // namespace onset::mha
