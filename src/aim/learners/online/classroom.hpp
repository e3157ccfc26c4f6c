#pragma once

#include <cstdint>
#include <vector>

#include "aim/learners/online/samples.hpp"
#include "aim/limits/flow/flow_model.hpp"
#include "numerics/random/normal_stream.hpp"

namespace onset::aim {

/// Draws samples, labels them, and judges what a student makes of them. Everything is in the
/// teacher's eigenbasis: tokens are isotropic.
class Classroom {
 public:
  Classroom(const FlowModel& model, std::vector<double> teacher, std::uint64_t seed,
            const char* purpose, std::uint64_t run);

  /// Tokens and the teacher's scores.
  void draw(std::size_t count, Samples& samples);
  /// Losses and their slopes, from both scores.
  void judge(Samples& samples) const;

 private:
  void add_noise(Samples& samples);

  FlowModel model_;
  std::size_t tokens_;
  std::vector<double> teacher_;
  double trace_ = 0.0;
  numerics::NormalStream normals_;
  std::vector<double> weighted_;
};

}  // namespace onset::aim
