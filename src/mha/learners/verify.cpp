#include "onset/mha/learners/verify.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/numerics/parallel.hpp"

// Nothing here comes from the learner: what it got wrong must not be wrong here in the same way.

namespace onset::mha {
namespace {

using Dense = Eigen::MatrixXd;

constexpr double zero_residual = 1e-10;
/// All examples, most of which the fit did not see; a little more than held-out ones may differ.
constexpr double zero_everywhere = 1e-9;
constexpr double slab_rounding = 1e-8;
/// A claimed residual may differ from ours by this factor.
constexpr double residual_factor = 1.01;
constexpr double difference_step = 1e-5;
constexpr double rank_tolerance = 1e-6;
constexpr int rows_per_feature = 8;
/// Multipliers of a proof may miss orthogonality by this much.
constexpr double proof_rounding = 1e-7;

double squared_distance(const double* a, const double* b, std::size_t size) {
  double sum = 0.0;
  for (std::size_t e = 0; e < size; ++e) sum += (a[e] - b[e]) * (a[e] - b[e]);
  return sum;
}

double relative_residual(const Layer& layer, const Examples& examples,
                         const std::vector<std::uint32_t>& which) {
  const std::size_t width = examples.width();
  const std::vector<double> zero(width);
  std::vector<double> out(width);
  double left = 0.0;
  double total = 0.0;
  for (const std::uint32_t n : which) {
    forward_one(layer, &examples.x[n * width], examples.tokens, out.data());
    left += squared_distance(out.data(), &examples.y[n * width], width);
    total += squared_distance(zero.data(), &examples.y[n * width], width);
  }
  return std::sqrt(left / total);
}

/// One head with the identity as projection: its outputs are attention times tokens.
Layer bare_head(std::span<const double> theta, int dim) {
  Layer head = make_layer(1, dim);
  std::copy(theta.begin(), theta.end(), head.theta.begin());
  for (int c = 0; c < dim; ++c) head.w[static_cast<std::size_t>(c * dim + c)] = 1.0;
  return head;
}

Layer head_of(const Layer& layer, int head) {
  Layer out = make_layer(1, layer.dim);
  std::copy(layer.theta_of(head).begin(), layer.theta_of(head).end(), out.theta.begin());
  std::copy(layer.w_of(head).begin(), layer.w_of(head).end(), out.w.begin());
  return out;
}

/// Outputs on the first `count` examples: one row per query.
Dense outputs(const Layer& layer, const Examples& examples, std::size_t count) {
  const std::size_t tokens = static_cast<std::size_t>(examples.tokens);
  std::vector<double> out(examples.width());
  Dense rows(static_cast<Eigen::Index>(count * tokens), examples.dim);
  for (std::size_t n = 0; n < count; ++n) {
    forward_one(layer, &examples.x[n * examples.width()], examples.tokens, out.data());
    for (std::size_t e = 0; e < out.size(); ++e) {
      const std::size_t dim = static_cast<std::size_t>(examples.dim);
      rows(static_cast<Eigen::Index>(n * tokens + e / dim), static_cast<Eigen::Index>(e % dim)) =
          out[e];
    }
  }
  return rows;
}

/// Rank of the derivative with respect to theta, by central differences, after projecting off what
/// w can do.
int jacobian_rank(const Layer& layer, const Examples& examples, const Context& context) {
  const int dim = layer.dim;
  const auto wanted = static_cast<std::size_t>(rows_per_feature * layer.heads * dim);
  const std::size_t count =
      std::min(examples.count, (wanted + static_cast<std::size_t>(examples.tokens) - 1) /
                                   static_cast<std::size_t>(examples.tokens));
  const auto rows = static_cast<Eigen::Index>(count) * examples.tokens;
  Dense features(rows, layer.heads * dim);
  for (int i = 0; i < layer.heads; ++i) {
    features.middleCols(i * dim, dim) = outputs(bare_head(layer.theta_of(i), dim), examples, count);
  }
  const Eigen::HouseholderQR<Dense> qr(features);
  const Dense basis = qr.householderQ() * Dense::Identity(rows, features.cols());
  const int unknowns = layer.heads * dim * dim;
  std::vector<Dense> derivative(static_cast<std::size_t>(unknowns));
  numerics::parallel_for(context, derivative.size(), [&](std::size_t u) {
    const auto size = static_cast<std::size_t>(dim * dim);
    Layer up = head_of(layer, static_cast<int>(u / size));
    Layer down = up;
    up.theta[u % size] += difference_step;
    down.theta[u % size] -= difference_step;
    Dense change = outputs(up, examples, count) - outputs(down, examples, count);
    change -= basis * (basis.transpose() * change);
    derivative[u] = change / change.norm();
  });
  Dense gram(unknowns, unknowns);
  for (int u = 0; u < unknowns; ++u) {
    context.check();
    for (int v = 0; v <= u; ++v) {
      gram(u, v) = gram(v, u) = derivative[static_cast<std::size_t>(u)]
                                    .cwiseProduct(derivative[static_cast<std::size_t>(v)])
                                    .sum();
    }
  }
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Dense>(gram, Eigen::EigenvaluesOnly).eigenvalues();
  return static_cast<int>(
      (values.array() > rank_tolerance * rank_tolerance * values.maxCoeff()).count());
}

/// How many of the slabs that a row proves some head violates.
int violated_slabs(const CertifiedRow& row, const Layer& layer, const Examples& examples,
                   int& proved) {
  const Eigen::Index dim = examples.dim;
  const Eigen::Index tokens = examples.tokens;
  Dense x(tokens, dim);
  for (Eigen::Index a = 0; a < tokens; ++a) {
    for (Eigen::Index c = 0; c < dim; ++c) {
      x(a, c) = examples.x[row.example * examples.width() + static_cast<std::size_t>(a * dim + c)];
    }
  }
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Rows> y(&examples.y[row.example * examples.width()], tokens, dim);
  const Dense differences = x.topRows(tokens - 1).rowwise() - x.row(tokens - 1);
  Dense sum = Dense::Zero(dim, dim);
  Dense stacked(differences.rows() * layer.heads, dim);
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Rows> w(layer.w_of(i).data(), dim, dim);
    sum += w;
    stacked.middleRows(i * differences.rows(), differences.rows()) = differences * w;
  }
  const double sigma = stacked.rows() > dim ? 0.0 : stacked.jacobiSvd().singularValues().minCoeff();
  if (!(sigma > 0.0)) return 0;
  const Dense design = (differences * sum).transpose();
  const Eigen::VectorXd target = (y.row(row.query) - x.row(tokens - 1) * sum).transpose();
  const Eigen::VectorXd free = design.colPivHouseholderQr().solve(target);
  const double delta =
      std::sqrt(static_cast<double>(tokens)) * (target - design * free).norm() / sigma;
  Eigen::VectorXd p(tokens);
  p << free, 1.0 - free.sum();
  Eigen::Index e = 0;
  p.maxCoeff(&e);
  int violated = 0;
  for (Eigen::Index c = 0; c < tokens; ++c) {
    if (c == e || !(p[c] > delta)) continue;
    ++proved;
    const double width = -std::log1p(-delta / p[c]) - std::log1p(-delta / p[e]);
    bool outside = false;
    for (int i = 0; i < layer.heads; ++i) {
      const Eigen::Map<const Rows> theta(layer.theta_of(i).data(), dim, dim);
      const double logit = x.row(row.query) * theta * (x.row(c) - x.row(e)).transpose();
      outside = outside || std::abs(logit - std::log(p[c] / p[e])) >
                               width * (1.0 + slab_rounding) + slab_rounding;
    }
    violated += outside ? 1 : 0;
  }
  return violated;
}

/// What the multipliers prove about the rejected tuple: y . lambda over |lambda|_1, or 0 when they
/// are not orthogonal to its features and prove nothing.
double proved_bound(const RejectedTuple& tuple, const Examples& examples) {
  const auto dim = static_cast<std::size_t>(examples.dim);
  const std::size_t heads = tuple.thetas.size() / (dim * dim);
  std::vector<double> out(examples.width());
  double length = 0.0;
  double bound = 0.0;
  Eigen::VectorXd product = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(heads * dim));
  for (std::size_t r = 0; r < tuple.rows.size(); ++r) {
    const CertifiedRow& row = tuple.rows[r];
    const double multiplier = tuple.multipliers[r];
    length += std::abs(multiplier);
    const std::size_t at = static_cast<std::size_t>(row.query) * dim;
    bound +=
        multiplier *
        examples.y[row.example * examples.width() + at + static_cast<std::size_t>(tuple.output)];
    for (std::size_t i = 0; i < heads; ++i) {
      const Layer head =
          bare_head(std::span(tuple.thetas).subspan(i * dim * dim, dim * dim), examples.dim);
      forward_one(head, &examples.x[row.example * examples.width()], examples.tokens, out.data());
      for (std::size_t c = 0; c < dim; ++c) {
        product[static_cast<Eigen::Index>(i * dim + c)] += multiplier * out[at + c];
      }
    }
  }
  if (!(length > 0.0) || product.lpNorm<Eigen::Infinity>() > proof_rounding * length) return 0.0;
  return bound / length;
}

bool rows_exist(const std::vector<CertifiedRow>& rows, const Examples& examples) {
  return std::all_of(rows.begin(), rows.end(), [&](const CertifiedRow& row) {
    return row.example < examples.count && row.query >= 0 && row.query < examples.tokens;
  });
}

void require_sense(const Certificate& certificate, const Layer& layer, const Examples& examples) {
  const auto matrix =
      static_cast<std::size_t>(examples.dim) * static_cast<std::size_t>(examples.dim);
  const RejectedTuple& tuple = certificate.rejected;
  const bool fits =
      layer.dim == examples.dim && layer.heads == certificate.heads && layer.heads > 0 &&
      !certificate.held_out.empty() && rows_exist(certificate.rows, examples) &&
      rows_exist(tuple.rows, examples) && tuple.rows.size() == tuple.multipliers.size() &&
      tuple.thetas.size() % matrix == 0 && tuple.output >= 0 && tuple.output < examples.dim &&
      std::all_of(certificate.held_out.begin(), certificate.held_out.end(),
                  [&](std::uint32_t n) { return n < examples.count; });
  if (!fits) {
    throw InvalidArgument("--model", "layer, certificate and examples do not fit one another");
  }
}

}  // namespace

std::uint64_t digest_of(const Examples& examples) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 1099511628211ULL; };
  add(static_cast<std::uint64_t>(examples.tokens));
  add(static_cast<std::uint64_t>(examples.dim));
  for (const std::int8_t value : examples.x) add(static_cast<std::uint8_t>(value));
  for (const double value : examples.y) add(std::bit_cast<std::uint64_t>(value));
  return hash;
}

Certificate certificate_of(const Learned& learned, const Examples& examples) {
  return {learned.verdict,  learned.reason,   digest_of(examples),   learned.layer.heads,
          learned.residual, learned.held_out, learned.evidence.rows, learned.evidence.rejected};
}

std::vector<Check> verify(const Certificate& certificate, const Layer& layer,
                          const Examples& examples, const Context& context) {
  require_sense(certificate, layer, examples);
  std::vector<Check> checks;
  const bool same = digest_of(examples) == certificate.digest;
  checks.push_back({"same examples", same ? 1.0 : 0.0, 1.0, same});

  const bool exact = certificate.verdict == Verdict::certified;
  const double held = relative_residual(layer, examples, certificate.held_out);
  const double claimed = exact ? zero_residual : residual_factor * certificate.residual;
  checks.push_back({"residual, held out", held, claimed, held <= claimed});
  context.check();

  std::vector<std::uint32_t> all(examples.count);
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<std::uint32_t>(n);
  const double everywhere = relative_residual(layer, examples, all);
  const double bound = exact ? zero_everywhere : 2.0 * certificate.residual;
  checks.push_back({"residual, all", everywhere, bound, everywhere <= bound});
  context.check();

  const int unknowns = layer.heads * layer.dim * layer.dim;
  const int rank = jacobian_rank(layer, examples, context);
  checks.push_back({"rank of the Jacobian", static_cast<double>(rank),
                    static_cast<double>(unknowns), rank == unknowns});

  int proved = 0;
  int violated = 0;
  for (const CertifiedRow& row : certificate.rows) {
    violated += violated_slabs(row, layer, examples, proved);
  }
  checks.push_back({"posterior slabs proved", static_cast<double>(proved), 1.0, proved >= 1});
  checks.push_back({"posterior slabs violated", static_cast<double>(violated), 0.0, violated == 0});

  // A single head has no wrong tuple beside it.
  if (layer.heads > 1 || !certificate.rejected.rows.empty()) {
    const bool given = !certificate.rejected.rows.empty();
    const double proof = given ? proved_bound(certificate.rejected, examples) : 0.0;
    const double claim = certificate.rejected.bound / residual_factor;
    checks.push_back(
        {"wrong tuple rejected", proof, claim, proof >= claim && proof > 0.0 && claim > 0.0});
  }
  return checks;
}

}  // namespace onset::mha
