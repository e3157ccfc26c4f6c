#include "smi/limits/spectral.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/matrix_equations.hpp"
#include "numerics/parallel.hpp"
#include "numerics/roots.hpp"
#include "numerics/symmetric_eigen.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;
using Labels = std::vector<LabelExcess>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Newton's method for Theta ends at this relative change, or where rounding stops a change that is
/// below the second one from falling.
constexpr double theta_change = 1e-13;
constexpr double rounded_change = 1e-8;
constexpr int max_newton_steps = 300;
/// Eigenvalues beyond the bulk that differ by less, relatively, are those of one eigenspace.
constexpr double same_outlier = 1e-4;
/// At gamma = 1 modes within this of 1 are outliers there; G has errors, and the others lie below.
constexpr double at_one = 1e-3;
/// An eigenvalue of the map of outliers counts above 1 by this much, so that rounding and the
/// errors of G do not make one.
constexpr double above_one = 1e-9;
/// Below this Theta the labels fix the weights exactly: S is singular on enough of them.
constexpr double least_theta = 1e-7;

/// X -> sum_ab A_ab X B_ab^T as a matrix over the entries of X, row by row; A_ab and B_ab are the
/// token blocks of two matrices over direction * tokens + token.
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

/// Averages over labels at one Theta [links 35].
struct At {
  MatrixXd sum;     ///< E sum_a K_aa
  MatrixXd square;  ///< X -> E sum_ab K_ab X K_ba
};

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

/// What one eigenspace beyond the bulk is.
struct Beyond {
  double eigenvalue = 0.0;
  double overlap = 0.0;
  int multiplicity = 1;
  std::vector<std::size_t> teachers;
};

/// The equations of one block under one replicate's labels.
class BlockEquations {
 public:
  BlockEquations(const Labels& labels, const SpectralLaw& law, std::size_t block, double alpha,
                 double gamma)
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

  /// K = G (gamma + (I - Theta) G)^{-1}, which stays finite where T is not.
  [[nodiscard]] MatrixXd kernel(const MatrixXd& g, const MatrixXd& theta) const {
    const Index n = g.rows();
    const MatrixXd identity = MatrixXd::Identity(n, n);
    const MatrixXd inner = gamma_ * identity + (identity - over_tokens(theta, tokens_)) * g;
    const MatrixXd k = g * numerics::inverse(inner);
    return 0.5 * (k + k.transpose());
  }

  [[nodiscard]] At at(const MatrixXd& theta) const {
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

  void add_any(const MatrixXd& theta, At& out) const {
    for (const LabelExcess& label : *labels_) {
      const MatrixXd k = kernel(label.excess[block_], theta);
      for (Index i = 0; i < size_; ++i) {
        for (Index j = 0; j < size_; ++j) {
          out.sum(i, j) +=
              label.weight * k.block(i * tokens_, j * tokens_, tokens_, tokens_).trace();
        }
      }
      out.square += label.weight * token_kronecker(k, k, tokens_);
    }
  }

  /// s -> E sum_ab K_ab s G_ba of another block's directions.
  [[nodiscard]] MatrixXd signal(const MatrixXd& theta, std::size_t other) const {
    MatrixXd out;
    for (const LabelExcess& label : *labels_) {
      const MatrixXd k = kernel(label.excess[block_], theta);
      const MatrixXd term = label.weight * token_kronecker(k, label.excess[other], tokens_);
      out = out.size() == 0 ? term : MatrixXd(out + term);
    }
    return out;
  }

  /// B of [links 37]: positive to the right of the bulk.
  [[nodiscard]] MatrixXd stability(const MatrixXd& theta, const At& now) const {
    const MatrixXd inverse = numerics::inverse(theta);
    return kronecker(inverse, inverse) - alpha_ * now.square;
  }

  /// 1 - the spectral radius of [links 36]; the edge is where it vanishes.
  [[nodiscard]] double gap(const MatrixXd& theta, const At& now) const {
    const MatrixXd root = numerics::symmetric_root(theta);
    const MatrixXd both = kronecker(root, root);
    const MatrixXd map = alpha_ * both * now.square * both;
    return 1.0 - numerics::symmetric_eigenvalues(map).maxCoeff();
  }

  /// Theta at an eigenvalue to the right of the bulk: the smallest solution of [links 35], by
  /// Newton's method from below, where it is monotone. Nothing inside the bulk.
  [[nodiscard]] std::optional<MatrixXd> theta(double lambda) const {
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

  /// One direction: the gap falls as Theta grows, and vanishes before Theta = 1 where the edge is
  /// not set by the largest labels.
  [[nodiscard]] double single_edge() const {
    const auto one = [](double x) { return MatrixXd(MatrixXd::Constant(1, 1, x)); };
    const auto f = [&](double x) { return gap(one(x), at(one(x))); };
    const double x = numerics::bracketed_root(f, least_theta, 1.0).x;
    return 1.0 / x + alpha_ * at(one(x)).sum(0, 0);
  }

  /// The bulk edge, from above: the squared gap falls to 0 linearly there.
  [[nodiscard]] double edge() const {
    if (size_ == 1) return single_edge();
    double high = std::max(2.0, 2.0 * alpha_);
    std::optional<MatrixXd> x = theta(high);
    while (!x || !(x->norm() > 0.0)) {
      if (x || high > 1e12) throw Refused("the bulk of the spectral matrix has no edge");
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

  /// Eigenvalues of the map of outliers at Theta [links 36], from the largest on, and eigenvectors
  /// s, by the blocks they are about.
  struct Modes {
    std::vector<double> value;
    std::vector<VectorXd> overlap;  ///< entries of s, with |s| = 1
    std::vector<std::size_t> other;
  };
  [[nodiscard]] Modes modes(const MatrixXd& theta) const {
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

  /// The mean squared overlap over an eigenspace of modes [links 37].
  [[nodiscard]] double mean_overlap(const MatrixXd& theta, const Modes& modes,
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

  /// The eigenvalue at which mode k is an outlier, above the edge.
  [[nodiscard]] double outlier(std::size_t k, double edge) const {
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

 private:
  struct WeightedEigenvalue {
    double weight;
    double g;
  };
  const Labels* labels_;
  std::vector<WeightedEigenvalue> single_;  ///< of one direction
  Index tokens_;
  Index size_;
  std::size_t block_;
  std::size_t blocks_;
  double alpha_;
  double gamma_;
};

/// Groups of equal values, of a list that falls.
std::vector<std::vector<std::size_t>> groups(const std::vector<double>& values, double difference) {
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (out.empty() || values[out.back().front()] - values[k] >
                           difference * std::abs(values[out.back().front()])) {
      out.push_back({});
    }
    out.back().push_back(k);
  }
  return out;
}

Beyond make_beyond(const BlockEquations& equations, const MatrixXd& theta,
                   const BlockEquations::Modes& modes, const std::vector<std::size_t>& space,
                   double eigenvalue) {
  Beyond one{
      eigenvalue, equations.mean_overlap(theta, modes, space), static_cast<int>(space.size()), {}};
  for (const std::size_t k : space) one.teachers.push_back(modes.other[k]);
  std::sort(one.teachers.begin(), one.teachers.end());
  one.teachers.erase(std::unique(one.teachers.begin(), one.teachers.end()), one.teachers.end());
  return one;
}

/// One replicate's answer.
struct OneLimit {
  std::optional<double> edge;
  std::vector<Beyond> beyond;
};

/// The largest eigenvalue of X -> E sum_ab G_ab X G_ba.
double growth_of(const Labels& labels, const SpectralLaw& law, std::size_t block) {
  MatrixXd sum;
  for (const LabelExcess& label : labels) {
    const MatrixXd term =
        label.weight * token_kronecker(label.excess[block], label.excess[block], law.tokens);
    sum = sum.size() == 0 ? term : MatrixXd(sum + term);
  }
  return numerics::symmetric_eigen(sum).values.maxCoeff();
}

/// Linearised message passing: Theta = I and K = G/gamma, gamma being the eigenvalue itself
/// [links 39].
OneLimit lamp_limit(const Labels& labels, const SpectralLaw& law, std::size_t block, double alpha) {
  const double edge = std::sqrt(alpha * growth_of(labels, law, block));
  OneLimit out{edge, {}};
  const MatrixXd identity = MatrixXd::Identity(law.rank[block], law.rank[block]);
  // At gamma = 1 the map of outliers is alpha times the growth map.
  const auto modes = BlockEquations(labels, law, block, alpha, 1.0).modes(identity);
  for (const auto& space : groups(modes.value, same_outlier)) {
    const double gamma = modes.value[space.front()];
    if (!(gamma > edge * (1.0 + above_one))) break;
    const BlockEquations own(labels, law, block, alpha, gamma);
    out.beyond.push_back(make_beyond(own, identity, modes, space, gamma));
  }
  return out;
}

/// gamma = 1: the outlier sits at 1, and all modes at 1 there are outliers [links 38].
void add_outliers_at_one(const BlockEquations& equations, OneLimit& out) {
  const auto x = equations.theta(1.0);
  if (!x) throw Refused("the equation of the outlier at 1 could not be solved");
  if (x->norm() == 0.0) {
    out.beyond.push_back({1.0, 1.0, 1, {}});
    return;
  }
  const auto modes = equations.modes(*x);
  std::vector<std::size_t> space;
  for (std::size_t k = 0; k < modes.value.size(); ++k) {
    if (std::abs(modes.value[k] - 1.0) < at_one) space.push_back(k);
  }
  if (space.empty()) throw Refused("no outlier was found at 1, where it must be");
  out.beyond.push_back(make_beyond(equations, *x, modes, space, 1.0));
}

OneLimit gamma_limit(const Labels& labels, const SpectralLaw& law, std::size_t block, double alpha,
                     const SpectralMethod& method, double gamma) {
  const double growth = growth_of(labels, law, block);
  const BlockEquations equations(labels, law, block, alpha, gamma);
  OneLimit out;
  const MatrixXd identity = MatrixXd::Identity(law.rank[block], law.rank[block]);
  const bool is_bulk = method.kind == SpectralMethod::Kind::bulk;
  if (is_bulk) {
    out.edge = 1.0;
  } else if (alpha * growth > gamma * gamma) {
    out.edge = equations.edge();
  }
  if (!is_bulk && gamma == 1.0) {
    if (out.edge) add_outliers_at_one(equations, out);
    return out;
  }
  // Where the edge is set by the largest labels, Theta = I at 1 is the last point that is known.
  const double from = out.edge.value_or(1.0);
  const auto near = equations.theta(from + 1e-7 * std::max(1.0, std::abs(from)));
  const auto modes = equations.modes(near ? *near : identity);
  std::vector<double> places;
  for (std::size_t k = 0; k < modes.value.size(); ++k) {
    if (modes.value[k] > 1.0 + above_one) places.push_back(equations.outlier(k, from));
  }
  for (const auto& space : groups(places, same_outlier)) {
    const double lambda = places[space.front()];
    const auto x = equations.theta(lambda);
    if (!x) continue;
    out.beyond.push_back(make_beyond(equations, *x, equations.modes(*x), space, lambda));
  }
  return out;
}

OneLimit limit_of(const Labels& labels, const SpectralLaw& law, std::size_t block, double alpha,
                  const SpectralMethod& method) {
  if (method.kind == SpectralMethod::Kind::lamp) return lamp_limit(labels, law, block, alpha);
  const double gamma = method.kind == SpectralMethod::Kind::bulk
                           ? std::sqrt(alpha * growth_of(labels, law, block))
                           : method.gamma;
  if (method.kind == SpectralMethod::Kind::bulk && gamma <= 1.0) return {};
  return gamma_limit(labels, law, block, alpha, method, gamma);
}

/// The search for the edge of several directions ends within this of it, relatively.
constexpr double edge_resolution = 1e-6;

/// The mean over replicates, with the bias that errors of G and of the rule leave.
Estimate with_bias(const Replicates& values, const Replicates& noisier, const SpectralLaw& law) {
  const double value = numerics::mean(values);
  const double noise = noisier.empty() ? 0.0 : std::abs(numerics::mean(noisier) - value);
  const double bias = std::hypot(noise, law.rule_error * std::abs(value));
  return values.size() > 1 ? numerics::reduce(values, bias) : Estimate{value, bias};
}

/// One number of every replicate; empty where some replicate does not have it.
template <class Read>
Replicates read_all(const std::vector<OneLimit>& all, const Read& read) {
  Replicates out;
  for (const OneLimit& one : all) out.push_back(read(one));
  return out;
}

bool alike(const std::vector<OneLimit>& all) {
  return std::all_of(all.begin(), all.end(), [&](const OneLimit& one) {
    if (one.edge.has_value() != all.front().edge.has_value()) return false;
    if (one.beyond.size() != all.front().beyond.size()) return false;
    for (std::size_t k = 0; k < one.beyond.size(); ++k) {
      if (one.beyond[k].multiplicity != all.front().beyond[k].multiplicity) return false;
    }
    return true;
  });
}

std::vector<OneLimit> limits_of(const std::vector<Labels>& replicates, const SpectralLaw& law,
                                std::size_t block, double alpha, const SpectralMethod& method,
                                const Context& context) {
  std::vector<OneLimit> out(replicates.size());
  numerics::parallel_for(context, replicates.size(), [&](std::size_t r) {
    out[r] = limit_of(replicates[r], law, block, alpha, method);
  });
  return out;
}

/// Theta of one replicate, with the number of modes at 1 about the block's own directions.
std::optional<OwnOutlier> own_outlier_of(const Labels& labels, const SpectralLaw& law,
                                         std::size_t block, double alpha) {
  if (!(alpha * growth_of(labels, law, block) > 1.0)) return std::nullopt;
  const BlockEquations equations(labels, law, block, alpha, 1.0);
  const auto theta = equations.theta(1.0);
  if (!theta) return std::nullopt;
  OwnOutlier out{*theta, 0};
  const auto modes = equations.modes(*theta);
  for (std::size_t k = 0; k < modes.value.size(); ++k) {
    if (modes.value[k] < 1.0 - at_one) continue;
    if (modes.other[k] != block) return std::nullopt;
    ++out.multiplicity;
  }
  if (out.multiplicity == 0) return std::nullopt;
  return out;
}

}  // namespace

std::vector<Estimate> spectral_growth(const SpectralLaw& law) {
  std::vector<Estimate> out;
  for (std::size_t b = 0; b < law.rank.size(); ++b) {
    Replicates values, noisier;
    for (const Labels& labels : law.replicates) values.push_back(growth_of(labels, law, b));
    for (const Labels& labels : law.noisier) noisier.push_back(growth_of(labels, law, b));
    out.push_back(with_bias(values, noisier, law));
  }
  return out;
}

SpectralLimit spectral_limit(const SpectralLaw& law, std::size_t block, double alpha,
                             const SpectralMethod& method, const Context& context) {
  const std::vector<OneLimit> all = limits_of(law.replicates, law, block, alpha, method, context);
  std::vector<OneLimit> noisier = limits_of(law.noisier, law, block, alpha, method, context);
  if (!alike(all)) {
    throw Refused(
        "replicates of the integrals do not agree on the number of outliers: alpha is too close to "
        "where one leaves the bulk");
  }
  if (!noisier.empty() && !alike({all.front(), noisier.front()})) noisier.clear();
  SpectralLimit out;
  out.gamma = method.gamma;
  if (all.front().edge) {
    const auto read = [](const OneLimit& one) { return *one.edge; };
    out.edge = with_bias(read_all(all, read), read_all(noisier, read), law);
    if (law.rank[block] > 1) {
      out.edge->error =
          std::hypot(out.edge->error, edge_resolution * std::max(1.0, std::abs(out.edge->value)));
    }
    if (method.kind == SpectralMethod::Kind::bulk) out.edge = Estimate{1.0, 0.0};
  }
  for (std::size_t k = 0; k < all.front().beyond.size(); ++k) {
    const auto value = [k](const OneLimit& one) { return one.beyond[k].eigenvalue; };
    const auto overlap = [k](const OneLimit& one) { return one.beyond[k].overlap; };
    const Beyond& first = all.front().beyond[k];
    Outlier one{with_bias(read_all(all, value), read_all(noisier, value), law),
                with_bias(read_all(all, overlap), read_all(noisier, overlap), law),
                first.multiplicity, first.teachers};
    const bool is_one = method.kind == SpectralMethod::Kind::gamma && method.gamma == 1.0;
    if (is_one) one.eigenvalue = {1.0, 0.0};
    out.outliers.push_back(std::move(one));
  }
  return out;
}

std::optional<OwnOutlier> own_outlier(const SpectralLaw& law, std::size_t block, double alpha) {
  std::optional<OwnOutlier> sum;
  for (const Labels& labels : law.replicates) {
    const auto one = own_outlier_of(labels, law, block, alpha);
    if (!one || (sum && one->multiplicity != sum->multiplicity)) return std::nullopt;
    if (sum) {
      sum->theta += one->theta;
    } else {
      sum = one;
    }
  }
  if (sum) sum->theta /= static_cast<double>(law.replicates.size());
  return sum;
}

}  // namespace onset::smi
