#include "smi/limits/block_equations.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/solvers/roots.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using At = BlockEquations::At;

namespace {

/// Newton's method for Theta ends at this relative change, or where rounding stops a change that is
/// below the second one from falling.
constexpr double theta_change = 1e-13;
constexpr double rounded_change = 1e-8;
constexpr int max_newton_steps = 300;
/// Below this Theta the labels fix the weights exactly: S is singular on enough of them.
constexpr double least_theta = 1e-7;

/// theta (x) I over the tokens.
MatrixXd over_tokens(const MatrixXd& theta, Index tokens) {
  MatrixXd out = MatrixXd::Zero(theta.rows() * tokens, theta.cols() * tokens);
  for (Index i = 0; i < theta.rows(); ++i) {
    for (Index j = 0; j < theta.cols(); ++j) {
      out.block(i * tokens, j * tokens, tokens, tokens).diagonal().setConstant(theta(i, j));
    }
  }
  return out;
}

/// a (x) b, for maps X -> a X b^T of entries row by row.
MatrixXd kronecker(const MatrixXd& a, const MatrixXd& b) {
  return token_kronecker(a, b, 1);
}

VectorXd entries(const MatrixXd& x) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = x;
  return Eigen::Map<const VectorXd>(rows.data(), rows.size());
}

MatrixXd from_entries(const VectorXd& x, Index rows) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      x.data(), rows, x.size() / rows);
}

/// The averages for few fields, whose number is known to the compiler.
template <int size, int directions>
void add_averages(const Labels& labels, std::size_t block, double gamma, const MatrixXd& theta,
                  At& out) {
  constexpr int tokens = size / directions;
  using Matrix = Eigen::Matrix<double, size, size>;
  const Matrix rest = Matrix::Identity() - Matrix(over_tokens(theta, tokens));
  for (const LabelExcess& label : labels) {
    const Matrix g = label.excess[block];
    const Matrix inner = gamma * Matrix::Identity() + rest * g;
    const Matrix k = g * inner.inverse();
    const auto part = [&k](int i, int j) {
      return k.template block<tokens, tokens>(i * tokens, j * tokens);
    };
    for (int i = 0; i < directions; ++i) {
      for (int j = 0; j < directions; ++j) {
        out.sum(i, j) += label.weight * part(i, j).trace();
        for (int l = 0; l < directions; ++l) {
          for (int m = 0; m < directions; ++m) {
            out.square(i * directions + l, j * directions + m) +=
                label.weight * part(i, j).cwiseProduct(part(l, m)).sum();
          }
        }
      }
    }
  }
}
}  // namespace

MatrixXd token_kronecker(const MatrixXd& a, const MatrixXd& b, Index tokens) {
  const Index p = a.rows() / tokens;
  const Index q = b.rows() / tokens;
  MatrixXd out = MatrixXd::Zero(p * q, p * q);
  for (Index i = 0; i < p; ++i) {
    for (Index k = 0; k < p; ++k) {
      for (Index j = 0; j < q; ++j) {
        for (Index l = 0; l < q; ++l) {
          out(i * q + j, k * q + l) =
              a.block(i * tokens, k * tokens, tokens, tokens)
                  .cwiseProduct(b.block(j * tokens, l * tokens, tokens, tokens))
                  .sum();
        }
      }
    }
  }
  return out;
}

BlockEquations::BlockEquations(const Labels& labels, const SpectralLaw& law, std::size_t block,
                               double alpha, double gamma)
    : labels_(&labels),
      tokens_(law.tokens),
      size_(law.rank[block]),
      block_(block),
      blocks_(law.rank.size()),
      alpha_(alpha),
      gamma_(gamma) {
  if (size_ > 1) return;
  for (const LabelExcess& label : labels) {
    const VectorXd values = numerics::symmetric_eigenvalues(label.excess[block]);
    for (const double g : values) single_.push_back({label.weight, g});
  }
}

MatrixXd BlockEquations::kernel(const MatrixXd& g, const MatrixXd& theta) const {
  const Index n = g.rows();
  const MatrixXd identity = MatrixXd::Identity(n, n);
  const MatrixXd inner = gamma_ * identity + (identity - over_tokens(theta, tokens_)) * g;
  const MatrixXd k = g * numerics::inverse(inner);
  return 0.5 * (k + k.transpose());
}

At BlockEquations::at(const MatrixXd& theta) const {
  At out{MatrixXd::Zero(size_, size_), MatrixXd::Zero(size_ * size_, size_ * size_)};
  if (size_ == 1) {
    // Sums over tokens are sums over the eigenvalues of G.
    for (const auto& [weight, g] : single_) {
      const double k = g / (gamma_ + (1.0 - theta(0, 0)) * g);
      out.sum(0, 0) += weight * k;
      out.square(0, 0) += weight * k * k;
    }
    return out;
  }
  if (size_ == 2 && tokens_ == 1) {
    add_averages<2, 2>(*labels_, block_, gamma_, theta, out);
  } else if (size_ == 3 && tokens_ == 1) {
    add_averages<3, 3>(*labels_, block_, gamma_, theta, out);
  } else if (size_ == 4 && tokens_ == 1) {
    add_averages<4, 4>(*labels_, block_, gamma_, theta, out);
  } else if (size_ == 2 && tokens_ == 2) {
    add_averages<4, 2>(*labels_, block_, gamma_, theta, out);
  } else {
    add_any(theta, out);
  }
  return out;
}

void BlockEquations::add_any(const MatrixXd& theta, At& out) const {
  for (const LabelExcess& label : *labels_) {
    const MatrixXd k = kernel(label.excess[block_], theta);
    for (Index i = 0; i < size_; ++i) {
      for (Index j = 0; j < size_; ++j) {
        out.sum(i, j) += label.weight * k.block(i * tokens_, j * tokens_, tokens_, tokens_).trace();
      }
    }
    out.square += label.weight * token_kronecker(k, k, tokens_);
  }
}

MatrixXd BlockEquations::signal(const MatrixXd& theta, std::size_t other) const {
  MatrixXd out;
  for (const LabelExcess& label : *labels_) {
    const MatrixXd k = kernel(label.excess[block_], theta);
    const MatrixXd term = label.weight * token_kronecker(k, label.excess[other], tokens_);
    out = out.size() == 0 ? term : MatrixXd(out + term);
  }
  return out;
}

MatrixXd BlockEquations::stability(const MatrixXd& theta, const At& now) const {
  const MatrixXd inverse = numerics::inverse(theta);
  return kronecker(inverse, inverse) - alpha_ * now.square;
}

double BlockEquations::gap(const MatrixXd& theta, const At& now) const {
  const MatrixXd root = numerics::symmetric_root(theta);
  const MatrixXd both = kronecker(root, root);
  const MatrixXd map = alpha_ * both * now.square * both;
  return 1.0 - numerics::symmetric_eigenvalues(map).maxCoeff();
}

std::optional<MatrixXd> BlockEquations::theta(double lambda) const {
  const MatrixXd identity = MatrixXd::Identity(size_, size_);
  const auto residual = [&](const MatrixXd& x, const At& now) -> MatrixXd {
    return numerics::inverse(x) + alpha_ * now.sum - lambda * identity;
  };
  const auto least = [](const MatrixXd& x) {
    return numerics::symmetric_eigenvalues(x).minCoeff();
  };
  MatrixXd x = 0.5 / std::max(lambda, 1.0) * identity;
  At now = at(x);
  while (least(residual(x, now)) <= 0.0 && x(0, 0) > least_theta) {
    x *= 0.25;
    now = at(x);
  }
  if (x(0, 0) <= least_theta) return MatrixXd(MatrixXd::Zero(size_, size_));
  double before = 1.0;
  for (int step = 0; step < max_newton_steps; ++step) {
    if (!(gap(x, now) > 0.0)) return std::nullopt;
    const VectorXd move = numerics::solve_symmetric(stability(x, now), entries(residual(x, now)));
    const MatrixXd change = from_entries(move, size_);
    x += 0.5 * (change + change.transpose());
    if (!x.allFinite() || least(x) <= 0.0) return std::nullopt;
    now = at(x);
    const double moved = change.norm() / x.norm();
    if (moved < theta_change || (moved < rounded_change && moved > 0.5 * before)) return x;
    before = moved;
  }
  return std::nullopt;
}

std::optional<double> BlockEquations::single_edge() const {
  const auto one = [](double x) { return MatrixXd(MatrixXd::Constant(1, 1, x)); };
  const auto f = [&](double x) { return gap(one(x), at(one(x))); };
  if (!(f(least_theta) > 0.0)) return std::nullopt;
  const double x = numerics::bracketed_root(f, least_theta, 1.0).x;
  return 1.0 / x + alpha_ * at(one(x)).sum(0, 0);
}

std::optional<double> BlockEquations::edge() const {
  if (size_ == 1) return single_edge();
  double high = std::max(2.0, 2.0 * alpha_);
  std::optional<MatrixXd> x = theta(high);
  while (!x || !(x->norm() > 0.0)) {
    if (x || high > 1e12) return std::nullopt;
    high *= 2.0;
    x = theta(high);
  }
  double last = high;
  double last_square = std::pow(gap(*x, at(*x)), 2.0);
  double below = -1e9;
  double now = 0.5 * high;
  for (int step = 0; step < 200 && last - below > 1e-10 * std::max(1.0, std::abs(last)); ++step) {
    const std::optional<MatrixXd> next = theta(now);
    if (!next) {
      below = std::max(below, now);
      now = 0.5 * (last + below);
      continue;
    }
    const double square = std::pow(gap(*next, at(*next)), 2.0);
    const double slope = (last_square - square) / (last - now);
    last = now;
    last_square = square;
    if (std::sqrt(square) < 1e-7) break;
    // A little less than the whole way, so that the next one is found too.
    const double guess = slope > 0.0 ? now - 0.999 * square / slope : 0.5 * (now + below);
    now = guess > below ? guess : 0.5 * (last + below);
  }
  return last;
}

BlockEquations::Modes BlockEquations::modes(const MatrixXd& theta) const {
  Modes all;
  const MatrixXd root = numerics::symmetric_root(theta);
  for (std::size_t c = 0; c < blocks_; ++c) {
    const MatrixXd map = signal(theta, c);
    const Index columns = map.rows() / size_;
    const MatrixXd both = kronecker(root, MatrixXd::Identity(columns, columns));
    const MatrixXd symmetric = alpha_ * both * map * both;
    const numerics::SymmetricEigen eigen =
        numerics::symmetric_eigen(0.5 * (symmetric + symmetric.transpose()));
    for (Index k = 0; k < map.rows(); ++k) {
      all.value.push_back(eigen.values(k));
      all.overlap.push_back((both * eigen.vectors.col(k)).normalized());
      all.other.push_back(c);
    }
  }
  std::vector<std::size_t> order(all.value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all.value[a] > all.value[b]; });
  Modes sorted;
  for (const std::size_t k : order) {
    sorted.value.push_back(all.value[k]);
    sorted.overlap.push_back(all.overlap[k]);
    sorted.other.push_back(all.other[k]);
  }
  return sorted;
}

double BlockEquations::mean_overlap(const MatrixXd& theta, const Modes& modes,
                                    const std::vector<std::size_t>& space) const {
  if (theta.norm() == 0.0) return 1.0;
  const At now = at(theta);
  const MatrixXd identity = MatrixXd::Identity(size_, size_);
  const MatrixXd x =
      from_entries(numerics::solve_symmetric(stability(theta, now), entries(identity)), size_);
  const auto count = static_cast<Index>(space.size());
  // |w|^2 as a quadratic form of s.
  MatrixXd norm = MatrixXd::Identity(count, count);
  const MatrixXd x_tokens = over_tokens(0.5 * (x + x.transpose()), tokens_);
  for (std::size_t c = 0; c < blocks_; ++c) {
    MatrixXd form;
    for (const LabelExcess& label : *labels_) {
      const MatrixXd k = kernel(label.excess[block_], theta);
      const MatrixXd& g = label.excess[c];
      const MatrixXd s = g + MatrixXd::Identity(g.rows(), g.cols());
      const MatrixXd term = label.weight * token_kronecker(k * x_tokens * k, s, tokens_);
      form = form.size() == 0 ? term : MatrixXd(form + term);
    }
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        const std::size_t a = space[static_cast<std::size_t>(i)];
        const std::size_t b = space[static_cast<std::size_t>(j)];
        if (modes.other[a] != c || modes.other[b] != c) continue;
        norm(i, j) += alpha_ * modes.overlap[a].dot(form * modes.overlap[b]);
      }
    }
  }
  return numerics::inverse(norm).trace() / static_cast<double>(count);
}

double BlockEquations::outlier(std::size_t k, double edge) const {
  const auto excess = [&](double lambda) {
    const auto x = theta(lambda);
    // Just at the edge Newton's method may fail by rounding: a mode that is asked for is above 1
    // there.
    return x ? modes(*x).value[k] - 1.0 : 1.0;
  };
  // Strong negative weights may push the edge below 0.
  double high = edge + 0.5 + 0.5 * std::abs(edge);
  while (excess(high) > 0.0) {
    high += high - edge;
    if (high > 1e9) throw Refused("the equation of an outlier could not be solved");
  }
  return numerics::bracketed_root(excess, edge, high).x;
}

}  // namespace onset::smi
