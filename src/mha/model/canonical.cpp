#include "mha/model/canonical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace onset::mha {
namespace {

/// The norm is computed in units of the largest entry, whose square may leave the range of doubles.
double norm(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  if (!(largest > 0.0)) return 0.0;
  double sum = 0.0;
  for (const double v : values) sum += v / largest * (v / largest);
  return largest * std::sqrt(sum);
}

double distance(std::span<const double> a, std::span<const double> b) {
  std::vector<double> off(a.begin(), a.end());
  for (std::size_t c = 0; c < off.size(); ++c) off[c] -= b[c];
  return norm(off);
}

/// The distance itself where the truth is 0.
double relative(std::span<const double> found, std::span<const double> truth) {
  const double size = norm(truth);
  return distance(found, truth) / (size > 0.0 ? size : 1.0);
}

struct Head {
  std::vector<double> theta;
  std::vector<double> w;
};

std::vector<Head> merged(const Layer& layer, double near) {
  std::vector<Head> heads;
  for (int i = 0; i < layer.heads; ++i) {
    const auto same = std::find_if(heads.begin(), heads.end(), [&](const Head& head) {
      return distance(head.theta, layer.theta_of(i)) <= near;
    });
    const std::span<const double> w = layer.w_of(i);
    if (same == heads.end()) {
      heads.push_back({{layer.theta_of(i).begin(), layer.theta_of(i).end()}, {w.begin(), w.end()}});
    } else {
      for (std::size_t c = 0; c < w.size(); ++c) same->w[c] += w[c];
    }
  }
  return heads;
}

}  // namespace

Layer canonical(const Layer& layer, double tolerance) {
  double max_theta = 0.0;
  double max_w = 0.0;
  for (int i = 0; i < layer.heads; ++i) {
    max_theta = std::max(max_theta, norm(layer.theta_of(i)));
    max_w = std::max(max_w, norm(layer.w_of(i)));
  }
  std::vector<Head> heads = merged(layer, tolerance * max_theta);
  std::erase_if(heads, [&](const Head& head) { return norm(head.w) <= tolerance * max_w; });
  std::sort(heads.begin(), heads.end(), [](const Head& a, const Head& b) {
    const double left = norm(a.w);
    const double right = norm(b.w);
    return left != right ? left > right : a.theta < b.theta;
  });
  Layer out;
  out.heads = static_cast<int>(heads.size());
  out.dim = layer.dim;
  for (const Head& head : heads) {
    out.theta.insert(out.theta.end(), head.theta.begin(), head.theta.end());
    out.w.insert(out.w.end(), head.w.begin(), head.w.end());
  }
  return out;
}

bool has_zero_theta(const Layer& layer) {
  for (int i = 0; i < layer.heads; ++i) {
    if (norm(layer.theta_of(i)) == 0.0) return true;
  }
  return false;
}

std::optional<ParameterErrors> parameter_errors(const Layer& found, const Layer& truth) {
  if (found.heads != truth.heads || found.dim != truth.dim) return std::nullopt;
  std::vector<int> order(static_cast<std::size_t>(truth.heads));
  std::iota(order.begin(), order.end(), 0);
  ParameterErrors best{.theta = std::numeric_limits<double>::infinity()};
  do {
    ParameterErrors errors;
    for (int i = 0; i < truth.heads; ++i) {
      const int j = order[static_cast<std::size_t>(i)];
      errors.theta = std::max(*errors.theta, relative(found.theta_of(j), truth.theta_of(i)));
      if (norm(truth.theta_of(i)) == 0.0) errors.at_zero = norm(found.theta_of(j));
      errors.w = std::max(errors.w, relative(found.w_of(j), truth.w_of(i)));
    }
    if (errors.theta < best.theta || (errors.theta == best.theta && errors.w < best.w)) {
      best = errors;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  if (has_zero_theta(truth)) best.theta.reset();
  return best;
}

}  // namespace onset::mha
