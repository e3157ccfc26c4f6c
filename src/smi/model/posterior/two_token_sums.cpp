// What the two-token posterior makes of a proposal's nodes: their weights, and moments over all
// signs of the fields.

#include <algorithm>
#include <cmath>

#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/two_token_workspace.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;

/// A sign that is less likely than this everywhere is not looked at where choices are enumerated.
constexpr double negligible_sign = 1e-18;

/// From a function of the first node and the number of nodes.
template <class Sums>
BatchSums batch_sums(std::size_t n, const Sums& sums_of) {
  BatchSums sums{sums_of(0, n / 2), sums_of(n / 2, n / 2)};
  combine(1.0, sums.all, 1.0, sums.first);
  return sums;
}

}  // namespace

/// Weights the proposal's nodes and adds them to the moments of every layer [smi 29].
void TwoTokenPosterior::collect(const TwoTokenSample& sample, double one, double inner_scale,
                                Workspace& work, LayerSums& sums) const {
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  const double inner_share = static_cast<double>(nodes_.last) / static_cast<double>(nodes_.prior);
  const auto variance = [&](std::size_t l) { return sample.deviation[l] * sample.deviation[l]; };
  two_token::weights({.total_gain = total_gain_,
                      .last = variance(last),
                      .one = one,
                      .inner = inner_share * variance(last - 1) * inner_scale},
                     {work.exp_last.data(), work.other[last].data(), work.exp_inner.data(),
                      work.other[last - 1].data(), work.ratio.data()},
                     work.stretch.data(), work.solution(), work.weight.data(), work.n);
  if (!work.coupling.empty()) {
    sum_over_signs(sample, work, sums);
    return;
  }
  for (std::size_t l = 0; l <= last; ++l) {
    const two_token::Field zeta = work.nearer(l);
    sums.layer[l] = batch_sums(work.n, [&](std::size_t first, std::size_t count) {
      return two_token::folded_moment_sums(work.weight.data() + first, work.other[l].data() + first,
                                           scaled_omega(sample, l),
                                           {zeta.plus + first, zeta.minus + first}, count);
    });
  }
  if (sums.cross.empty()) return;
  work.chosen.resize(last + 1);
  for (std::size_t l = 0; l <= last; ++l) {
    double* plus = work.mirrored[2 * l].data();
    double* minus = work.mirrored[2 * l + 1].data();
    two_token::sign_mean(scaled_omega(sample, l), work.other[l].data(), work.nearer(l), plus, minus,
                         work.n);
    work.chosen[l] = {plus, minus};
  }
  sum_products(work.weight, work, sums);
}

/// Moments between layers from the fields that are chosen.
void TwoTokenPosterior::sum_products(const std::vector<double>& weight, const Workspace& work,
                                     LayerSums& sums) const {
  for (std::size_t k = 1; k < work.chosen.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      sums.cross[FieldShape::direction_pair(k, l)] =
          two_token::product_sum(weight.data(), work.chosen[k], work.chosen[l], work.n);
    }
  }
}

/// The same where layers depend on one another: every choice of the signs that are open at all is a
/// node of its own.
void TwoTokenPosterior::sum_over_signs(const TwoTokenSample& sample, Workspace& work,
                                       LayerSums& sums) const {
  const std::size_t n = work.n;
  const auto layers = static_cast<std::size_t>(model_.layers);
  std::vector<std::size_t> open;
  work.chosen.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    work.chosen[l] = work.nearer(l);
    const auto end = work.other[l].begin() + static_cast<std::ptrdiff_t>(n);
    if (*std::max_element(work.other[l].begin(), end) < negligible_sign) continue;
    open.push_back(l);
    two_token::mirror(scaled_omega(sample, l), work.nearer(l), work.mirrored[2 * l].data(),
                      work.mirrored[2 * l + 1].data(), n);
  }
  LayerSums total(layers, sums.cross.size());
  for (std::size_t choice = 0; choice < std::size_t{1} << open.size(); ++choice) {
    std::copy_n(work.weight.begin(), n, work.signed_weight.begin());
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t l = open[k];
      const bool mirrored = (choice >> k & 1u) != 0;
      const double* other = work.other[l].data();
      for (std::size_t i = 0; i < n; ++i) {
        work.signed_weight[i] *= mirrored ? other[i] : 1.0 - other[i];
      }
      if (mirrored)
        work.chosen[l] = {work.mirrored[2 * l].data(), work.mirrored[2 * l + 1].data()};
      else
        work.chosen[l] = work.nearer(l);
    }
    LayerSums part(layers, sums.cross.size());
    part.shift = sums.shift;
    if (!work.coupling.empty()) tilt(work, part);
    for (std::size_t l = 0; l < layers; ++l) {
      part.layer[l] = batch_sums(n, [&](std::size_t first, std::size_t count) {
        return two_token::moment_sums(work.signed_weight.data() + first,
                                      work.chosen[l].plus + first, work.chosen[l].minus + first,
                                      count);
      });
    }
    if (!part.cross.empty()) sum_products(work.signed_weight, work, part);
    total.merge(part);
  }
  sums = std::move(total);
}

/// Multiplies the weights of one choice of signs by exp(-zeta^T K zeta / 2) [smi 86].
void TwoTokenPosterior::tilt(Workspace& work, LayerSums& sums) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t n = work.n;
  double* exponent = work.exponent.data();
  std::fill_n(exponent, n, 0.0);
  for (std::size_t k = 0; k < layers; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const double factor = (k == l ? -0.5 : -1.0) * work.coupling[k * layers + l];
      two_token::add_product(factor, work.chosen[k], work.chosen[l], exponent, n);
    }
  }
  const double top = *std::max_element(exponent, exponent + n);
  if (top > rescale_above) {
    for (std::size_t i = 0; i < n; ++i) exponent[i] -= top;
    sums.shift -= top;
  }
  simd::exp({exponent, n}, {exponent, n});
  for (std::size_t i = 0; i < n; ++i) work.signed_weight[i] *= exponent[i];
}

}  // namespace onset::smi
