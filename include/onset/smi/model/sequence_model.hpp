#pragma once

#include <memory>
#include <span>

#include "onset/smi/model/field_shape.hpp"
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

  /// What prediction errors compare, without noise: squared distances of these numbers.
  [[nodiscard]] virtual int prediction_size() const = 0;
  virtual void prediction(std::span<const double> fields, std::span<double> out) const = 0;

  [[nodiscard]] virtual std::unique_ptr<Posterior> posterior(
      const PosteriorOptions& options) const = 0;
};

}  // namespace onset::smi
