// The chain of two-token attention without a reduction and with a positional encoding: the
// positional-semantic model. What sequence_chain() does link by link happens here in two passes
// over the lanes.
#include <cmath>

#include "numerics/simd/clones.hpp"
#include "numerics/simd/pair_softmax.hpp"
#include "ssi/learners/chain/chain.hpp"

namespace onset::ssi {
namespace {

struct Fields {
  Lanes rest;       ///< what is left of 1 - m^2 after e^2
  Lanes inverse_q;  ///< 1/sqrt(1 - m^2), 0 for m = 1
  double z[2][lanes];
};

ONSET_CLONES void compute_fields(const StepDraws& draws, const double* e, const double* m,
                                 Fields& out) {
  const double* t1 = draws.normals;
  const double* t2 = t1 + draws.stride;
  const double* zeta1 = t2 + draws.stride;
  const double* zeta2 = zeta1 + draws.stride;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double square = std::max(0.0, 1.0 - m[p] * m[p]);
    const double q = std::sqrt(square);
    const double z1 = m[p] * t1[p] + q * zeta1[p] + e[p];
    const double z2 = m[p] * t2[p] + q * zeta2[p] - e[p];
    out.rest[p] = std::max(0.0, square - e[p] * e[p]);
    out.inverse_q[p] = q > 0.0 ? 1.0 / q : 0.0;
    out.z[0][p] = z1;
    out.z[1][p] = z2;
  }
}

/// Inverse norms of the residuals: dl/df of the unsquared loss is the residual times this. [ssi 5]
ONSET_CLONES void inverse_norms(const StepDraws& draws, const double* f, double* weight) {
  const double* y = draws.labels;
  const std::size_t stride = draws.stride;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double r11 = f[p] - y[p];
    const double r12 = 1.0 - f[p] - y[stride + p];
    const double r21 = 1.0 - f[lanes + p] - y[2 * stride + p];
    const double r22 = f[lanes + p] - y[3 * stride + p];
    const double square = r11 * r11 + r12 * r12 + r21 * r21 + r22 * r22;
    weight[p] = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
  }
}

/// The step of [ssi 31]. With B = B_0 + the pull of pi, where B_0 and C turn (sum delta zeta,
/// |delta| xi) by an angle, B_0^2 + C^2 is the sum of their squares, so that C is not needed.
/// The result is what the step takes off m and e, and by how much |w|^2 leaves 1 before it is
/// normalised.
ONSET_CLONES void compute_move(double h, const StepDraws& draws, const double* f,
                               const double* weight, const Fields& fields, const double* e,
                               double* __restrict out) {
  const std::size_t stride = draws.stride;
  const double* t1 = draws.normals;
  const double* y = draws.labels;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double f1 = f[p];
    const double f2 = f[lanes + p];
    const double z1 = fields.z[0][p];
    const double z2 = fields.z[1][p];
    const double row1 = (f1 - y[p]) - (1.0 - f1 - y[stride + p]);
    const double row2 = (f2 - y[3 * stride + p]) - (1.0 - f2 - y[2 * stride + p]);
    const double h1 = weight[p] * f1 * (1.0 - f1) * row1;
    const double h2 = weight[p] * f2 * (1.0 - f2) * row2;
    const double d1 = h1 * (2.0 * z1 - z2) - h2 * z2;
    const double d2 = h2 * (2.0 * z2 - z1) - h1 * z1;
    const double a = d1 * t1[p] + d2 * t1[stride + p];
    const double zeta = d1 * t1[2 * stride + p] + d2 * t1[3 * stride + p];
    const double square = d1 * d1 + d2 * d2;
    const double shift = d1 - d2;
    const double extra = t1[4 * stride + p];
    const double across = std::sqrt(fields.rest[p] * square) * extra;
    const double turned = (e[p] * zeta + across) * fields.inverse_q[p];
    const double length = a * a + zeta * zeta + shift * (2.0 * turned + shift) +
                          square * (extra * extra + draws.chi_square[p]);
    const double radial = d1 * z1 + d2 * z2;
    out[p] = h * a;
    out[lanes + p] = h * (turned + shift);
    out[2 * lanes + p] = h * (h * length - 2.0 * radial);
  }
}

/// Up to this |x| the series of (1 + x)^{-1/2} up to x^7 is as good as the root itself.
constexpr double small_growth = 1.0 / 128.0;

ONSET_CLONES std::uint64_t apply_small(const double* move, double* __restrict e,
                                       double* __restrict m) {
  std::uint64_t large = 0;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double x = move[2 * lanes + p];
    const double x2 = x * x;
    const double x4 = x2 * x2;
    const double low = (1.0 - 0.5 * x) + x2 * (0.375 - 0.3125 * x);
    const double high = (0.2734375 - 0.24609375 * x) + x2 * (0.2255859375 - 0.20947265625 * x);
    const double norm = low + x4 * high;
    const bool now = std::abs(x) > small_growth;
    large += now ? 1 : 0;
    m[p] = now ? m[p] : (m[p] - move[p]) * norm;
    e[p] = now ? e[p] : (e[p] - move[lanes + p]) * norm;
  }
  return large;
}

void apply_large(const double* move, double* e, double* m) {
  for (std::size_t p = 0; p < lanes; ++p) {
    if (!(std::abs(move[2 * lanes + p]) > small_growth)) continue;
    const double norm = 1.0 / std::sqrt(1.0 + move[2 * lanes + p]);
    m[p] = (m[p] - move[p]) * norm;
    e[p] = (e[p] - move[lanes + p]) * norm;
  }
}

class TwoTokenChain final : public SequenceState {
 public:
  TwoTokenChain(const SequenceModel& model, double dim, double rate)
      : SequenceState(model, dim, rate, 1), loss_(model.loss) {
    weight_.fill(loss_ == SampleLoss::squared ? 2.0 : 1.0);
  }

  void step(const StepDraws& draws) override {
    compute_fields(draws, e_.data(), m_.data(), fields_);
    numerics::simd::pair_softmax(fields_.z[0], fields_.z[1], lanes, f_, f_ + lanes);
    if (loss_ == SampleLoss::frobenius) inverse_norms(draws, f_, weight_.data());
    compute_move(h_, draws, f_, weight_.data(), fields_, e_.data(), move_);
    if (apply_small(move_, e_.data(), m_.data()) > 0) apply_large(move_, e_.data(), m_.data());
  }

 private:
  SampleLoss loss_;
  Fields fields_{};
  double move_[3 * lanes]{};
  double f_[2 * lanes]{};
  Lanes weight_{};
};

}  // namespace

std::unique_ptr<Chain> two_token_chain(const SequenceModel& model, double dim, double rate) {
  return std::make_unique<TwoTokenChain>(model, dim, rate);
}

}  // namespace onset::ssi
