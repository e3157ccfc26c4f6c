#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "smi/learners/sgd.hpp"
#include "smi/learners/test_error.hpp"

namespace onset::smi {

/// The squared norm over dimension beyond which weights are useless: fields are then so large that
/// every softmax is a hard maximum, gradients vanish and nothing more is learned.
inline constexpr double useless_norm = 1e4;

/// Makes the student's weights [smi 50]: normal with standard deviation `init`, and on average with
/// the wanted cosine to the teacher. `weights` holds standard normals and is overwritten.
inline void plant_start(const SgdOptions& options, std::span<const double> teacher,
                        std::span<double> weights) {
  const double along = options.start_cosine;
  const double across = std::sqrt(1.0 - along * along);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = options.init * (along * teacher[k] + across * weights[k]);
  }
}

/// The loss on fresh samples beyond which a run is worse off than knowing nothing, as a multiple of
/// the loss of the first weights had they no overlap with the teacher, and the samples (as fields,
/// the same for every record) behind it.
inline constexpr double useless_loss = 1.5;
inline constexpr std::size_t loss_points = 256;

/// Keeps the records of a run, and judges whether it still makes sense.
class SgdHistory {
 public:
  SgdHistory(const SgdModel& model, const SgdOptions& options, std::uint64_t number)
      : whole_(&model),
        model_(&model.model()),
        records_(options.records),
        end_(options.time),
        seed_(options.seed),
        number_(number),
        no_covariance_(model_->shape().directions() * model_->shape().directions(), 0.0) {}

  /// The time of the next record.
  [[nodiscard]] double due() const {
    return end_ * static_cast<double>(run.records.size()) / static_cast<double>(records_);
  }
  /// Appends a record where one is due. Returns false when the run must end, since it is over or
  /// has diverged.
  bool add(double time, const Overlaps& o) {
    SgdRecord record{time, {}, 0.0, 0.0};
    const Overlaps nearest = nearest_image(o, model_->symmetries());
    for (const Alignment& layer : alignments(model_->shape(), nearest)) {
      run.diverged = run.diverged || !(layer.norm < useless_norm);
      record.cosine.push_back(layer.cosine);
    }
    if (!run.diverged) {
      record.loss = loss(o);
      record.noisy_loss = noisy_loss(o, record.loss);
      if (run.records.empty()) {
        Overlaps ignorant = o;
        std::fill(ignorant.cross.begin(), ignorant.cross.end(), 0.0);
        ignorant_loss_ = noisy_loss(ignorant, loss(ignorant));
      }
      run.diverged = !(record.noisy_loss < useless_loss * ignorant_loss_);
    }
    if (!run.diverged) run.records.push_back(std::move(record));
    // Steps longer than the time between records leave fewer of them.
    return !run.diverged && run.records.size() <= records_ && time < end_;
  }

  SgdRun run;

 private:
  [[nodiscard]] double loss(const Overlaps& o) const {
    return test_errors(*model_, o, no_covariance_, loss_points, seed_, number_).plugin;
  }

  /// That which is descended; without noise it is the loss.
  [[nodiscard]] double noisy_loss(const Overlaps& o, double loss) const {
    if (whole_->noise_size() == 0) return loss;
    return loss + whole_->noise_loss(o, loss_points, seed_, number_);
  }

  const SgdModel* whole_;
  const SequenceModel* model_;
  std::size_t records_;
  double end_;
  std::uint64_t seed_, number_;
  std::vector<double> no_covariance_;
  double ignorant_loss_ = 0.0;
};

}  // namespace onset::smi
