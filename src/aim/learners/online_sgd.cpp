#include "aim/learners/online_sgd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aim/learners/online/classroom.hpp"
#include "aim/learners/online/trained_student.hpp"
#include "aim/limits/flow/matrix_moments.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/data.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

using Values = std::vector<double>;

/// Samples that are worked on together; a batch may be many of these.
constexpr std::size_t chunk = 256;

Values teacher_eigenvalues(const AttentionIndexed& labels, const OnlineOptions& options,
                           const Context& context) {
  if (options.teacher == TeacherSpectrum::quantiles) {
    return teacher_quantiles(labels.rho, options.dim);
  }
  Teacher teacher = sample_teacher(labels, options.dim, options.seed, options.run, context);
  Values values(options.dim);
  numerics::symmetric_eigen(options.dim, teacher.matrix, values);
  return values;
}

/// Looks at a student: its matrix beside the teacher's, and fresh samples.
FlowNumbers examine(const FlowModel& model, const OnlineOptions& options, const Values& teacher,
                    Classroom& classroom, TrainedStudent& student) {
  Samples samples;
  double loss = 0.0;
  std::size_t disagreements = 0;
  for (std::size_t done = 0; done < options.test_samples; done += samples.count) {
    classroom.draw(std::min(chunk, options.test_samples - done), samples);
    student.score(samples);
    classroom.judge(samples);
    loss += samples.loss;
    disagreements += samples.disagreements;
  }
  const auto count = static_cast<double>(options.test_samples);
  const StudentMoments moments = matrix_moments(teacher, student.matrix());
  FlowNumbers numbers = flow_numbers(model, moments, loss / count);
  // The teacher's own trace and norm, in the place of those of its limit.
  const auto d = static_cast<double>(teacher.size());
  const double trace = std::accumulate(teacher.begin(), teacher.end(), 0.0) / d;
  const double norm = std::inner_product(teacher.begin(), teacher.end(), teacher.begin(), 0.0) / d;
  if (std::isfinite(numbers[FlowNumber::alignment])) {
    const double spread = moments.scores.p - moments.trace * moments.trace;
    numbers[FlowNumber::alignment] =
        (moments.scores.q - moments.trace * trace) / std::sqrt(spread * (norm - trace * trace));
  }
  if (model.labels.channel == &hardmax_channel()) {
    numbers[FlowNumber::disagreement] =
        static_cast<double>(disagreements) / (count * model.labels.tokens);
  }
  return numbers;
}

}  // namespace

void OnlineOptions::validate() const {
  if (dim < 2) throw InvalidArgument("dim", "allowed: 2 or more");
  if (batch < 1) throw InvalidArgument("batch", "allowed: 1 or more");
  if (!std::is_sorted(steps.begin(), steps.end())) {
    throw InvalidArgument("steps", "allowed: numbers that do not decrease");
  }
  if (test_samples < 1) throw InvalidArgument("test_samples", "allowed: 1 or more");
}

OnlineRun online_sgd(const FlowModel& model, const OnlineOptions& options, const Context& context) {
  options.validate();
  const Values teacher = teacher_eigenvalues(model.labels, options, context);
  Classroom classroom(model, teacher, options.seed, "aim sgd tokens", options.run);
  Classroom exam(model, teacher, options.seed, "aim sgd test", options.run);
  const auto student = make_student(model, options.dim, options.seed, options.run);
  const auto batch = static_cast<double>(options.batch);
  const double eta = model.rate * batch / static_cast<double>(options.dim);
  OnlineRun out;
  Samples samples;
  std::size_t done = 0;
  for (const std::size_t target : options.steps) {
    for (; done < target; ++done) {
      context.check();
      for (std::size_t drawn = 0; drawn < options.batch; drawn += samples.count) {
        classroom.draw(std::min(chunk, options.batch - drawn), samples);
        student->score(samples);
        classroom.judge(samples);
        student->gather(samples);
      }
      student->step(eta, batch, model.decay);
    }
    const FlowNumbers numbers = examine(model, options, teacher, exam, *student);
    if (!std::isfinite(numbers[FlowNumber::mse])) {
      out.diverged = true;
      return out;
    }
    out.numbers.push_back(numbers);
  }
  return out;
}

}  // namespace onset::aim
