#include "smi/limits/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/prose.hpp"
#include "numerics/jackknife.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/parallel.hpp"
#include "numerics/solvers/roots.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/block_equations.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using numerics::Replicates;

/// Eigenvalues beyond the bulk that differ by less, relatively, are those of one eigenspace.
constexpr double same_outlier = 1e-4;
/// At gamma = 1 modes within this of 1 are outliers there; G has errors, and the others lie below.
constexpr double at_one = 1e-3;
/// An eigenvalue of the map of outliers counts above 1 by this much, so that rounding and the
/// errors of G do not make one.
constexpr double above_one = 1e-9;
/// What one eigenspace beyond the bulk is.
struct Beyond {
  double eigenvalue = 0.0;
  double overlap = 0.0;
  int multiplicity = 1;
  std::vector<std::size_t> teachers;
};

/// Groups of equal values, of a list that falls.
std::vector<std::vector<std::size_t>> groups(const std::vector<double>& values, double difference) {
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (out.empty() || values[out.back().front()] - values[k] >
                           difference * std::abs(values[out.back().front()])) {
      out.emplace_back();
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
void add_outliers_at_one(const BlockEquations& equations, std::size_t block, OneLimit& out) {
  const auto x = equations.theta(1.0);
  if (!x) {
    throw Refused(prose(R"(
        The equation of the outlier at 1 could not be solved: `alpha` may be so large that labels
        nearly fix the weights. `method = bulk` bounds the weights of labels.)"));
  }
  if (x->norm() == 0.0) {
    // The labels fix the block's own directions.
    out.beyond.push_back({1.0, 1.0, static_cast<int>(x->rows()), {block}});
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
  const bool is_set_by_all = alpha * growth > gamma * gamma;
  if (is_bulk) {
    out.edge = 1.0;
  } else if (is_set_by_all) {
    out.edge = equations.edge();
  }
  if (!is_bulk && gamma == 1.0) {
    if (is_set_by_all) add_outliers_at_one(equations, block, out);
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

/// What the lists of a law say of one number.
struct Spread {
  Replicates replicates;
  Replicates pooled;  ///< one value or none
  Replicates noisier;
};

/// The part of the bias that the jackknife takes off which it may leave: bias of second order.
constexpr double left_by_jackknife = 0.5;

/// The mean, with the bias that errors of G and of the rule leave.
Estimate estimate(const Spread& spread, double rule_error) {
  if (!spread.pooled.empty()) {
    const double pooled = spread.pooled.front();
    const auto count = static_cast<double>(spread.replicates.size());
    Replicates values;
    for (const double without : spread.replicates) {
      values.push_back(numerics::pseudo_value(pooled, without, count));
    }
    const double taken = numerics::mean(values) - pooled;
    return numerics::reduce(values, std::hypot(left_by_jackknife * taken, rule_error * pooled));
  }
  const double value = numerics::mean(spread.replicates);
  const double noise =
      spread.noisier.empty() ? 0.0 : std::abs(numerics::mean(spread.noisier) - value);
  const double bias = std::hypot(noise, rule_error * std::abs(value));
  return spread.replicates.size() > 1 ? numerics::reduce(spread.replicates, bias)
                                      : Estimate{value, bias};
}

/// The answers of all lists of a law.
struct AllLimits {
  std::vector<OneLimit> replicates, pooled, noisier;

  template <class Read>
  [[nodiscard]] Spread spread(const Read& read) const {
    Spread out;
    for (const OneLimit& one : replicates) out.replicates.push_back(read(one));
    for (const OneLimit& one : pooled) out.pooled.push_back(read(one));
    for (const OneLimit& one : noisier) out.noisier.push_back(read(one));
    return out;
  }
};

/// Whether all have the edge and the eigenspaces that the first has.
bool alike(const OneLimit& first, const std::vector<OneLimit>& all) {
  return std::all_of(all.begin(), all.end(), [&](const OneLimit& one) {
    if (one.edge.has_value() != first.edge.has_value()) return false;
    if (one.beyond.size() != first.beyond.size()) return false;
    for (std::size_t k = 0; k < one.beyond.size(); ++k) {
      if (one.beyond[k].multiplicity != first.beyond[k].multiplicity) return false;
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
    Spread spread;
    for (const Labels& one : law.replicates) spread.replicates.push_back(growth_of(one, law, b));
    for (const Labels& one : law.pooled) spread.pooled.push_back(growth_of(one, law, b));
    for (const Labels& one : law.noisier) spread.noisier.push_back(growth_of(one, law, b));
    out.push_back(estimate(spread, law.rule_error));
  }
  return out;
}

SpectralLimit spectral_limit(const SpectralLaw& law, std::size_t block, double alpha,
                             const SpectralMethod& method, const Context& context) {
  AllLimits all{limits_of(law.replicates, law, block, alpha, method, context),
                limits_of(law.pooled, law, block, alpha, method, context),
                limits_of(law.noisier, law, block, alpha, method, context)};
  const OneLimit& first = all.replicates.front();
  if (!alike(first, all.replicates) || !alike(first, all.pooled)) {
    throw Refused(
        "replicates of the integrals do not agree on the number of outliers: alpha is too close to "
        "where one leaves the bulk");
  }
  if (!alike(first, all.noisier)) all.noisier.clear();
  SpectralLimit out;
  out.gamma = method.gamma;
  if (first.edge) {
    out.edge = estimate(all.spread([](const OneLimit& one) { return *one.edge; }), law.rule_error);
    if (law.rank[block] > 1) {
      out.edge->error =
          std::hypot(out.edge->error, edge_resolution * std::max(1.0, std::abs(out.edge->value)));
    }
    if (method.kind == SpectralMethod::Kind::bulk) out.edge = Estimate{1.0, 0.0};
  }
  for (std::size_t k = 0; k < first.beyond.size(); ++k) {
    const auto value = [k](const OneLimit& one) { return one.beyond[k].eigenvalue; };
    const auto overlap = [k](const OneLimit& one) { return one.beyond[k].overlap; };
    Outlier one{estimate(all.spread(value), law.rule_error),
                estimate(all.spread(overlap), law.rule_error), first.beyond[k].multiplicity,
                first.beyond[k].teachers};
    const bool is_one = method.kind == SpectralMethod::Kind::gamma && method.gamma == 1.0;
    if (is_one) one.eigenvalue = {1.0, 0.0};
    out.outliers.push_back(std::move(one));
  }
  return out;
}

std::optional<OwnOutlier> own_outlier(const SpectralLaw& law, std::size_t block, double alpha) {
  std::optional<OwnOutlier> sum;
  for (const Labels& labels : law.best()) {
    const auto one = own_outlier_of(labels, law, block, alpha);
    if (!one || (sum && one->multiplicity != sum->multiplicity)) return std::nullopt;
    if (sum) {
      sum->theta += one->theta;
    } else {
      sum = one;
    }
  }
  if (sum) sum->theta /= static_cast<double>(law.best().size());
  return sum;
}

}  // namespace onset::smi
