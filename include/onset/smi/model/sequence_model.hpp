#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/smi/model/channel_at_zero.hpp"
#include "onset/smi/model/field_shape.hpp"
#include "onset/smi/model/label_form.hpp"
#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// A sequence multi-index model: how the fields of a sample make its label, and what a label says
/// about the fields. Everything in limits/ is written against this; deep attention and the named
/// links are models of this kind, and make_model() (link.hpp) turns a link of one's own into one.
///
/// State evolution keeps one overlap per block (Q = q_b I in block b). That closes when the label
/// does not change if all fields of one block change sign, or when the block is learned from the
/// first sample on (its mean given the label is not 0) and the label has the symmetries that keep
/// the directions inside a block alike.
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  [[nodiscard]] virtual const FieldShape& shape() const = 0;

  /// How many numbers describe a label; they are not the label itself where that would lose digits.
  [[nodiscard]] virtual int label_size() const = 0;
  /// How many standard normals a label takes besides the fields (output noise).
  [[nodiscard]] virtual int noise_size() const { return 0; }
  /// How many independent real numbers a label fixes exactly, on average: kappa of [smi 21]; 0 when
  /// labels are discrete or noisy.
  [[nodiscard]] virtual double constraints() const = 0;
  /// Whether the label stays the same when all fields of a block change sign: then a label says
  /// nothing about their mean while the block is not learned. A model says so where its integrals
  /// respect this only approximately; one with an exact posterior need not.
  [[nodiscard]] virtual bool even(std::size_t /*block*/) const { return false; }
  /// The label of one sample.
  virtual void label(std::span<const double> fields, std::span<const double> noise,
                     std::span<double> label) const = 0;
  /// The labels of many samples: arrays run over samples fastest, as in PosteriorQuery. By default
  /// label() is asked for one after the other; a model whose calls are dear, such as one that asks
  /// another language, answers for all at once, with the same numbers.
  virtual void labels(std::size_t count, std::span<const double> fields,
                      std::span<const double> noise, std::span<double> labels) const;

  /// The form in which labels are observed and filed; null if that is the numbers that describe
  /// them.
  [[nodiscard]] virtual const LabelForm* label_form() const { return nullptr; }
  /// The lower triangular R, row by row, with R R^T the covariance of the tokens of an input; empty
  /// for independent tokens. Fields belong to tokens that its inverse has made independent.
  [[nodiscard]] virtual std::vector<double> token_root() const { return {}; }

  /// How many numbers a prediction has: prediction errors are squared distances between them,
  /// without noise.
  [[nodiscard]] virtual int prediction_size() const = 0;
  virtual void prediction(std::span<const double> fields, std::span<double> out) const = 0;
  /// The predictions of many samples, as labels() are.
  virtual void predictions(std::size_t count, std::span<const double> fields,
                           std::span<double> out) const;

  [[nodiscard]] virtual std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const = 0;
  /// Roughly the core-seconds of one posterior with this many nodes, for estimates of cost and for
  /// choosing how many posteriors accuracy is worth. The default is that of a closed form.
  [[nodiscard]] virtual double posterior_seconds(double /*nodes*/) const { return 2e-6; }

  /// Signed permutations of the directions under which labels stay the same, each row by row: from
  /// data nobody can tell weights and their images apart, so that alignments look for the nearest.
  /// Empty where blocks say it all.
  [[nodiscard]] virtual const std::vector<std::vector<double>>& symmetries() const {
    static const std::vector<std::vector<double>> none;
    return none;
  }

  /// The channel at overlap 0 by a rule of the model's own, which is more accurate than quasi-Monte
  /// Carlo over its posteriors; nothing where the model has no such rule.
  [[nodiscard]] virtual std::optional<ChannelAtZero> channel_at_zero(
      const RuleAtZero& /*rule*/, const Context& /*context*/) const {
    return std::nullopt;
  }
};

}  // namespace onset::smi
