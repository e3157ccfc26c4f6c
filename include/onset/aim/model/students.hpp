#pragma once

#include <string_view>

/// The choices of online learning: which matrix is trained, on which loss, from where.
namespace onset::aim {

/// What a student trains [aim 61].
enum class Student {
  direct,  ///< the symmetric matrix S itself
  tied,    ///< W with S = W W^T: keys and queries share their weights
  untied,  ///< U and V with M = U V^T
};

/// The loss of one sample, over all T^2 entries of a label [aim 61].
enum class SgdLoss {
  squared,        ///< half of the squared distance of the labels
  cross_entropy,  ///< -sum y log y_student
};

/// Where the weights start [aim 61].
enum class StudentStart {
  gaussian,  ///< independent normal entries: S starts as `scale` times a teacher of its width
  identity,  ///< W W^T = U U^T = V V^T = scale I with U V^T = 0; of a direct student S = scale I
  zero,      ///< S = 0; of a direct student only
};

/// The spectrum of the teacher of a simulation.
enum class TeacherSpectrum {
  quantiles,  ///< the quantiles of the limit's law: nothing random
  random,     ///< that of normal weights
};

[[nodiscard]] std::string_view to_string(Student student);
[[nodiscard]] std::string_view to_string(SgdLoss loss);
[[nodiscard]] std::string_view to_string(StudentStart start);
[[nodiscard]] std::string_view to_string(TeacherSpectrum spectrum);

}  // namespace onset::aim
