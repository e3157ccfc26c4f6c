#pragma once

#include <memory>
#include <optional>
#include <span>

#include "onset/core/context.hpp"
#include "onset/smi/model/channel_at_zero.hpp"
#include "onset/smi/model/field_shape.hpp"
#include "onset/smi/model/label_form.hpp"
#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// A sequence multi-index model: how the fields of a sample make its label, and what a label says
/// about the fields. Everything in limits/ is written against this; deep attention and the named
/// links are its kinds, and a link of one's own becomes one with make_model() (link.hpp).
///
/// State evolution keeps one overlap per block (Q = q_b I in block b). That closes when the label
/// does not change if all fields of one block change sign, or when the block is learned from the
/// first sample on (its mean given the label is not 0) and the label has the symmetries that keep
/// the directions inside a block alike.
class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  [[nodiscard]] virtual const FieldShape& shape() const = 0;

  /// Numbers that describe a label; not the label itself where that would lose digits.
  [[nodiscard]] virtual int label_size() const = 0;
  /// Standard normals that a label takes besides the fields (output noise).
  [[nodiscard]] virtual int noise_size() const { return 0; }
  /// Independent real numbers that a label fixes exactly, on average: kappa of [smi 21]; 0 when
  /// labels are discrete or noisy.
  [[nodiscard]] virtual double constraints() const = 0;
  /// Whether the label stays the same when all fields of a block change sign: then a label says
  /// nothing about their mean while the block is not learned. Said where integrals know it only
  /// nearly; a model with an exact posterior need not.
  [[nodiscard]] virtual bool even(std::size_t /*block*/) const { return false; }
  /// The label of one sample.
  virtual void label(std::span<const double> fields, std::span<const double> noise,
                     std::span<double> label) const = 0;

  /// The form in which labels are observed and filed; none: as the numbers that describe them.
  [[nodiscard]] virtual const LabelForm* label_form() const { return nullptr; }
  /// R, lower triangular, row by row, with R R^T the covariance of the tokens of an input; empty:
  /// independent tokens. Fields are those of tokens made independent by its inverse.
  [[nodiscard]] virtual std::vector<double> token_root() const { return {}; }

  /// What prediction errors compare, without noise: squared distances of these numbers.
  [[nodiscard]] virtual int prediction_size() const = 0;
  virtual void prediction(std::span<const double> fields, std::span<double> out) const = 0;

  [[nodiscard]] virtual std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const = 0;
  /// Core seconds of one posterior with this many nodes, about: for estimates of cost, and for how
  /// many of them accuracy may be bought with. Unless said otherwise, that of a closed form.
  [[nodiscard]] virtual double posterior_seconds(double /*nodes*/) const { return 2e-6; }

  /// The channel at overlap 0 by a rule of the model's own, more accurate than quasi-Monte Carlo
  /// over its posteriors; nothing where it has none.
  [[nodiscard]] virtual std::optional<ChannelAtZero> channel_at_zero(
      const RuleAtZero& /*rule*/, const Context& /*context*/) const {
    return std::nullopt;
  }
};

}  // namespace onset::smi
