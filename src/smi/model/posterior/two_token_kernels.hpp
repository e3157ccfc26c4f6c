#pragma once

#include <array>
#include <cstddef>

/// The loops over integration nodes of the two-token posterior: plain arithmetic on arrays of n
/// nodes (n a multiple of 4), compiled for several instruction sets. Transcendental functions are
/// left to numerics/simd between the loops. Symbols are those of [smi 8-12]; arrays must not
/// overlap.
namespace onset::smi::two_token {

/// A pair of token values in the rotated basis plus = (t1 + t2)/sqrt 2, minus = (t1 - t2)/sqrt 2.
struct Plane {
  double plus;
  double minus;
};

/// The constants of the layer whose softmax is inverted or applied.
struct Layer {
  double beta;
  double skip;
  double gain;  ///< product of (1 + skip) over the layers below it
};

/// Rotates normals (a, b) by the angle with the given cosine and sine.
void rotate(double cosine, double sine, const double* a, const double* b, double* plus,
            double* minus, std::size_t n);

/// A field as zeta at n nodes, in the rotated basis.
struct Field {
  const double* plus;
  const double* minus;
};

/// Prior of a field: z = omega + deviation zeta.
struct Prior {
  Plane omega;
  double deviation;
};

/// A field that is drawn from its prior: eta is what is drawn.
struct DrawnField {
  Prior prior;
  Field eta;
};

/// A layer and B of the layers below it at n nodes [smi 8].
struct Stack {
  Layer layer;
  double* mix;
  double* stretch;
};

/// A layer's attention at n nodes.
struct Attention {
  double* minus;   ///< minus component of the field that it acts on
  double* first;   ///< scores of the first token, or the entry s1 of the softmax's diagonal
  double* second;  ///< the same for the second token
};

/// Scores l1, l2 = beta (u_-^2 +- u_+ u_-) and u_- of u = B z, z = omega + deviation eta [smi 8].
void scores(const Stack& stack, const DrawnField& drawn, Attention out, std::size_t n);

/// (mix, stretch) of B after a layer with softmax diagonal s1, s2 [smi 8].
void advance(const Stack& stack, Attention softmax, std::size_t n);

/// What a proposal knows about its nodes.
struct Solution {
  double* plus;      ///< the solved field as zeta, with one of its signs
  double* minus;     ///< likewise
  double* lambda;    ///< eigenvalue of the inverted layer
  double* jacobian;  ///< |d z_L / d z_{L-1}|
  double* feasible;  ///< 1 or 0
};

/// Proposal A: z_L = B^{-1} h [smi 9]. `softmax` has u_- of layer L-1, `last` is the prior of z_L.
void solve_last(const Stack& stack, Plane h, const Prior& last, Attention softmax, Solution out,
                std::size_t n);

/// Odds s/(1-s) of the softmax's diagonal at n nodes, or their logarithms.
struct Odds {
  double* first;
  double* second;
};

/// Proposal B, first half: the softmax diagonal that sends z_L = omega + deviation eta to +-h, and
/// its odds; harmless stand-ins where there is none [smi 12]. `softmax` receives z_- of layer L.
void invert_softmax(const Stack& stack, Plane h, const DrawnField& last, Attention softmax,
                    Odds odds, Solution out, std::size_t n);

/// Proposal B, second half: z_{L-1} from the log odds [smi 12]; `inner` is its prior.
void solve_inner(const Stack& stack, const Prior& inner, Attention softmax, Odds log_odds,
                 Solution out, std::size_t n);

/// A field at n nodes whose signs are chosen: the one nearer to omega, and that on the centre's
/// side.
struct Folded {
  double* plus;         ///< zeta of the nearer sign
  double* minus;        ///< likewise
  double* exponent;     ///< log of the prior of the other sign over that of the nearer one
  double* centre_plus;  ///< zeta of the centre's side
  double* centre_minus;
  double* side;       ///< log of the prior of the centre's side over that of the nearer sign
  double* unchanged;  ///< set to 0 where the centre's side is not the given sign
};

/// Labels do not see the sign of z, so both signs belong to one node [smi 87]. `omega` is in units
/// of the deviation; `centre` is any vector on its side.
void fold(Plane omega, Plane centre, Field zeta, Folded out, std::size_t n);

/// The other sign of a folded field.
void mirror(Plane omega, Field zeta, double* plus, double* minus, std::size_t n);

/// The mean of both signs of a folded field, `other` the probability of the further one.
void sign_mean(Plane omega, const double* other, Field zeta, double* plus, double* minus,
               std::size_t n);

/// exponent = |zeta|^2 / 2 over n entries; returns the smallest.
double exponents(const double* plus, const double* minus, double* exponent, std::size_t n);

/// A Gaussian exp(-|factor (zeta - mean)|^2 / 2) in `size` coordinates; the factor is upper
/// triangular, row by row [smi 28].
struct Gaussian {
  const double* mean;
  const double* factor;
  std::size_t size;
};

/// Turns standard normals, one array per coordinate, into draws from the Gaussian.
void draw(const Gaussian& gaussian, double* const* zeta, std::size_t n);

/// zeta_L = offset + slope zeta: the linearised relation that the label imposes on the drawn
/// fields. `slope` has the row of the plus component, then that of the minus one, `size`
/// coordinates each.
struct LinearLabel {
  const double* slope;
  Plane offset;
  std::size_t size;
};

/// constant - |offset + slope zeta|^2 / 2: up to the constant, the logarithm of the linearised
/// posterior over the prior [smi 28].
void log_ratio(const LinearLabel& label, double constant, const double* const* zeta, double* out,
               std::size_t n);

/// What the weights of a proposal's nodes are made of.
struct WeightTerms {
  const double* exp_last;     ///< e^{E_L} of the sign nearer to omega
  const double* other_last;   ///< probability of the other one
  const double* exp_inner;    ///< the same for layer L-1
  const double* other_inner;  ///< likewise
  const double* ratio;        ///< density of the Gaussian proposal over the prior's
};

/// Factors of the weights.
struct WeightScales {
  double total_gain;
  double last;
  double one;
  double inner;
};

/// Balance-heuristic weights [smi 29]:
///   w = feasible / (gain lambda stretch (last e^{E_L} pi_L (one + ratio)
///                                        + inner J e^{E_{L-1}} pi_{L-1})).
void weights(const WeightScales& scales, const WeightTerms& terms, const double* stretch,
             const Solution& solution, double* weight, std::size_t n);

/// out += factor (p p' + m m').
void add_product(double factor, Field a, Field b, double* out, std::size_t n);

/// Sum over nodes of w (p p' + m m').
double product_sum(const double* w, Field a, Field b, std::size_t n);

/// Sums over nodes of w times 1, p, m, p p, p m, m m.
std::array<double, 6> moment_sums(const double* w, const double* p, const double* m, std::size_t n);

/// The same for a folded field, both signs with their probabilities.
std::array<double, 6> folded_moment_sums(const double* w, const double* other, Plane omega,
                                         Field zeta, std::size_t n);

}  // namespace onset::smi::two_token
