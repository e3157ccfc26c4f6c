#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// What one label tells: E_hat = E |E[z | y, omega]|^2, where the scores are omega + sqrt(V (1 +
/// delta_ab)) z with q in omega and V unknown [aim 5]. Then q_hat = 2 alpha E_hat / V.
class Information {
 public:
  virtual ~Information() = default;
  /// E_hat at overlap q and error V > 0; between 0 and T (T + 1) / 2.
  [[nodiscard]] virtual Estimate operator()(double q, double v) const = 0;
};

/// How the information of a channel will be computed.
struct InformationPlan {
  std::string method = {};    ///< one sentence; empty for a closed form
  double core_seconds = 0.0;  ///< spent once for all sample ratios
  double tolerance = 1e-9;    ///< the tolerance that errors of the limits meet
};

/// The output function g_ab = d log Z_out / d omega_ab of the labels of a data set, when scores are
/// known to be N(omega_ab, variance_ab) independently [aim 16].
class OutputFunction {
 public:
  virtual ~OutputFunction() = default;
  /// All spans have T (T + 1) / 2 elements, one per score (score_index). It is called from many
  /// threads.
  virtual void gradient(std::size_t sample, std::span<const double> omega,
                        std::span<const double> variance, std::span<double> g) const = 0;
};

/// What the numbers of a label are, and so how files keep them.
enum class LabelNumbers {
  reals,       ///< as they are
  logarithms,  ///< of probabilities, which underflow: logY.npy beside Y.npy
  columns,     ///< whole numbers from 0 on
};

struct TokenRange {
  int min = 2;
  int max = max_tokens;
};

/// How the scores of a sample make its label [aim 1], and all that limits, learners, verbs and
/// files have to know about it. A channel has no state of its own: what can be set is in the model.
/// Members with a default suit most channels.
class Channel {
 public:
  virtual ~Channel() = default;

  /// The word of --channel, what its labels show of the scores, and what Y.npy holds.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view shows() const = 0;
  [[nodiscard]] virtual std::string_view stored() const = 0;

  /// Which fields of a model go with it.
  [[nodiscard]] virtual TokenRange tokens() const { return {}; }
  [[nodiscard]] virtual bool takes_noise() const { return false; }
  [[nodiscard]] virtual bool has_published_form(int /*tokens*/) const { return false; }

  /// For labels: the shape of one, its numbers, and how T (T + 1) / 2 scores make it.
  [[nodiscard]] virtual std::vector<std::size_t> label_shape(std::size_t tokens) const {
    return {tokens, tokens};
  }
  [[nodiscard]] virtual LabelNumbers numbers() const { return LabelNumbers::reals; }
  virtual void label(const AttentionIndexed& model, std::span<const double> scores,
                     std::span<double> out) const = 0;
  [[nodiscard]] std::size_t label_size(std::size_t tokens) const;

  /// For limits: how many combinations of the scores a label without noise fixes (0 if it only
  /// bounds them, so that nothing is ever known exactly), why there is no perfect recovery where
  /// there is none, and the information of a label.
  [[nodiscard]] virtual double shown(const AttentionIndexed& model) const = 0;
  [[nodiscard]] virtual std::string why_never_perfect(const AttentionIndexed& model) const;
  [[nodiscard]] virtual InformationPlan information_plan(const AttentionIndexed& model) const;
  [[nodiscard]] virtual std::unique_ptr<const Information> information(
      const AttentionIndexed& model, std::uint64_t seed, const Context& context) const = 0;

  /// For message passing: why there is no output function (empty where there is one), the function
  /// itself, its seconds for one sample besides those of a few sums, and whether labels change when
  /// S is multiplied by a number (if not, the prior must fix the length of the estimate). output()
  /// throws InvalidArgument naming `labels` for entries that no such model gives, and Refused.
  [[nodiscard]] virtual std::string no_output(const AttentionIndexed& model) const;
  [[nodiscard]] virtual std::unique_ptr<const OutputFunction> output(const AttentionIndexed& model,
                                                                     const Dataset& data) const = 0;
  [[nodiscard]] virtual double output_seconds(const AttentionIndexed& /*model*/) const {
    return 0.0;
  }
  [[nodiscard]] virtual bool fixes_length() const { return true; }

  /// For gradient descent: why there is none (empty where there is), and the squared error of a
  /// label y that a student with these scores (T x T, symmetric) makes, with its derivative with
  /// respect to every entry on its own in `slope`. squared_error() throws Refused where there is
  /// none.
  [[nodiscard]] virtual std::string no_gradient() const { return {}; }
  [[nodiscard]] virtual double squared_error(const AttentionIndexed& model,
                                             std::span<const double> y,
                                             std::span<const double> scores,
                                             std::span<double> slope) const;
};

}  // namespace onset::aim
