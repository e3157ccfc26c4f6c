#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/ssi/model/student.hpp"
#include "ssi/model/attention_matrix.hpp"

namespace onset::ssi {
namespace {

/// The output is sum_ij reduce_ij F_ij, or the matrix itself.
class AttentionLink final : public Link {
 public:
  AttentionLink(std::size_t tokens, std::vector<double> reduce)
      : tokens_(tokens), reduce_(std::move(reduce)) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] std::size_t outputs() const override {
    return reduce_.empty() ? tokens_ * tokens_ : 1;
  }
  [[nodiscard]] bool is_attention_matrix() const override { return reduce_.empty(); }
  [[nodiscard]] double value_ns() const override { return attention_ns(tokens_); }
  /// A reduced output does not keep the matrix, so that it is computed again.
  [[nodiscard]] double pullback_ns() const override {
    return (reduce_.empty() ? 1.0 : 2.0) * attention_ns(tokens_);
  }

  void values(std::size_t count, const double* z, double* out) const override {
    if (reduce_.empty()) return attention_matrix(tokens_, count, z, out);
    double* f = matrix(count);
    attention_matrix(tokens_, count, z, f);
    std::fill_n(out, count, 0.0);
    for (std::size_t k = 0; k < reduce_.size(); ++k) {
      if (reduce_[k] == 0.0) continue;
      for (std::size_t p = 0; p < count; ++p) out[p] += reduce_[k] * f[k * count + p];
    }
  }

  void pullback(std::size_t count, const double* z, const double* values, const double* weight,
                double* delta) const override {
    if (reduce_.empty()) return attention_pullback(tokens_, count, z, values, weight, delta);
    double* f = matrix(count);
    attention_matrix(tokens_, count, z, f);
    thread_local std::vector<double> spread;
    spread.resize(reduce_.size() * count);
    for (std::size_t k = 0; k < reduce_.size(); ++k) {
      for (std::size_t p = 0; p < count; ++p) spread[k * count + p] = reduce_[k] * weight[p];
    }
    attention_pullback(tokens_, count, z, f, spread.data(), delta);
  }

 private:
  [[nodiscard]] double* matrix(std::size_t count) const {
    thread_local std::vector<double> buffer;
    buffer.resize(tokens_ * tokens_ * count);
    return buffer.data();
  }
  std::size_t tokens_;
  std::vector<double> reduce_;
};

std::vector<double> unit(std::vector<double> v, std::size_t tokens, const char* field) {
  if (v.empty()) {
    v.assign(tokens, 0.0);
    v[0] = 1.0;
  }
  double square = 0.0;
  for (const double x : v) square += x * x;
  if (v.size() != tokens || !(square > 0.0)) {
    throw InvalidArgument(field, "needs one number per token, not all 0; allowed: " +
                                     std::to_string(tokens) + " numbers");
  }
  for (double& x : v) x /= std::sqrt(square);
  return v;
}

Student make_attention(const StudentOptions& options) {
  Attention attention{options.tokens, options.reduction, options.left, options.right};
  if (attention.reduction == Reduction::automatic) {
    attention.reduction = options.outputs == 1 ? Reduction::trace : Reduction::none;
  }
  if (attention.reduction != Reduction::projection) {
    for (const char* side : {"left", "right"}) {
      if ((side == std::string_view("left") ? attention.left : attention.right).empty()) continue;
      throw InvalidArgument(side,
                            "has a meaning only for a projection; allowed: with "
                            "`reduction = projection`");
    }
  }
  return {.link = attention_link(attention), .reduction = attention.reduction};
}

}  // namespace

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::automatic: return "auto";
    case Reduction::none: return "none";
    case Reduction::trace: return "trace";
    case Reduction::trace_sqrt: return "trace-sqrt";
    case Reduction::projection: return "projection";
  }
  return "";
}

LinkPointer attention_link(const Attention& attention) {
  const std::size_t tokens = attention.tokens;
  if (tokens < 1) throw InvalidArgument("tokens", "0 tokens; allowed: 1 or more");
  if (attention.reduction == Reduction::automatic) {
    throw InvalidArgument("reduction", "depends on a target; allowed: a reduction by name");
  }
  std::vector<double> reduce;
  if (attention.reduction == Reduction::projection) {
    const auto left = unit(attention.left, tokens, "left");
    const auto right = unit(attention.right, tokens, "right");
    for (const double l : left) {
      for (const double r : right) reduce.push_back(l * r);
    }
  } else if (attention.reduction != Reduction::none) {
    const double scale = attention.reduction == Reduction::trace
                             ? 1.0
                             : 1.0 / std::sqrt(static_cast<double>(tokens));
    reduce.assign(tokens * tokens, 0.0);
    for (std::size_t i = 0; i < tokens; ++i) reduce[i * tokens + i] = scale;
  }
  return std::make_shared<AttentionLink>(tokens, std::move(reduce));
}

StudentKind attention_student() {
  return {"attention", {"reduction", "left", "right"}, make_attention};
}

}  // namespace onset::ssi
