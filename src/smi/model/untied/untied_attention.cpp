#include "smi/model/untied/untied_attention.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/smi/model/deep_attention.hpp"
#include "smi/model/attention_label.hpp"
#include "smi/model/untied/scale_integral.hpp"

namespace onset::smi {
namespace {

/// Coordinates in the space of key fields whose sum over tokens is 0, of which alone a label
/// depends: Helmert's basis e_j = (1, .., 1, -j, 0, ..) / sqrt(j (j + 1)), j = 1 .. M - 1.
struct Centred {
  static void from_tokens(std::span<const double> tokens, std::span<double> out) {
    double sum = 0.0;
    for (std::size_t j = 1; j < tokens.size(); ++j) {
      sum += tokens[j - 1];
      const auto n = static_cast<double>(j);
      out[j - 1] = (sum - n * tokens[j]) / std::sqrt(n * (n + 1.0));
    }
  }
  static void to_tokens(std::span<const double> in, std::span<double> tokens) {
    std::fill(tokens.begin(), tokens.end(), 0.0);
    for (std::size_t j = 1; j < tokens.size(); ++j) {
      const auto n = static_cast<double>(j);
      const double x = in[j - 1] / std::sqrt(n * (n + 1.0));
      for (std::size_t t = 0; t < j; ++t) tokens[t] += x;
      tokens[j] -= n * x;
    }
  }
};

double squared(std::span<const double> x) {
  double sum = 0.0;
  for (const double v : x) sum += v * v;
  return sum;
}

double product(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

/// softmax_rows(beta q k^T) of the fields q and k.
void untied_matrix(double beta, std::span<const double> q, std::span<const double> k,
                   std::span<double> y) {
  const std::size_t m = q.size();
  for (std::size_t i = 0; i < m; ++i) {
    double top = beta * q[i] * k[0];
    for (std::size_t j = 1; j < m; ++j) top = std::max(top, beta * q[i] * k[j]);
    double sum = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
      y[i * m + j] = std::exp(beta * q[i] * k[j] - top);
      sum += y[i * m + j];
    }
    for (std::size_t j = 0; j < m; ++j) y[i * m + j] /= sum;
  }
}

/// A label is described by sqrt(rho) a and sqrt(rho) b, with the centred key fields kappa, q
/// kappa^T = rho a b^T and unit vectors a, b.
void describe(std::span<const double> q, std::span<const double> kappa, std::span<double> label) {
  const double scale = std::sqrt(std::sqrt(squared(kappa) / squared(q)));
  for (std::size_t i = 0; i < q.size(); ++i) label[i] = scale * q[i];
  for (std::size_t i = 0; i < kappa.size(); ++i) label[q.size() + i] = kappa[i] / scale;
}

class UntiedLabel final : public LabelForm {
 public:
  explicit UntiedLabel(const UntiedAttention& model)
      : beta_(model.beta), tokens_(static_cast<std::size_t>(model.tokens)) {}

  [[nodiscard]] std::vector<std::size_t> shape() const override { return {tokens_, tokens_}; }
  void write(std::span<const double> label, std::span<double> observed) const override {
    std::vector<double> keys(tokens_);
    Centred::to_tokens(label.subspan(tokens_), keys);
    untied_matrix(beta_, label.first(tokens_), keys, observed);
  }
  [[nodiscard]] bool keeps_description() const override { return true; }

  [[nodiscard]] std::string read(std::span<const double> observed,
                                 std::span<double> label) const override {
    const std::string fault = attention_fault(observed, tokens_);
    if (!fault.empty()) {
      return fault + "; allowed: positive rows that sum to 1, or the labels themselves in H.npy";
    }
    // Rows of scores without their means are q_i kappa; the longest one shows kappa best.
    std::vector<double> rows(tokens_ * (tokens_ - 1)), scores(tokens_);
    const auto row = [&](std::size_t i) {
      return std::span(rows).subspan(i * (tokens_ - 1), tokens_ - 1);
    };
    std::size_t longest = 0;
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t j = 0; j < tokens_; ++j) {
        scores[j] = std::log(observed[i * tokens_ + j]) / beta_;
      }
      Centred::from_tokens(scores, row(i));
      if (squared(row(i)) > squared(row(longest))) longest = i;
    }
    const double norm = squared(row(longest));
    if (!(norm > 0.0)) return "has rows of equal entries, which say nothing";
    std::vector<double> q(tokens_);
    for (std::size_t i = 0; i < tokens_; ++i) q[i] = product(row(i), row(longest)) / norm;
    describe(q, row(longest), label);
    return {};
  }
  void choose_representative(std::span<double> label) const override {
    if (label[0] >= 0.0) return;
    for (double& x : label) x = -x;
  }

 private:
  double beta_;
  std::size_t tokens_;
};

/// Fields of one sample along what its label says and across it.
struct Along {
  Along(std::span<const double> direction, std::span<const double> omega)
      : unit(direction.begin(), direction.end()), across(omega.begin(), omega.end()) {
    const double norm = std::sqrt(squared(direction));
    for (double& x : unit) x /= norm;
    along = product(unit, omega);
    for (std::size_t k = 0; k < unit.size(); ++k) across[k] -= along * unit[k];
  }
  std::vector<double> unit;
  double along = 0.0;
  std::vector<double> across;
};

class UntiedPosterior final : public Posterior {
 public:
  explicit UntiedPosterior(int tokens)
      : tokens_(static_cast<std::size_t>(tokens)), shape_{tokens, {1, 1}} {}

  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override {
    for (std::size_t i = 0; i < query.count; ++i) sample(query, i, out.half[0]);
    out.half[1] = out.half[0];
  }
  [[nodiscard]] bool exact() const override { return true; }

 private:
  void sample(const PosteriorQuery& query, std::size_t i, PosteriorMoments::Half& out) const {
    const std::size_t m = tokens_, count = query.count;
    std::vector<double> u(m), w(m - 1), omega_q(m), omega_k(m), omega_centred(m - 1);
    for (std::size_t t = 0; t < m; ++t) {
      u[t] = query.label[t * count + i];
      omega_q[t] = query.omega[t * count + i];
      omega_k[t] = query.omega[(m + t) * count + i];
      if (t + 1 < m) w[t] = query.label[(m + t) * count + i];
    }
    Centred::from_tokens(omega_k, omega_centred);
    const Along q(u, omega_q), k(w, omega_centred);
    const double rho = std::sqrt(squared(u) * squared(w));
    const double vq = query.variance[0], vk = query.variance[1];
    const ScaleMoments scale = scale_moments({rho, q.along, k.along, vq, vk});
    const auto size = static_cast<double>(m);
    out.log_z[i] = scale.log_sum + (size - 2.0) * std::log(rho) -
                   0.5 * size * std::log(2.0 * std::numbers::pi * vq) -
                   0.5 * (size - 1.0) * std::log(2.0 * std::numbers::pi * vk) -
                   0.5 * squared(q.across) / vq - 0.5 * squared(k.across) / vk;
    // The sum of the key fields over tokens is as before the label.
    std::vector<double> key_unit(m), key_across(m);
    Centred::to_tokens(k.unit, key_unit);
    Centred::to_tokens(k.across, key_across);
    write({0, q.unit, q.across, scale.query, scale.query_square, 1.0 / vq, 0.0}, count, i, out);
    write({1, key_unit, key_across, scale.key, scale.key_square, 1.0 / vk, 1.0 / size}, count, i,
          out);
  }

  /// zeta of a block is (d unit - across) / sqrt(V), and an independent part of covariance `rest`
  /// between any two tokens.
  struct BlockMoments {
    std::size_t block;
    const std::vector<double>& unit;
    const std::vector<double>& across;
    double first, second;  ///< moments of d
    double precision;      ///< 1 / V
    double rest;
  };
  void write(const BlockMoments& b, std::size_t count, std::size_t i,
             PosteriorMoments::Half& out) const {
    const double scale = std::sqrt(b.precision);
    for (std::size_t t = 0; t < tokens_; ++t) {
      out.mean[(shape_.first(b.block) + t) * count + i] =
          scale * (b.first * b.unit[t] - b.across[t]);
      for (std::size_t s = 0; s <= t; ++s) {
        const double entry = b.second * b.unit[t] * b.unit[s] -
                             b.first * (b.unit[t] * b.across[s] + b.across[t] * b.unit[s]) +
                             b.across[t] * b.across[s];
        out.second[(shape_.first_pair(b.block) + t * (t + 1) / 2 + s) * count + i] =
            b.precision * entry + b.rest;
      }
    }
  }

  std::size_t tokens_;
  FieldShape shape_;
};

class UntiedModel final : public SequenceModel {
 public:
  explicit UntiedModel(const UntiedAttention& model)
      : model_(model), shape_{model.tokens, {1, 1}}, form_(model) {}

  [[nodiscard]] const FieldShape& shape() const override { return shape_; }
  [[nodiscard]] int label_size() const override { return 2 * model_.tokens - 1; }
  [[nodiscard]] double constraints() const override { return 2.0 * model_.tokens - 2.0; }
  void label(std::span<const double> fields, std::span<const double> /*noise*/,
             std::span<double> label) const override {
    const auto m = static_cast<std::size_t>(model_.tokens);
    std::vector<double> kappa(m - 1);
    Centred::from_tokens(fields.subspan(m, m), kappa);
    describe(fields.first(m), kappa, label);
  }
  [[nodiscard]] const LabelForm* label_form() const override { return &form_; }
  [[nodiscard]] int prediction_size() const override { return model_.tokens * model_.tokens; }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    const auto m = static_cast<std::size_t>(model_.tokens);
    untied_matrix(model_.beta, fields.first(m), fields.subspan(m, m), out);
  }
  [[nodiscard]] std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const override {
    options.validate();
    return std::make_unique<UntiedPosterior>(model_.tokens);
  }
  [[nodiscard]] double posterior_seconds(double /*nodes*/) const override {
    return 3e-6 + 4e-7 * model_.tokens * model_.tokens;
  }

  /// Small overlaps of queries and keys grow together, by the largest eigenvalue of a 2 x 2 matrix
  /// [smi 91]: both blocks have it as their growth rate.
  [[nodiscard]] std::optional<ChannelAtZero> channel_at_zero(
      const RuleAtZero& /*rule*/, const Context& /*context*/) const override {
    const double m = model_.tokens;
    const auto same = [](double x) {
      return numerics::Replicates(numerics::default_replicates, x);
    };
    const double growth = (m - 1.0) * (m + std::sqrt(m * m + 1.0));
    const auto mean_log_norm = [](double size) {
      return 0.5 * (boost::math::digamma(0.5 * size) + std::numbers::ln2);
    };
    // E log Z_out with rho = |q| |kappa|, whose mean is M - 1.
    const double evidence = 0.5 * std::log(2.0 * std::numbers::pi) -
                            (m - 0.5) * std::log(2.0 * std::numbers::pi) +
                            (m - 2.0) * (mean_log_norm(m) + mean_log_norm(m - 1.0)) - (m - 1.0);
    return ChannelAtZero{.growth = {same(growth), same(growth)},
                         .pull = {same(0.0), same(0.0)},
                         .log_evidence = same(evidence),
                         .relative_bias = {0.0, 0.0}};
  }

 private:
  UntiedAttention model_;
  FieldShape shape_;
  UntiedLabel form_;
};

}  // namespace

void UntiedAttention::validate() const {
  if (tokens < 2 || tokens > max_tokens) {
    throw InvalidArgument("tokens", std::to_string(tokens) + " is not allowed; allowed: 2 to " +
                                        std::to_string(max_tokens));
  }
  if (!(beta >= min_beta && beta <= max_beta)) {
    throw InvalidArgument("beta", "is not allowed; allowed: 1e-3 to 1e3");
  }
}

std::unique_ptr<SequenceModel> untied_model(const UntiedAttention& model) {
  model.validate();
  return std::make_unique<UntiedModel>(model);
}

}  // namespace onset::smi
