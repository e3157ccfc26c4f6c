// The three proposals of the two-token posterior: which fields are drawn, and which is solved for.

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/two_token_workspace.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;

/// Largest logarithm of a density, so that the density stays finite.
constexpr double max_exponent = 700.0;

/// exp(|zeta|^2 / 2 - shift) of a field, and the shift, which is 0 unless every exponent is large.
double shifted_exponentials(two_token::Field zeta, std::vector<double>& out, std::size_t n) {
  const double lowest = two_token::exponents(zeta.plus, zeta.minus, out.data(), n);
  const double shift = lowest > rescale_above ? lowest : 0.0;
  if (shift > 0.0) {
    for (std::size_t i = 0; i < n; ++i) out[i] -= shift;
  }
  simd::exp({out.data(), n}, {out.data(), n});
  return shift;
}

}  // namespace

/// Mix and stretch of B_{L-2} from the drawn fields below layer L-1 [smi 8].
void TwoTokenPosterior::push_through(const TwoTokenSample& sample, Workspace& work) const {
  const std::size_t n = work.n;
  std::fill_n(work.mix.begin(), n, 0.0);
  std::fill_n(work.stretch.begin(), n, 1.0);
  const two_token::Attention attention = work.attention();
  double* s1 = attention.first;
  for (int index = 0; index + 2 < model_.layers; ++index) {
    const auto l = static_cast<std::size_t>(index);
    const two_token::Stack stack = work.stack(layer(index));
    two_token::scores(stack, {sample.prior(l), work.drawn(l)}, attention, n);
    simd::sigmoid({s1, 2 * n}, {s1, 2 * n});
    two_token::advance(stack, attention, n);
  }
}

/// z_L = B^{-1} h from the drawn fields.
void TwoTokenPosterior::solve_last(const TwoTokenSample& sample, Workspace& work) const {
  const std::size_t n = work.n;
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Stack top = work.stack(layer(model_.layers - 2));
  const two_token::Attention attention = work.attention();
  double* s1 = attention.first;
  two_token::scores(top, {sample.prior(inner), work.drawn(inner)}, attention, n);
  simd::sigmoid({s1, 2 * n}, {s1, 2 * n});
  two_token::solve_last(top, sample.h, sample.prior(inner + 1), attention, work.solution(), n);
}

/// Chooses signs of a layer's field and weighs them [smi 87]. `unchanged` becomes 0 where the given
/// sign is not on the centre's side.
void TwoTokenPosterior::fold(const TwoTokenSample& sample, std::size_t layer, two_token::Field zeta,
                             double* unchanged, Workspace& work) const {
  const std::size_t n = work.n;
  const bool last = layer + 1 == static_cast<std::size_t>(model_.layers);
  double* other = work.other[layer].data();
  two_token::fold(scaled_omega(sample, layer),
                  two_token::side_of(last ? sample.omega[layer] : work.laplace.centre()[layer]),
                  zeta,
                  {work.folded[2 * layer].data(), work.folded[2 * layer + 1].data(), other,
                   work.centred[2 * layer].data(), work.centred[2 * layer + 1].data(),
                   work.side[layer].data(), unchanged},
                  n);
  simd::sigmoid({other, n}, {other, n});
}

/// Density of C over that of the prior, all signs of each, times exp(-shift) [smi 87]. `rescale`:
/// the shift is chosen, and is 0 unless every node has a large density. Returns it.
double TwoTokenPosterior::gaussian_ratio(bool rescale, double shift, Workspace& work) const {
  const std::size_t n = work.n;
  const LaplaceComponent& c = work.laplace.component();
  double* ratio = work.ratio.data();
  if (!is_usable(c)) {
    std::fill_n(ratio, n, 0.0);
    return shift;
  }
  const double share =
      std::log(static_cast<double>(nodes_.centre) / static_cast<double>(nodes_.prior));
  std::vector<const double*> centred(c.mean.size());
  for (std::size_t j = 0; j < centred.size(); ++j) centred[j] = work.centred[j].data();
  two_token::log_ratio({c.slope.data(), c.offset, c.mean.size()}, log_top(c) + share,
                       centred.data(), ratio, n);
  for (std::size_t l = 0; 2 * l < centred.size(); ++l) {
    for (std::size_t i = 0; i < n; ++i) ratio[i] += work.side[l][i];
  }
  if (rescale) {
    double lowest = HUGE_VAL;
    for (std::size_t i = 0; i < n; ++i) {
      if (work.feasible[i] > 0.0) lowest = std::min(lowest, ratio[i]);
    }
    shift = lowest > rescale_above && lowest < HUGE_VAL ? lowest : 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) ratio[i] = std::min(ratio[i] - shift, max_exponent);
  simd::exp({ratio, n}, {ratio, n});
  for (std::size_t l = 0; 2 * l < centred.size(); ++l) {
    for (std::size_t i = 0; i < n; ++i) ratio[i] *= 1.0 - work.other[l][i];
  }
  return shift;
}

/// Proposal A: all inner fields drawn from the prior.
void TwoTokenPosterior::propose_inner_fields(const TwoTokenSample& sample, Workspace& work,
                                             LayerSums& sums) const {
  const std::size_t n = work.n;
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  solve_last(sample, work);
  for (std::size_t l = 0; l < last; ++l) {
    fold(sample, l, work.drawn(l), work.unchanged.data(), work);
  }
  fold(sample, last, work.solved(), work.unchanged.data(), work);
  sums.shift = shifted_exponentials(work.nearer(last), work.exp_last, n);
  shifted_exponentials(work.nearer(last - 1), work.exp_inner, n);
  gaussian_ratio(false, 0.0, work);
  collect(sample, 1.0, std::exp(-sums.shift), work, sums);
}

/// Proposal B: the last field drawn; the softmax of layer L-1 inverted. The layers below are those
/// of A.
void TwoTokenPosterior::propose_last_field(const TwoTokenSample& sample, Workspace& work,
                                           LayerSums& sums) const {
  work.n = nodes_.last;
  const std::size_t n = work.n;
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Stack top = work.stack(layer(model_.layers - 2));
  const two_token::Attention attention = work.attention();
  double* l1 = work.scores.data();
  const two_token::Odds odds{l1, l1 + n};
  two_token::invert_softmax(top, sample.h, {sample.prior(inner + 1), work.drawn(inner)}, attention,
                            odds, work.solution(), n);
  simd::log({l1, 2 * n}, {l1, 2 * n});
  two_token::solve_inner(top, sample.prior(inner), attention, odds, work.solution(), n);
  fold(sample, inner, work.solved(), work.unchanged.data(), work);
  fold(sample, inner + 1, work.drawn(inner), work.unchanged.data(), work);
  sums.shift = shifted_exponentials(work.nearer(inner), work.exp_inner, n);
  shifted_exponentials(work.nearer(inner + 1), work.exp_last, n);
  gaussian_ratio(false, sums.shift, work);
  collect(sample, std::exp(-sums.shift), 1.0, work, sums);
}

/// Proposal C: all inner fields drawn from the linearised posterior, on the centre's side only.
void TwoTokenPosterior::propose_near_centre(const TwoTokenSample& sample, Workspace& work,
                                            LayerSums& sums) const {
  const LaplaceComponent& component = work.laplace.component();
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  work.use(work.near, nodes_.centre);
  const std::size_t n = work.n;
  for (std::size_t j = 0; j < work.near.size(); ++j) {
    std::copy_n(work.prior[j].begin(), n, work.near[j].begin());
  }
  two_token::draw({component.mean.data(), component.factor.data(), component.mean.size()},
                  work.fields.data(), n);
  push_through(sample, work);
  solve_last(sample, work);
  for (std::size_t l = 0; l < last; ++l) {
    fold(sample, l, work.drawn(l), work.feasible.data(), work);
  }
  fold(sample, last, work.solved(), work.unchanged.data(), work);

  sums.shift = shifted_exponentials(work.nearer(last), work.exp_last, n);
  const double ratio_shift = gaussian_ratio(true, 0.0, work);
  sums.shift += ratio_shift;
  const two_token::Field inner = work.nearer(last - 1);
  two_token::exponents(inner.plus, inner.minus, work.exp_inner.data(), n);
  for (std::size_t i = 0; i < n; ++i) work.exp_inner[i] -= sums.shift;
  simd::exp({work.exp_inner.data(), n}, {work.exp_inner.data(), n});
  // Above 0, so that an overflow of its factor stays one.
  const double one = std::max(std::exp(-ratio_shift), std::numeric_limits<double>::min());
  collect(sample, one, 1.0, work, sums);
}

}  // namespace onset::smi
