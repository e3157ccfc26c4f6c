#include "smi/learners/attention_loss.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"

namespace onset::smi {

AttentionLoss::AttentionLoss(const DeepAttention& model)
    : layers_(static_cast<std::size_t>(model.layers)),
      tokens_(static_cast<std::size_t>(model.tokens)),
      beta_(model.beta) {
  model.validate();
  if (model.noise > 0.0) {
    throw InvalidArgument("model",
                          "is not one that gradients are available for; allowed: no noise");
  }
  const FieldShape shape = model.shape();
  for (std::size_t l = 0; l <= layers_; ++l) first_.push_back(shape.first(l));
  for (int l = 0; l + 1 < model.layers; ++l) skip_.push_back(model.skip_of(l));
  const std::size_t square = tokens_ * tokens_;
  mixing_.assign(layers_ * square, 0.0);
  if (model.token_covariance.empty()) {
    for (std::size_t i = 0; i < tokens_; ++i) mixing_[i * tokens_ + i] = 1.0;
  } else {
    // Fields belong to independent tokens, of which those of the model are mixtures.
    const std::vector<double> root = model.token_root();
    std::copy(root.begin(), root.end(), mixing_.begin());
  }
  attention_.resize(layers_ * square);
  u_.resize(shape.fields());
  bar_.resize(square);
  mixing_bar_.resize(square);
  next_bar_.resize(square);
  for (std::size_t l = 0; l < layers_; ++l) {
    u_bar_.resize(std::max(u_bar_.size(), first_[l + 1] - first_[l]));
  }
}

void AttentionLoss::forward(std::span<const double> fields) {
  const std::size_t m = tokens_, square = m * m;
  for (std::size_t l = 0; l < layers_; ++l) {
    const double* b = mixing_.data() + l * square;
    const double* z = fields.data() + first_[l];
    double* u = u_.data() + first_[l];
    double* a = attention_.data() + l * square;
    const std::size_t size = first_[l + 1] - first_[l];
    for (std::size_t p = 0; p < size; p += m) {
      for (std::size_t i = 0; i < m; ++i) {
        u[p + i] = 0.0;
        for (std::size_t j = 0; j < m; ++j) u[p + i] += b[i * m + j] * z[p + j];
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        a[i * m + j] = 0.0;
        for (std::size_t p = 0; p < size; p += m) a[i * m + j] += u[p + i] * u[p + j];
      }
      const double top = *std::max_element(a + i * m, a + (i + 1) * m);
      double sum = 0.0;
      for (std::size_t j = 0; j < m; ++j) {
        a[i * m + j] = std::exp(beta_ * (a[i * m + j] - top));
        sum += a[i * m + j];
      }
      for (std::size_t j = 0; j < m; ++j) a[i * m + j] /= sum;
    }
    if (l + 1 == layers_) break;
    double* next = mixing_.data() + (l + 1) * square;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        double x = skip_[l] * b[i * m + j];
        for (std::size_t k = 0; k < m; ++k) x += a[i * m + k] * b[k * m + j];
        next[i * m + j] = x;
      }
    }
  }
}

void AttentionLoss::back_through_scores(std::size_t l, std::span<const double> fields,
                                        std::span<double> gradient) {
  const std::size_t m = tokens_, square = m * m;
  const double* a = attention_.data() + l * square;
  const double* u = u_.data() + first_[l];
  const double* b = mixing_.data() + l * square;
  const std::size_t size = first_[l + 1] - first_[l];
  std::fill(u_bar_.begin(), u_bar_.end(), 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    double mean = 0.0;
    for (std::size_t j = 0; j < m; ++j) mean += a[i * m + j] * bar_[i * m + j];
    for (std::size_t j = 0; j < m; ++j) {
      const double score = beta_ * a[i * m + j] * (bar_[i * m + j] - mean);
      for (std::size_t p = 0; p < size; p += m) {
        u_bar_[p + i] += score * u[p + j];
        u_bar_[p + j] += score * u[p + i];
      }
    }
  }
  for (std::size_t p = 0; p < size; p += m) {
    for (std::size_t j = 0; j < m; ++j) {
      double x = 0.0;
      for (std::size_t i = 0; i < m; ++i) {
        x += b[i * m + j] * u_bar_[p + i];
        mixing_bar_[i * m + j] += u_bar_[p + i] * fields[first_[l] + p + j];
      }
      gradient[first_[l] + p + j] = x;
    }
  }
}

double AttentionLoss::operator()(std::span<const double> target, std::span<const double> fields,
                                 std::span<double> gradient) {
  const std::size_t m = tokens_, square = m * m;
  forward(fields);
  double loss = 0.0;
  const double* y = attention_.data() + (layers_ - 1) * square;
  for (std::size_t k = 0; k < square; ++k) {
    const double miss = y[k] - target[k];
    loss += miss * miss;
    bar_[k] = 2.0 * miss;
  }
  std::fill(mixing_bar_.begin(), mixing_bar_.end(), 0.0);
  back_through_scores(layers_ - 1, fields, gradient);
  for (std::size_t l = layers_ - 1; l-- > 0;) {
    // mixing_bar_ is the gradient of B_{l+1} = (A + c I) B_l.
    const double* a = attention_.data() + l * square;
    const double* b = mixing_.data() + l * square;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        double to_attention = 0.0;
        double to_mixing = skip_[l] * mixing_bar_[i * m + j];
        for (std::size_t k = 0; k < m; ++k) {
          to_attention += mixing_bar_[i * m + k] * b[j * m + k];
          to_mixing += a[k * m + i] * mixing_bar_[k * m + j];
        }
        bar_[i * m + j] = to_attention;
        next_bar_[i * m + j] = to_mixing;
      }
    }
    mixing_bar_.swap(next_bar_);
    back_through_scores(l, fields, gradient);
  }
  return loss;
}

void AttentionLoss::predict(std::span<const double> fields, std::span<double> y) {
  forward(fields);
  const std::size_t square = tokens_ * tokens_;
  std::copy_n(attention_.begin() + static_cast<std::ptrdiff_t>((layers_ - 1) * square), square,
              y.begin());
}

}  // namespace onset::smi
