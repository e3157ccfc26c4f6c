#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// The loss of a student on one sample, ||y(z) - y||^2 summed over the numbers of the label, and
/// its gradient with respect to the student's fields. It keeps its own work space: use one object
/// per thread.
class SampleLoss {
 public:
  virtual ~SampleLoss() = default;
  /// `target` is y; `fields` and `gradient` are directions x tokens.
  virtual double operator()(std::span<const double> target, std::span<const double> fields,
                            std::span<double> gradient) = 0;
  /// The label of these fields.
  virtual void predict(std::span<const double> fields, std::span<double> y) = 0;
};

/// What gradient descent is run on: a teacher and students of its kind.
class SgdModel {
 public:
  /// Deep attention. Throws InvalidArgument for models with noise.
  SgdModel(const DeepAttention& attention = {});  // NOLINT(google-explicit-constructor)
  /// A typed link. Throws Refused for noise fields and for labels without gradients.
  explicit SgdModel(std::shared_ptr<const TypedLink> link);

  [[nodiscard]] const SequenceModel& model() const { return *model_; }
  [[nodiscard]] const FieldShape& shape() const { return model_->shape(); }
  /// The numbers of a label, as losses compare them.
  [[nodiscard]] std::size_t label_size() const { return label_size_; }
  [[nodiscard]] std::unique_ptr<SampleLoss> loss() const;
  /// Changes of sign of directions that no label shows, the identity first: one bit per direction.
  /// There may be 2^directions of them.
  [[nodiscard]] std::vector<std::size_t> signs() const;
  /// Directions that the link does not name, as z1 of z2^2: labels do not depend on them.
  [[nodiscard]] std::vector<std::size_t> directions_not_named() const;
  /// Directions that labels change with by jumps alone, as z1 of sign(z1)*z2: no gradient moves
  /// them.
  [[nodiscard]] std::vector<std::size_t> directions_without_gradient() const;
  /// Estimated seconds of one loss with its gradient.
  [[nodiscard]] double seconds() const;

 private:
  DeepAttention attention_ = {};
  std::shared_ptr<const TypedLink> link_ = {};
  std::shared_ptr<const SequenceModel> model_;
  std::size_t label_size_ = 1;
};

}  // namespace onset::smi
