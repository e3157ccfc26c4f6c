#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <unordered_set>

#include "mha/verify/parts.hpp"

namespace onset::mha::verifier {
namespace {

/// Multipliers of a proof may miss orthogonality by this much.
constexpr double proof_rounding = 1e-7;
/// One example in this many may be left out of a residual.
constexpr std::size_t far_off_share = 20;
/// This share of the distinct examples is held out,
constexpr double held_out_share = 0.05;
/// but no more than these.
constexpr std::size_t max_held_out = 500;

double squared_distance(const double* a, const double* b, std::size_t size) {
  double sum = 0.0;
  for (std::size_t e = 0; e < size; ++e) sum += (a[e] - b[e]) * (a[e] - b[e]);
  return sum;
}

/// One entry as text that tells it from all others.
std::string entry_word(double value, bool real) {
  if (!real) return value > 0.0 ? "+" : "-";
  const double same_zero = value + 0.0;
  std::string word(sizeof same_zero, ' ');
  std::memcpy(word.data(), &same_zero, sizeof same_zero);
  return word;
}

/// The tokens of an example in order, with one sign for all.
std::string sorted_tokens(const Examples& examples, std::size_t example, double sign) {
  const auto dim = static_cast<std::size_t>(examples.dim);
  std::vector<double> x(examples.width());
  examples.copy_input(example, x.data());
  std::vector<std::string> words(static_cast<std::size_t>(examples.tokens));
  for (std::size_t e = 0; e < x.size(); ++e) {
    words[e / dim] += entry_word(sign * x[e], examples.real());
  }
  std::sort(words.begin(), words.end());
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

}  // namespace

double relative_residual(const Layer& layer, const Examples& examples,
                         const std::vector<std::uint32_t>& which) {
  const std::size_t width = examples.width();
  const std::vector<double> zero(width);
  std::vector<double> out(width);
  double left = 0.0;
  double total = 0.0;
  for (const std::uint32_t n : which) {
    forward_one(layer, examples, n, out.data());
    left += squared_distance(out.data(), &examples.y[n * width], width);
    total += squared_distance(zero.data(), &examples.y[n * width], width);
  }
  return std::sqrt(left / total);
}

std::vector<std::uint32_t> without_far_off(const Layer& layer, const Examples& examples,
                                           const std::vector<std::uint32_t>& which, double times,
                                           double rounding) {
  const std::size_t few = which.size() / far_off_share;
  if (few == 0) return which;
  const std::size_t width = examples.width();
  const std::vector<double> zero(width);
  std::vector<double> out(width);
  std::vector<double> off;
  double size = 0.0;
  for (const std::uint32_t n : which) {
    forward_one(layer, examples, n, out.data());
    off.push_back(squared_distance(out.data(), &examples.y[n * width], width));
    size += squared_distance(out.data(), zero.data(), width) / static_cast<double>(which.size());
  }
  std::vector<double> sorted = off;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double usual =
      std::max(rounding * rounding * size, times * times * sorted[sorted.size() / 2]);
  // What is above the largest that must stay is left out, if it is far off.
  const double bound = std::max(usual, sorted[few]);
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (off[i] <= bound) kept.push_back(which[i]);
  }
  return kept;
}

std::size_t labels_not_given(const Layer& layer, const Examples& examples, double tolerance) {
  const std::size_t width = examples.width();
  const std::vector<double> zero(width);
  std::vector<double> out(width);
  std::vector<double> off(examples.count);
  double size = 0.0;
  for (std::size_t n = 0; n < examples.count; ++n) {
    forward_one(layer, examples, n, out.data());
    off[n] = squared_distance(out.data(), &examples.y[n * width], width);
    size += squared_distance(out.data(), zero.data(), width);
  }
  const double most = tolerance * tolerance * size / static_cast<double>(examples.count);
  return static_cast<std::size_t>(
      std::count_if(off.begin(), off.end(), [most](double square) { return !(square <= most); }));
}

std::vector<bool> first_of_orbits(const Examples& examples) {
  std::unordered_set<std::string> orbits;
  std::vector<bool> first(examples.count);
  for (std::size_t n = 0; n < examples.count; ++n) {
    first[n] =
        orbits.insert(std::min(sorted_tokens(examples, n, 1.0), sorted_tokens(examples, n, -1.0)))
            .second;
  }
  return first;
}

int seen_before(const std::vector<bool>& first_of_orbits, const std::vector<std::uint32_t>& which) {
  return static_cast<int>(std::count_if(which.begin(), which.end(),
                                        [&](std::uint32_t n) { return !first_of_orbits[n]; }));
}

int wrongly_held_out(const std::vector<bool>& first_of_orbits,
                     const std::vector<std::uint32_t>& held_out) {
  const auto distinct =
      static_cast<double>(std::count(first_of_orbits.begin(), first_of_orbits.end(), true));
  auto due = std::min(max_held_out, static_cast<std::size_t>(held_out_share * distinct));
  std::vector<std::uint32_t> last;
  for (std::size_t n = first_of_orbits.size(); n-- > 0 && due > 0;) {
    if (!first_of_orbits[n]) continue;
    last.push_back(static_cast<std::uint32_t>(n));
    --due;
  }
  std::reverse(last.begin(), last.end());
  std::vector<std::uint32_t> different;
  std::set_symmetric_difference(last.begin(), last.end(), held_out.begin(), held_out.end(),
                                std::back_inserter(different));
  return static_cast<int>(different.size());
}

Layer bare_head(std::span<const double> theta, int dim) {
  Layer head = make_layer(1, dim);
  std::copy(theta.begin(), theta.end(), head.theta.begin());
  const auto size = static_cast<std::size_t>(dim);
  for (std::size_t c = 0; c < size; ++c) head.w[c * size + c] = 1.0;
  return head;
}

double proved_bound(const RejectedTuple& tuple, const Examples& examples) {
  const auto dim = static_cast<std::size_t>(examples.dim);
  const std::size_t heads = tuple.thetas.size() / (dim * dim);
  std::vector<double> out(examples.width());
  std::vector<double> product(heads * dim);
  double length = 0.0;
  double bound = 0.0;
  for (std::size_t r = 0; r < tuple.rows.size(); ++r) {
    const CertifiedRow& row = tuple.rows[r];
    const double multiplier = tuple.multipliers[r];
    const std::size_t first = row.example * examples.width();
    const std::size_t at = static_cast<std::size_t>(row.query) * dim;
    length += std::abs(multiplier);
    bound += multiplier * examples.y[first + at + static_cast<std::size_t>(tuple.output)];
    for (std::size_t i = 0; i < heads; ++i) {
      const Layer head =
          bare_head(std::span(tuple.thetas).subspan(i * dim * dim, dim * dim), examples.dim);
      forward_one(head, examples, row.example, out.data());
      for (std::size_t c = 0; c < dim; ++c) product[i * dim + c] += multiplier * out[at + c];
    }
  }
  const bool orthogonal = std::all_of(product.begin(), product.end(), [&](double value) {
    return std::abs(value) <= proof_rounding * length;
  });
  return orthogonal && length > 0.0 ? bound / length : 0.0;
}

}  // namespace onset::mha::verifier
