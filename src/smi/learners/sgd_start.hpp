#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "onset/smi/learners/sgd.hpp"

namespace onset::smi {

/// Squared norm over dimension beyond which weights are of no use: fields are then so large that
/// every softmax is a hard maximum, gradients vanish and nothing is learned any more.
inline constexpr double useless_norm = 1e4;

/// Student weights [smi 50]: normal with deviation `init`, with the wanted cosine to the teacher in
/// the mean. `weights` holds standard normals and is overwritten.
inline void plant_start(const SgdOptions& options, std::span<const double> teacher,
                        std::span<double> weights) {
  const double along = options.start_cosine;
  const double across = std::sqrt(1.0 - along * along);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = options.init * (along * teacher[k] + across * weights[k]);
  }
}

/// Whether a run still makes sense; appends a record where one is due.
class SgdHistory {
 public:
  SgdHistory(const FieldShape& shape, const SgdOptions& options)
      : shape_(shape), records_(options.records), end_(options.time) {}

  /// Time of the next record.
  [[nodiscard]] double due() const {
    return end_ * static_cast<double>(run.records.size()) / static_cast<double>(records_);
  }
  /// False when the run must end: it is over or diverged.
  bool add(double time, const Overlaps& o) {
    SgdRecord record{time, {}};
    for (const Alignment& layer : alignments(shape_, o)) {
      run.diverged = run.diverged || !(layer.norm < useless_norm);
      record.cosine.push_back(layer.cosine);
    }
    if (!run.diverged) run.records.push_back(std::move(record));
    // Steps longer than the time between records leave fewer of them.
    return !run.diverged && run.records.size() <= records_ && time < end_;
  }

  SgdRun run;

 private:
  FieldShape shape_;
  std::size_t records_;
  double end_;
};

}  // namespace onset::smi
