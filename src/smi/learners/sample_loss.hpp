#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/overlaps.hpp"
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
  /// What these fields predict: their label, at noise 0.
  virtual void predict(std::span<const double> fields, std::span<double> y) = 0;
  /// The label that the teacher gives these fields; `noise` has SgdModel::noise_size() standard
  /// normals.
  virtual void label(std::span<const double> fields, std::span<const double> noise,
                     std::span<double> y);
};

/// What gradient descent is run on: a teacher and students of its kind. A student of a noisy
/// teacher predicts what the teacher would say without noise, as smi amp and smi curve do, and
/// descends on the squared distance to noisy labels. Where labels are not linear in the noise,
/// their mean is another function of the fields, and the best student may have other weights than
/// the teacher.
class SgdModel {
 public:
  /// Deep attention. Throws InvalidArgument for models with noise.
  SgdModel(const DeepAttention& attention = {});  // NOLINT(google-explicit-constructor)
  /// A typed link; `noise` > 0 adds that many times a standard normal to every output. Throws what
  /// TypedLink does, and Refused for predictions without gradients.
  explicit SgdModel(std::string_view link, double noise = 0.0);

  /// The model of predictions: the teacher without its noise.
  [[nodiscard]] const SequenceModel& model() const { return *model_; }
  [[nodiscard]] const FieldShape& shape() const { return model_->shape(); }
  /// The numbers of a label, as losses compare them.
  [[nodiscard]] std::size_t label_size() const { return label_size_; }
  /// The standard normals that a label takes besides the fields.
  [[nodiscard]] std::size_t noise_size() const;
  [[nodiscard]] std::unique_ptr<SampleLoss> loss() const;
  /// What the noise of labels adds to the loss: test_errors() compares predictions with labels
  /// without noise, and what is descended is the squared distance from noisy ones. That of `noise`
  /// is exact, that of noise fields an average over `points` fresh samples.
  [[nodiscard]] double noise_loss(const Overlaps& overlaps, std::size_t points, std::uint64_t seed,
                                  std::uint64_t run) const;
  /// Changes of sign of directions that no label shows, the identity first: one bit per direction.
  /// There may be 2^directions of them.
  [[nodiscard]] std::vector<std::size_t> signs() const;
  /// Directions that the link does not name, as z1 of z2^2: labels do not depend on them.
  [[nodiscard]] std::vector<std::size_t> directions_not_named() const;
  /// Directions that labels depend on by their noise alone, as z2 of z1+z2*e1: predictions do not.
  [[nodiscard]] std::vector<std::size_t> directions_of_noise() const;
  /// Directions that labels change with by jumps alone, as z1 of sign(z1)*z2: no gradient moves
  /// them.
  [[nodiscard]] std::vector<std::size_t> directions_without_gradient() const;
  /// Estimated seconds of one loss with its gradient.
  [[nodiscard]] double seconds() const;

 private:
  DeepAttention attention_ = {};
  std::shared_ptr<const TypedLink> link_ = {};     // that of labels
  std::shared_ptr<const TypedLink> student_ = {};  // that of predictions; the same without noise
  double noise_ = 0.0;
  std::shared_ptr<const SequenceModel> model_;
  std::size_t label_size_ = 1;
};

}  // namespace onset::smi
