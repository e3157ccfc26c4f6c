#pragma once

#include "aim/model/attention_indexed.hpp"
#include "onset/aim/model/students.hpp"

namespace onset::aim {

/// Online learning of an attention matrix: the labels, and how a student learns from them [aim 61].
struct FlowModel {
  AttentionIndexed labels;  ///< beta is that of the student too
  Student student = Student::tied;
  SgdLoss loss = SgdLoss::squared;
  StudentStart start = StudentStart::gaussian;
  double scale = 1.0;        ///< of the start
  double width_ratio = 0.5;  ///< kappa = k/d, of a gaussian start
  double decay = 0.0;        ///< gamma of (gamma/2d) |weights|^2
  double rate = 0.0;         ///< learning rate times dimension over batch; 0: no noise of SGD

  /// Q_0 = Tr S*^2/d in large dimension.
  [[nodiscard]] double teacher_norm() const { return 1.0 + labels.rho; }
};

}  // namespace onset::aim
