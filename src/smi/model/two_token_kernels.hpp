#pragma once

#include <array>
#include <cstddef>

/// The loops over integration nodes of the two-token posterior: plain arithmetic on arrays of n
/// nodes (n a multiple of 4), compiled for several instruction sets. Transcendental functions are
/// left to numerics/simd between the loops. Symbols as in [smi 8-12]; arrays must not overlap.
namespace onset::smi::two_token {

/// A pair of token values in the rotated basis plus = (t1 + t2)/sqrt 2, minus = (t1 - t2)/sqrt 2.
struct Plane {
  double plus;
  double minus;
};

/// What is fixed about the layer whose softmax is inverted or applied.
struct Layer {
  double beta;
  double skip;
  double gain;  ///< product of (1 + skip) over the layers below it
};

/// Rotates normals (a, b) by the angle with the given cosine and sine; half_norm = |eta|^2 / 2.
void rotate(double cosine, double sine, const double* a, const double* b, double* plus,
            double* minus, double* half_norm, std::size_t n);

/// Scores l1, l2 = beta (u_-^2 +- u_+ u_-) and u_- of u = B z, z = omega + deviation eta [smi 8].
void scores(const Layer& layer, Plane omega, double deviation, const double* eta_plus,
            const double* eta_minus, const double* mix, const double* stretch, double* u_minus,
            double* l1, double* l2, std::size_t n);

/// (mix, stretch) of B after a layer with softmax diagonal s1, s2 [smi 8].
void advance(const Layer& layer, const double* s1, const double* s2, double* mix, double* stretch,
             std::size_t n);

/// What a proposal knows of its nodes. Of solved fields both signs are kept, the second half of the
/// arrays (from n on) being the negative one.
struct Solution {
  double* plus;      ///< solved field as zeta, 2n
  double* minus;     ///< likewise
  double* lambda;    ///< eigenvalue of the inverted layer, n
  double* jacobian;  ///< |d z_L / d z_{L-1}|, n
  double* feasible;  ///< 1 or 0, n
};

/// Proposal A: z_L = +- B^{-1} h [smi 9].
void solve_last(const Layer& layer, Plane h, Plane omega, double deviation, const double* u_minus,
                const double* s1, const double* s2, const double* mix, const double* stretch,
                Solution out, std::size_t n);

/// Proposal B, first half: the softmax diagonal that sends z_L = omega + deviation eta to +-h, and
/// its odds s/(1-s); harmless stand-ins where there is none [smi 12].
void invert_softmax(const Layer& layer, Plane h, Plane omega, double deviation,
                    const double* eta_plus, const double* eta_minus, const double* mix,
                    const double* stretch, double* z_minus, double* s1, double* s2, double* odds1,
                    double* odds2, Solution out, std::size_t n);

/// Proposal B, second half: +- z_{L-1} from the log odds l1, l2 [smi 12].
void solve_inner(const Layer& layer, Plane omega, double deviation, const double* z_minus,
                 const double* s1, const double* s2, const double* l1, const double* l2,
                 const double* mix, const double* stretch, Solution out, std::size_t n);

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

/// constant + |zeta|^2 / 2 - |factor (zeta - mean)|^2 / 2: up to the constant, the logarithm of the
/// Gaussian over the prior.
void log_ratio(const Gaussian& gaussian, double constant, const double* const* zeta, double* out,
               std::size_t n);

/// What the weights of a proposal's nodes are made of, per sign of the solved field; fields that do
/// not have the sign are named twice.
struct WeightTerms {
  const double* exp_last[2];   ///< e^{E_L}
  const double* ratio[2];      ///< density of the Gaussian proposal over the prior's
  const double* exp_inner[2];  ///< e^{E_{L-1}}
};

/// Balance-heuristic weights for both signs, and their sum [smi 29]:
///   w = feasible / (gain lambda stretch (last e^{E_L} (one + ratio) + inner J e^{E_{L-1}})).
void weights(double total_gain, double last, double one, double inner, const WeightTerms& terms,
             const double* stretch, const Solution& solution, double* weight, double* weight_sum,
             std::size_t n);

/// A field as zeta at n nodes, in the rotated basis.
struct Field {
  const double* plus;
  const double* minus;
};

/// out += factor (p p' + m m').
void add_product(double factor, Field a, Field b, double* out, std::size_t n);

/// Multiplies the weights of both signs by 2n factors, and sums them again.
void scale(const double* factor, double* weight, double* weight_sum, std::size_t n);

/// Sum over nodes of w (p p' + m m').
double product_sum(const double* w, Field a, Field b, std::size_t n);

/// Sums over nodes of w times 1, p, m, p p, p m, m m.
std::array<double, 6> moment_sums(const double* w, const double* p, const double* m, std::size_t n);

}  // namespace onset::smi::two_token
