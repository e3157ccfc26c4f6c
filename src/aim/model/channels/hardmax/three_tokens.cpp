#include "aim/model/channels/hardmax/three_tokens.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "aim/model/data.hpp"

namespace onset::aim {
namespace {

constexpr std::size_t score_count = 6;
constexpr std::size_t nodes = 8;  ///< the number of nodes of a panel
/// The width of a panel, and how far the tails are covered, in standard deviations.
constexpr double panel_width = 1.0;
constexpr double reach = 7.0;
/// Labels that contradict omega by more have their mass in tails, whose slopes need finer panels.
constexpr double mild_contradiction = 4.0;

/// Scores of the three pairs of tokens, and of the tokens with themselves (score_index).
constexpr std::array<std::size_t, 3> own_scores{0, 3, 5};
struct Pair {
  std::size_t score;
  int one;
  int other;
  int left_out;  ///< the third token
  [[nodiscard]] int partner(int token) const { return token == one ? other : one; }
};
constexpr std::array<Pair, 3> token_pairs{{{1, 0, 1, 2}, {2, 0, 2, 1}, {4, 1, 2, 0}}};

/// The Gauss-Legendre rule on [-1, 1], and integrals from -1 to a node of the polynomial through
/// all nodes.
struct PanelRule {
  std::array<double, nodes> x{};
  std::array<double, nodes> weight{};
  std::array<std::array<double, nodes>, nodes> up_to{};

  PanelRule() {
    using Rule = boost::math::quadrature::gauss<double, nodes>;
    for (std::size_t i = 0; i < nodes / 2; ++i) {
      x[nodes / 2 + i] = Rule::abscissa()[i];
      x[nodes / 2 - 1 - i] = -Rule::abscissa()[i];
      weight[nodes / 2 + i] = weight[nodes / 2 - 1 - i] = Rule::weights()[i];
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t j = 0; j < nodes; ++j) {
        // The Legendre series of the j-th Lagrange polynomial is integrated term by term.
        double sum = 0.5 * weight[j] * (x[i] + 1.0);
        for (unsigned n = 1; n < nodes; ++n) {
          sum += 0.5 * weight[j] * std::legendre(n, x[j]) *
                 (std::legendre(n + 1, x[i]) - std::legendre(n - 1, x[i]));
        }
        up_to[i][j] = sum;
      }
    }
  }
};

const PanelRule& rule() {
  static const PanelRule once;
  return once;
}

using Values = std::vector<double>;

/// Whether the diagonal is the largest entry of row a.
bool wins(const std::array<int, 3>& label, std::size_t a) {
  return static_cast<std::size_t>(label[a]) == a;
}

/// How far the means of the scores are from what the rows say, in standard deviations.
double contradiction(const std::array<int, 3>& label, std::span<const double> omega,
                     std::span<const double> variance) {
  double sum = 0.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto at = [a](std::size_t b) { return score_index(std::min(a, b), std::max(a, b), 3); };
    const std::size_t shown = at(static_cast<std::size_t>(label[a]));
    double most = 0.0;
    for (std::size_t b = 0; b < 3; ++b) {
      most = std::max(most,
                      (omega[at(b)] - omega[shown]) / std::sqrt(variance[at(b)] + variance[shown]));
    }
    sum += most;
  }
  return sum;
}

/// Points that cover all scores, and the laws of the six scores at these points.
class Grid {
 public:
  Grid(const std::array<int, 3>& label, std::span<const double> omega,
       std::span<const double> variance)
      : omega_(omega), variance_(variance) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double narrowest = low;
    for (std::size_t i = 0; i < score_count; ++i) {
      const double deviation = std::sqrt(variance[i]);
      narrowest = std::min(narrowest, deviation);
      low = std::min(low, omega[i] - reach * deviation);
      high = std::max(high, omega[i] + reach * deviation);
    }
    const double finer = std::max(1.0, contradiction(label, omega, variance) / mild_contradiction);
    const double panels = std::ceil((high - low) * finer / (panel_width * narrowest));
    half_ = 0.5 * (high - low) / panels;
    for (double p = 0.0; p < panels; ++p) {
      for (const double x : rule().x) x_.push_back(low + half_ * (2.0 * p + 1.0 + x));
    }
    for (const Pair& pair : token_pairs) tabulate(pair.score, -1.0);
    for (std::size_t a = 0; a < 3; ++a) tabulate(own_scores[a], wins(label, a) ? 1.0 : -1.0);
  }

  [[nodiscard]] std::size_t size() const { return x_.size(); }
  /// The probability that score i is below the point, or above if it is a diagonal that wins its
  /// row.
  [[nodiscard]] double side(std::size_t i, std::size_t at) const { return side_[i][at]; }
  /// The score's density at x, and (x - omega)/variance.
  [[nodiscard]] double density(std::size_t i, std::size_t at) const { return density_[i][at]; }
  [[nodiscard]] double pull(std::size_t i, std::size_t at) const {
    return (x_[at] - omega_[i]) / variance_[i];
  }

  [[nodiscard]] double weight(std::size_t at) const { return half_ * rule().weight[at % nodes]; }
  /// Integrals of f below every point.
  [[nodiscard]] Values integral_below(const Values& f) const {
    Values out(f.size());
    double before = 0.0;
    for (std::size_t i = 0; i < f.size(); i += nodes) before += add_panel(f, i, false, before, out);
    return out;
  }
  /// Integrals of f above every point. They are computed directly, since a small one would have no
  /// digits left as a difference.
  [[nodiscard]] Values integral_above(const Values& f) const {
    Values out(f.size());
    double before = 0.0;
    for (std::size_t i = f.size(); i > 0; i -= nodes) {
      before += add_panel(f, i - nodes, true, before, out);
    }
    return out;
  }

 private:
  /// Integrals from one end of a panel, on top of `before`; returns the whole panel's.
  double add_panel(const Values& f, std::size_t start, bool from_above, double before,
                   Values& out) const {
    double whole = 0.0;
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto& row = rule().up_to[from_above ? nodes - 1 - i : i];
      double part = 0.0;
      for (std::size_t j = 0; j < nodes; ++j) {
        part += row[from_above ? nodes - 1 - j : j] * f[start + j];
      }
      out[start + i] = before + half_ * part;
      whole += weight(start + i) * f[start + i];
    }
    return whole;
  }

  void tabulate(std::size_t i, double sign) {
    const double deviation = std::sqrt(variance_[i]);
    const double scale = 1.0 / (deviation * std::sqrt(2.0 * std::numbers::pi));
    side_[i].resize(x_.size());
    density_[i].resize(x_.size());
    for (std::size_t at = 0; at < x_.size(); ++at) {
      const double z = (x_[at] - omega_[i]) / deviation;
      side_[i][at] = 0.5 * std::erfc(sign * z / std::numbers::sqrt2);
      density_[i][at] = scale * std::exp(-0.5 * z * z);
    }
  }

  std::span<const double> omega_;
  std::span<const double> variance_;
  double half_ = 0.0;
  Values x_;
  std::array<Values, score_count> side_, density_;
};

/// What a row says when its larger score with another token is x: the probability that its
/// diagonal is on the side that the label says, and the derivative with respect to its mean.
struct Row {
  std::size_t score;
  double sign;
  Row(const std::array<int, 3>& label, int token)
      : score(own_scores[static_cast<std::size_t>(token)]),
        sign(wins(label, static_cast<std::size_t>(token)) ? 1.0 : -1.0) {}
  [[nodiscard]] double value(const Grid& grid, std::size_t at) const {
    return grid.side(score, at);
  }
  [[nodiscard]] double slope(const Grid& grid, std::size_t at) const {
    return sign * grid.density(score, at);
  }
};

/// Adds the part of Z and of its gradient where the scores of three pairs are in one order: top >
/// middle > bottom. The two rows of the top pair see the top, the third one the middle.
void add_order(const Grid& grid, const std::array<int, 3>& label, const Pair& top,
               const Pair& middle, const Pair& bottom, double& z, std::span<double> gradient) {
  const Row one(label, top.one);
  const Row other(label, top.other);
  const Row third(label, top.left_out);
  Values high(grid.size());  // density of the top score with its two rows
  Values low(grid.size());   // density of the middle one with its row, the bottom one below
  for (std::size_t at = 0; at < grid.size(); ++at) {
    high[at] = grid.density(top.score, at) * one.value(grid, at) * other.value(grid, at);
    low[at] = grid.density(middle.score, at) * third.value(grid, at) * grid.side(bottom.score, at);
  }
  const Values low_below = grid.integral_below(low);
  const Values high_above = grid.integral_above(high);
  for (std::size_t at = 0; at < grid.size(); ++at) {
    const double w = grid.weight(at);
    const double upper = w * low_below[at];
    const double lower = w * high_above[at];
    const double top_density = grid.density(top.score, at);
    const double middle_density = grid.density(middle.score, at);
    const double under = grid.side(bottom.score, at);
    z += upper * high[at];
    gradient[top.score] += upper * high[at] * grid.pull(top.score, at);
    gradient[one.score] += upper * top_density * one.slope(grid, at) * other.value(grid, at);
    gradient[other.score] += upper * top_density * one.value(grid, at) * other.slope(grid, at);
    gradient[middle.score] += lower * low[at] * grid.pull(middle.score, at);
    gradient[third.score] += lower * middle_density * third.slope(grid, at) * under;
    gradient[bottom.score] -=
        lower * middle_density * third.value(grid, at) * grid.density(bottom.score, at);
  }
}

/// Whether an order of the pairs allows the label: a row that shows a pair shows its larger one.
bool allows(const std::array<int, 3>& label, const Pair& top, const Pair& middle) {
  const auto shows = [&](int token, const Pair& pair) {
    const int choice = label[static_cast<std::size_t>(token)];
    return choice == token || choice == pair.partner(token);
  };
  return shows(top.one, top) && shows(top.other, top) && shows(top.left_out, middle);
}

}  // namespace

double three_token_label(const std::array<int, 3>& label, std::span<const double> omega,
                         std::span<const double> variance, std::span<double> gradient) {
  const Grid grid(label, omega, variance);
  double z = 0.0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    const Pair& top = token_pairs[order[0]];
    const Pair& middle = token_pairs[order[1]];
    if (allows(label, top, middle)) {
      add_order(grid, label, top, middle, token_pairs[order[2]], z, gradient);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  if (!(z > 0.0)) {
    std::fill(gradient.begin(), gradient.end(), std::numeric_limits<double>::quiet_NaN());
    return 0.0;
  }
  for (double& g : gradient) g /= z;
  return z;
}

}  // namespace onset::aim
