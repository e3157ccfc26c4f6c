#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aim/learners/online/samples.hpp"
#include "aim/limits/flow/flow_model.hpp"

namespace onset::aim {

/// The weights of a student and the three things that training does with them.
class TrainedStudent {
 public:
  virtual ~TrainedStudent() = default;
  /// Fills the scores; keeps what the gradient needs besides.
  virtual void score(Samples& samples) = 0;
  /// Adds the gradient of the losses' sum to what was gathered.
  virtual void gather(const Samples& samples) = 0;
  /// weights -= eta (gathered/batch + decay weights/d), and forgets what was gathered.
  virtual void step(double eta, double batch, double decay) = 0;
  [[nodiscard]] virtual std::vector<double> matrix() const = 0;
};

/// A student of dimension `dim` at the model's start [aim 61]; `run` tells draws apart.
[[nodiscard]] std::unique_ptr<TrainedStudent> make_student(const FlowModel& model, std::size_t dim,
                                                           std::uint64_t seed, std::uint64_t run);

}  // namespace onset::aim
