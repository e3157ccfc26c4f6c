#pragma once

#include <span>
#include <vector>

#include "onset/numerics/gaussian_expectation.hpp"
#include "onset/smi/model/deep_attention.hpp"

namespace onset::smi {

/// A batch of (omega, z, h) from the state-evolution law: omega_l ~ N(0, Q_l I), z_l ~ N(omega_l,
/// V_l I), h the label's field [smi 13]. Rows layer * tokens + token, samples fastest.
struct TeacherBatch {
  std::vector<double> omega;
  std::vector<double> zeta;    ///< (z - omega) / sqrt V
  std::vector<double> field;   ///< z
  std::vector<double> label;   ///< h, one row per token
  std::vector<double> weight;  ///< importance weight of the sample; its mean is 1
};

/// Normal dimensions that teacher_batch() uses: the noise and the known part of every field.
[[nodiscard]] int teacher_dimensions(const DeepAttention& model);

/// Makes the batch from standard normals. Fields are drawn wider than their law and weighted back:
/// the growth rate of an unlearned layer is a fourth moment, and the wider draw cuts its variance
/// tenfold. The last layer comes first, so that the coordinates that matter most get the best of a
/// low-discrepancy sequence.
[[nodiscard]] TeacherBatch teacher_batch(const DeepAttention& model,
                                         std::span<const double> variance,
                                         const numerics::NormalBatch& normals);

}  // namespace onset::smi
