#include "smi/model/posterior/last_layer.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "onset/core/error.hpp"
#include "smi/model/posterior/rank_three_rotation.hpp"
#include "smi/model/posterior/rank_two_pair.hpp"
#include "smi/model/posterior/uneven_last.hpp"

namespace onset::smi {
namespace {

double shift_at(const LastQuestion& question, std::size_t k) {
  return question.shift.empty() ? 0.0 : question.shift[k];
}

/// second = mean mean^T.
void square_mean(LastBranch& branch, std::size_t size, std::size_t count) {
  double* out = branch.second.data();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j, out += count) {
      const double* a = branch.mean.data() + i * count;
      const double* b = branch.mean.data() + j * count;
      for (std::size_t k = 0; k < count; ++k) out[k] = a[k] * b[k];
    }
  }
}

/// The last layer at rank one without noise: z_L = +- G^{-1} u [smi 9].
class SignedLast final : public LastLayer {
 public:
  explicit SignedLast(int tokens) : tokens_(static_cast<std::size_t>(tokens)) {}

  void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                std::vector<LastBranch>& branches) const override {
    resize_branches(branches, 2, tokens_, count);
    const double scale = 1.0 / std::sqrt(question.variance);
    const double log_scale = static_cast<double>(tokens_) * std::log(scale);
    LastBranch& plus = branches[0];
    LastBranch& minus = branches[1];
    nodes.solve(question.label, plus.mean.data());
    for (std::size_t k = 0; k < count; ++k) {
      plus.log_likelihood[k] = minus.log_likelihood[k] = log_scale - nodes.log_det()[k];
    }
    for (std::size_t t = 0; t < tokens_; ++t) {
      const double centre = question.omega[t] * scale;
      double* p = plus.mean.data() + t * count;
      double* m = minus.mean.data() + t * count;
      for (std::size_t k = 0; k < count; ++k) {
        const double z = p[k] * scale;
        const double moved = shift_at(question, t * count + k) * scale;
        p[k] = z - centre - moved;
        m[k] = -z - centre - moved;
        plus.log_likelihood[k] -= 0.5 * p[k] * p[k];
        minus.log_likelihood[k] -= 0.5 * m[k] * m[k];
      }
    }
    square_mean(plus, tokens_, count);
    square_mean(minus, tokens_, count);
  }

  [[nodiscard]] Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                          const LastQuestion& question,
                                          double sign) const override {
    std::vector<double> z(tokens_ * count);
    nodes.solve(question.label, z.data());
    Eigen::MatrixXd out(static_cast<Eigen::Index>(tokens_), static_cast<Eigen::Index>(count));
    const double scale = 1.0 / std::sqrt(question.variance);
    for (std::size_t t = 0; t < tokens_; ++t) {
      for (std::size_t k = 0; k < count; ++k) {
        out(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(k)) =
            (sign * z[t * count + k] - question.omega[t] - shift_at(question, t * count + k)) *
            scale;
      }
    }
    return out;
  }

 private:
  std::size_t tokens_;
};

/// The last layer at rank one with noise of standard deviation S on u_L: given the inner fields z_L
/// is Gaussian, and the label has covariance C = V_L G G^T + S^2 I [smi 31].
class NoisyLast final : public LastLayer {
  // These matrices are small and lie on the stack, since each node needs one of each.
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, max_tokens, max_tokens>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_tokens, 1>;

 public:
  NoisyLast(int tokens, double noise)
      : tokens_(static_cast<std::size_t>(tokens)), noise_variance_(noise * noise) {}

  void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                std::vector<LastBranch>& branches) const override {
    resize_branches(branches, 2, tokens_, count);
    const std::size_t m = tokens_;
    std::vector<double> g(m * m * count);
    nodes.matrix(g.data());
    const double deviation = std::sqrt(question.variance);
    Matrix map(m, m);  // sqrt(V_L) G
    Vector omega(m);
    Vector label(m);
    for (std::size_t t = 0; t < m; ++t) {
      omega[index(t)] = question.omega[t] / deviation;
      label[index(t)] = question.label[t];
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t e = 0; e < m * m; ++e) {
        map(index(e / m), index(e % m)) = deviation * g[e * count + k];
      }
      Matrix c = map * map.transpose();
      c.diagonal().array() += noise_variance_;
      const Eigen::LLT<Matrix> factor(c);
      const double log_det = 2.0 * factor.matrixLLT().diagonal().array().log().sum();  // log det C
      const Matrix solved_map = factor.solve(map);
      const Matrix shared = Matrix::Identity(index(m), index(m)) - map.transpose() * solved_map;
      Vector centre = omega;
      for (std::size_t t = 0; t < m; ++t) {
        centre[index(t)] += shift_at(question, t * count + k) / deviation;
      }
      for (const double sign : {1.0, -1.0}) {
        LastBranch& branch = branches[sign > 0.0 ? 0 : 1];
        const Vector rest = sign * label - map * centre;
        const Vector solved = factor.solve(rest);
        const Vector mean = map.transpose() * solved;
        branch.log_likelihood[k] = -0.5 * (rest.dot(solved) + log_det);
        std::size_t pair = 0;
        for (std::size_t i = 0; i < m; ++i) {
          branch.mean[i * count + k] = mean[index(i)];
          for (std::size_t j = 0; j <= i; ++j, ++pair) {
            branch.second[pair * count + k] =
                shared(index(i), index(j)) + mean[index(i)] * mean[index(j)];
          }
        }
      }
    }
  }

  [[nodiscard]] Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                          const LastQuestion& question,
                                          double sign) const override {
    const std::size_t m = tokens_;
    std::vector<double> predicted(m * count);
    std::vector<double> g(m * m * count);
    nodes.apply(question.omega, predicted.data());
    nodes.matrix(g.data());
    Eigen::MatrixXd map(m, m);
    for (std::size_t e = 0; e < m * m; ++e) map(index(e / m), index(e % m)) = g[e * count];
    Eigen::MatrixXd c = question.variance * map * map.transpose();
    c.diagonal().array() += noise_variance_;
    Eigen::MatrixXd rest(index(m), index(count));
    for (std::size_t t = 0; t < m; ++t) {
      for (std::size_t k = 0; k < count; ++k) {
        rest(index(t), index(k)) = sign * question.label[t] - predicted[t * count + k];
      }
    }
    for (std::size_t e = 0; e < m * question.shift.size(); ++e) {
      const std::size_t k = e % count, t = e / count % m, to = e / (m * count);
      rest(index(to), index(k)) -= g[(to * m + t) * count + k] * question.shift[t * count + k];
    }
    return numerics::whitened(c, rest);
  }

 private:
  static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

  std::size_t tokens_;
  double noise_variance_;
};

/// I_1/I_0 and I_2/I_0, and log(I_0) - x, at x >= 0.
struct BesselRatios {
  double first = 0.0;
  double second = 0.0;
  double log_scaled = 0.0;
};

BesselRatios bessel_ratios(double x) {
  constexpr double asymptotic_from = 50.0;
  if (x < 1e-300) return {};
  double i0 = 0.0;
  double i1 = 0.0;
  if (x < asymptotic_from) {
    const double damp = std::exp(-x);
    i0 = damp * std::cyl_bessel_i(0.0, x);
    i1 = damp * std::cyl_bessel_i(1.0, x);
  } else {
    // I_v(x) ~ e^x / sqrt(2 pi x) (1 - (m-1)/(8x) + (m-1)(m-9)/(2! (8x)^2) - ..), m = 4 v^2; eight
    // terms are below 1e-13 here.
    const double scale = 1.0 / std::sqrt(2.0 * std::numbers::pi * x);
    const auto series = [x](double mu) {
      double term = 1.0;
      double sum = 1.0;
      for (int k = 1; k <= 10; ++k) {
        const double odd = 2.0 * k - 1.0;
        term *= -(mu - odd * odd) / (8.0 * k * x);
        sum += term;
      }
      return sum;
    };
    i0 = scale * series(0.0);
    i1 = scale * series(4.0);
  }
  const double first = i1 / i0;
  // I_2 = I_0 - 2 I_1 / x; the difference cancels at small x, where I_2/I_0 ~ x^2/8.
  const double second = x < 1e-2 ? x * x / 8.0 * (1.0 - x * x / 6.0) : 1.0 - 2.0 * first / x;
  return {first, second, std::log(i0)};
}

/// The last layer at rank two with more than two tokens and no noise: z_L = O G^{-1} u with O in
/// O(2), each of whose two halves is a von Mises integral [smi 32].
class RotatedLast final : public LastLayer {
 public:
  explicit RotatedLast(int tokens) : tokens_(static_cast<std::size_t>(tokens)) {}

  void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                std::vector<LastBranch>& branches) const override {
    const std::size_t m = tokens_;
    resize_branches(branches, 2, 2 * m, count);
    const std::vector<double> x = solved(nodes, count, question);
    if (!question.root.empty()) {
      uneven_rotations(x, count, question, branches);
      for (LastBranch& branch : branches) {
        for (std::size_t k = 0; k < count; ++k) {
          branch.log_likelihood[k] -= 2.0 * nodes.log_det()[k];
        }
      }
      return;
    }
    const double scale = 1.0 / std::sqrt(question.variance);
    const double log_scale = 2.0 * static_cast<double>(m) * std::log(scale);
    std::vector<double> w(2 * m);  // omega / sqrt V
    double w_norm = 0.0;
    for (std::size_t f = 0; f < 2 * m; ++f) {
      w[f] = question.omega[f] * scale;
      w_norm += w[f] * w[f];
    }
    std::vector<double> a(2 * m);  // x / sqrt V at one node
    for (std::size_t k = 0; k < count; ++k) {
      double a_norm = 0.0;
      for (std::size_t f = 0; f < 2 * m; ++f) {
        a[f] = x[f * count + k] * scale;
        a_norm += a[f] * a[f];
      }
      double t11 = 0.0;  // entries of w a^T
      double t12 = 0.0;
      double t21 = 0.0;
      double t22 = 0.0;
      for (std::size_t t = 0; t < m; ++t) {
        t11 += w[t] * a[t];
        t12 += w[t] * a[m + t];
        t21 += w[m + t] * a[t];
        t22 += w[m + t] * a[m + t];
      }
      for (const double turn : {1.0, -1.0}) {
        // O = [[c, -turn s], [s, turn c]]: tr(O^T w a^T) = c p + s q.
        const double p = t11 + turn * t22;
        const double q = t21 - turn * t12;
        const double kappa = std::hypot(p, q);
        const BesselRatios ratio = bessel_ratios(kappa);
        const double cosine = kappa > 0.0 ? p / kappa : 1.0;
        const double sine = kappa > 0.0 ? q / kappa : 0.0;
        LastBranch& branch = branches[turn > 0.0 ? 0 : 1];
        branch.log_likelihood[k] = log_scale - 2.0 * nodes.log_det()[k] + ratio.log_scaled + kappa -
                                   0.5 * (a_norm + w_norm);
        const double c = ratio.first * cosine;
        const double s = ratio.first * sine;
        const double cc = 0.5 * (1.0 + ratio.second * (cosine * cosine - sine * sine));
        const double cs = ratio.second * cosine * sine;
        const double ss = 1.0 - cc;
        store({a, w, turn, {c, s, cc, cs, ss}}, count, k, branch);
      }
    }
  }

  [[nodiscard]] Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                          const LastQuestion& question,
                                          double sign) const override {
    const std::vector<double> x = solved(nodes, count, question);
    if (!question.root.empty()) return uneven_rotation_residuals(x, count, question);
    const std::size_t rows = 2 * tokens_;
    Eigen::MatrixXd out(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(count));
    const double scale = 1.0 / std::sqrt(question.variance);
    for (std::size_t f = 0; f < rows; ++f) {
      for (std::size_t k = 0; k < count; ++k) {
        out(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(k)) =
            (sign * x[f * count + k] - question.omega[f]) * scale;
      }
    }
    return out;
  }

 private:
  /// Moments of O's entries: <c>, <s>, <c c>, <c s>, <s s>.
  struct Turn {
    double c, s, cc, cs, ss;
  };

  [[nodiscard]] std::vector<double> solved(AttentionNodes& nodes, std::size_t count,
                                           const LastQuestion& question) const {
    std::vector<double> x(2 * tokens_ * count);
    nodes.solve(question.label.first(tokens_), x.data());
    nodes.solve(question.label.subspan(tokens_, tokens_), x.data() + tokens_ * count);
    return x;
  }

  /// What the rotated fields of a node are made of.
  struct Rotated {
    const std::vector<double>& a;
    const std::vector<double>& w;
    double turn;
    Turn moments;
  };

  /// zeta = O a - w: row 0 is c a_0 - turn s a_1, row 1 is s a_0 + turn c a_1. Node k of `count`.
  static void store(const Rotated& rotated, std::size_t count, std::size_t k, LastBranch& branch) {
    const auto& [a, w, turn, e] = rotated;
    const std::size_t m = a.size() / 2;
    std::array<double, 2 * max_tokens> mean;
    for (std::size_t t = 0; t < m; ++t) {
      mean[t] = e.c * a[t] - turn * e.s * a[m + t];
      mean[m + t] = e.s * a[t] + turn * e.c * a[m + t];
    }
    std::size_t pair = 0;
    for (std::size_t i = 0; i < 2 * m; ++i) {
      branch.mean[i * count + k] = mean[i] - w[i];
      for (std::size_t j = 0; j <= i; ++j, ++pair) {
        const double i0 = a[i % m];
        const double i1 = turn * a[m + i % m];
        const double j0 = a[j % m];
        const double j1 = turn * a[m + j % m];
        double oo = 0.0;  // <(O a)_i (O a)_j>
        if (i < m) {      // then j < m as well
          oo = e.cc * i0 * j0 - e.cs * (i0 * j1 + i1 * j0) + e.ss * i1 * j1;
        } else if (j < m) {
          oo = e.cs * i0 * j0 - e.ss * i0 * j1 + e.cc * i1 * j0 - e.cs * i1 * j1;
        } else {
          oo = e.ss * i0 * j0 + e.cs * (i0 * j1 + i1 * j0) + e.cc * i1 * j1;
        }
        branch.second[pair * count + k] = oo - mean[i] * w[j] - w[i] * mean[j] + w[i] * w[j];
      }
    }
  }

  std::size_t tokens_;
};

/// Says what a label leaves free of the last layer's fields, and so would have to be integrated.
[[noreturn]] void refuse_last(const DeepAttention& model) {
  const int rank = model.rank_of(model.layers - 1);
  const int tokens = model.tokens;
  const std::string allowed =
      "; allowed: rank one, rank two without noise, or rank three without noise and with more than "
      "three tokens";
  if (model.noise > 0.0) {
    throw Refused(fmt::format(
        "a last layer of rank {} with noise is not available: a label then fixes none of its {} "
        "numbers per sample, and all of them would have to be integrated{}",
        rank, rank * tokens, allowed));
  }
  // What the scores fix [smi 97].
  const int fixed =
      tokens > rank ? tokens * rank - rank * (rank - 1) / 2 : tokens * (tokens + 1) / 2 - 1;
  throw Refused(
      fmt::format("a last layer of rank {} with {} tokens is not available: its label fixes {} of "
                  "{} numbers per "
                  "sample and leaves {} free, over which the posterior would have to be integrated "
                  "at every node{}",
                  rank, tokens, fixed, rank * tokens, rank * tokens - fixed, allowed));
}

}  // namespace

void resize_branches(std::vector<LastBranch>& branches, std::size_t number, std::size_t size,
                     std::size_t count) {
  branches.resize(number);
  for (LastBranch& b : branches) {
    b.log_likelihood.resize(count);
    b.mean.resize(size * count);
    b.second.resize(size * (size + 1) / 2 * count);
  }
}

std::unique_ptr<LastLayer> last_layer(const DeepAttention& model) {
  const int rank = model.rank_of(model.layers - 1);
  if (rank == 1 && model.noise == 0.0) return std::make_unique<SignedLast>(model.tokens);
  if (rank == 1) return std::make_unique<NoisyLast>(model.tokens, model.noise);
  if (rank == 2 && model.noise == 0.0) {
    if (model.tokens == 2) return std::make_unique<RankTwoPair>();
    return std::make_unique<RotatedLast>(model.tokens);
  }
  if (rank == 3 && model.noise == 0.0 && model.tokens > 3) {
    return std::make_unique<RankThreeRotation>(model.tokens);
  }
  refuse_last(model);
}

}  // namespace onset::smi
