#pragma once

#include <cstdint>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// Options of gradient_descent(): full-batch Adam on the weights W of a student.
struct DescentOptions {
  int steps = 1000;
  double rate = 0.1;
  RateSchedule schedule = RateSchedule::constant;
  double decay = 0.0;     ///< lambda: adds lambda |W|_F^2 / sqrt(r_s d) to the loss [aim 80]
  std::size_t width = 0;  ///< r_s of the student; 0: the teacher's
  int starts = 8;         ///< students from independent standard normal weights, on the same data
  std::uint64_t seed = 1;
  std::uint64_t index = 0;  ///< the number of the data set, so that starts differ between data sets
  void validate() const;
};

/// The loss, the sum over samples and entries of (y - y_student)^2 / d, and its gradient with
/// respect to W, d x r [aim 30]. Throws Refused for a channel without a gradient.
[[nodiscard]] double label_loss(const AttentionIndexed& model, const Dataset& data,
                                const std::vector<double>& weights, std::size_t width,
                                std::vector<double>& gradient, const Context& context);

/// Errors ||S_student - S||_F^2 / d against the truth.
struct DescentErrors {
  std::vector<double> single;  ///< the error of each start
  double averaged = 0.0;       ///< the error of the mean of the students' matrices
  /// The error of the mean of infinitely many, from products of errors of different starts [aim
  /// 32].
  double extrapolated = 0.0;
  std::vector<double> loss;       ///< where each start ended, over where it began
  std::vector<double> train;      ///< squared error of a training label, of each start
  std::vector<double> trace;      ///< Tr S / d
  std::vector<double> objective;  ///< what it minimised, per d^2, as `aim erm` has it
  /// Errors on the labels of new samples: of the mean of the students' labels, and of the label
  /// that the mean of their matrices makes [aim 41].
  double test = 0.0;
  double test_plug_in = 0.0;
  /// How each start ended: converged with a loss below 1e-3 of the first one or at a plateau (its
  /// mean over the last tenth of the steps within 1 % of the tenth before); diverged at a loss
  /// above the first one.
  std::vector<Status> ends;
};

/// Each step of a start takes 4 n T d r floating-point operations; all starts take a step together,
/// in parallel, where the tokens are.
[[nodiscard]] DescentErrors gradient_descent(const AttentionIndexed& model, const Dataset& data,
                                             const Teacher& teacher, const DescentOptions& options,
                                             const Context& context);

}  // namespace onset::aim
