#pragma once

#include <span>
#include <vector>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// A batch of (omega, z, label) from the state-evolution law: omega_b ~ N(0, Q_b I), z_b ~
/// N(omega_b, V_b I) [smi 13]. One row per field or number of the label, samples fastest.
struct TeacherBatch {
  std::vector<double> omega;
  std::vector<double> zeta;   ///< (z - omega) / sqrt V
  std::vector<double> field;  ///< z
  std::vector<double> label;
  std::vector<double> weight;  ///< importance weight of the sample; its mean is 1
};

/// The number of normals per sample that teacher_batch() uses: both parts of every field, and the
/// label's noise.
[[nodiscard]] int teacher_dimensions(const SequenceModel& model);

/// Makes the batch from standard normals. Fields are drawn wider than their law and weighted back:
/// the growth rate of an unlearned block is a fourth moment, and the wider draw cuts its variance
/// tenfold. The last block comes first, so that the coordinates that matter most get the best of a
/// low-discrepancy sequence.
[[nodiscard]] TeacherBatch teacher_batch(const SequenceModel& model,
                                         std::span<const double> variance,
                                         const numerics::NormalBatch& normals);

}  // namespace onset::smi
