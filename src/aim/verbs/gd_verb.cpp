#include <algorithm>
#include <string>

#include "aim/learners/gradient_descent.hpp"
#include "aim/limits/curve.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "aim/verbs/spread_note.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr double flops_per_second = 1e10;  ///< measured, one core; for estimates only

struct DescentRow {
  double alpha = 0.0;
  Estimate mse_single;
  Estimate mse_averaged;
  Estimate mse_extrapolated;
  Estimate mse_theory;
  Estimate loss;
};

Columns<DescentRow> descent_columns() {
  return Columns<DescentRow>()
      .add("alpha", &DescentRow::alpha, data_alpha_meaning)
      .add("mse_single", &DescentRow::mse_single, "||S_student - S||_F^2/d of one student")
      .add("mse_averaged", &DescentRow::mse_averaged,
           "the same for the mean of the matrices of all students on the same data")
      .add("mse_extrapolated", &DescentRow::mse_extrapolated,
           "the same for the mean of infinitely many students")
      .add("mse_theory", &DescentRow::mse_theory, "least possible error, from state evolution")
      .add("loss", &DescentRow::loss,
           "training loss of a student at its end, over the one at its start");
}

/// One number for each data set: students on the same data share most of their error, so that their
/// scatter says little about it.
struct Samples {
  std::vector<double> single;
  std::vector<double> averaged;
  std::vector<double> extrapolated;
  std::vector<double> loss;
  std::int64_t students = 0;
  std::int64_t diverged = 0;
  std::int64_t unfinished = 0;

  void add(const DescentErrors& errors) {
    single.push_back(numerics::mean(errors.single));
    averaged.push_back(errors.averaged);
    extrapolated.push_back(errors.extrapolated);
    loss.push_back(numerics::mean(errors.loss));
    for (const Status& end : errors.ends) {
      ++students;
      diverged += end.reason == StopReason::diverged ? 1 : 0;
      unfinished += end.reason == StopReason::unfinished ? 1 : 0;
    }
  }

  [[nodiscard]] DescentRow row(double alpha, const Estimate& theory) const {
    return {.alpha = alpha,
            .mse_single = numerics::mean_over_runs(single),
            .mse_averaged = numerics::mean_over_runs(averaged),
            .mse_extrapolated = numerics::mean_over_runs(extrapolated),
            .mse_theory = theory,
            .loss = numerics::mean_over_runs(loss)};
  }

  /// A few students that are slower than the rest change no mean and are only said.
  void judge(double alpha, Result& result) const {
    const auto some = [&](std::int64_t count) {
      return std::to_string(count) + " of " + std::to_string(students) +
             " students at alpha = " + to_text(Value(alpha)) + " ";
    };
    const std::string slow =
        some(unfinished) + "still descended after the last step; more `steps` may help";
    if (diverged > 0) {
      result.unconverged(some(diverged) +
                         "ended at a training loss above the first one; a smaller `rate` may help");
    } else if (unfinished > students / 10) {
      result.unconverged(slow);
    } else if (unfinished > 0) {
      result.notes.push_back(slow + ".");
    }
  }
};

/// The model at its size.
AttentionIndexed settle_gd(Gd& request) {
  const AttentionIndexed model = settle_model(request);
  if (const std::string why = model.channel->no_gradient(); !why.empty()) throw Refused(why);
  return at_size(model, static_cast<std::size_t>(request.dim));
}

void run_gd(const Gd& request, const AttentionIndexed& model, const Context& context,
            Result& result) {
  const auto columns = descent_columns();
  result.table = columns.table();
  const auto dim = static_cast<std::size_t>(request.dim);
  const auto runs = static_cast<std::uint64_t>(request.runs);
  const StateEvolution evolution(model, request.seed, context);
  add_sizes(request.rho, model, dim, request.alpha, result);
  DescentOptions options;
  options.steps = request.steps;
  options.rate = request.rate;
  options.starts = request.starts;
  options.seed = request.seed;
  double done = 0.0;
  for (const double alpha : request.alpha) {
    const std::size_t count = samples_of(alpha, dim);
    Samples samples;
    for (std::uint64_t run = 0; run < runs; ++run) {
      const Teacher teacher = sample_teacher(model, dim, request.seed, run, context);
      const Dataset data = sample_data(model, teacher, count, request.seed, run, context);
      options.index = run;
      samples.add(gradient_descent(model, data, teacher, options, context));
      context.report(++done / static_cast<double>(request.alpha.size() * runs), "gradient descent");
    }
    const Estimate theory = evolution.at(ratio_of(count, dim)).mmse;
    result.table.add_row(columns.cells(samples.row(alpha, theory)));
    samples.judge(alpha, result);
    if (!(theory.value > 0.0)) say_spread(alpha, samples.single, result);
  }
}

Cost gd_cost(const Gd& request, const AttentionIndexed& model) {
  const double d = request.dim;
  const double width = model.rho * d;
  const double tokens = request.tokens;
  const double starts = request.starts;
  double samples = 0.0;
  for (const double alpha : request.alpha) samples += std::max(1.0, alpha * d * d);
  const double most = max_samples(request.alpha, d);
  return {
      prose(R"(
      Full-batch Adam on the weights W of a student as wide as the teacher, several starts on
      the same data; the error of infinitely many averaged students from products of errors of
      different ones.)"),
      4.0 * samples * tokens * d * width * starts * request.steps * request.runs / flops_per_second,
      data_bytes(most, tokens, d, width) +
          8.0 * starts * (2.0 * most * tokens * width + d * (d + 4.0 * width))};
}

}  // namespace

VerbOf<Gd> Gd::verb() {
  Definition<Gd, AttentionIndexed> d;
  d.family = "aim";
  d.name = "gd";
  d.summary = "gradient descent on the attention weights, single and averaged, against theory";
  d.details = prose(R"(
      Students with standard normal weights are trained by full-batch Adam on the squared error
      of the labels. The mean of the matrices of many students, trained on the same n = alpha
      d^2 samples (alpha = n/d^2, samples over dimension squared), is compared with the
      Bayes-optimal error. Errors are the scatter of the `runs` data sets, with Student's factor
      for few of them; with one they are not known. The result is unconverged where a student
      diverged, or where more than a tenth of the students have a training loss that neither
      fell below 1e-3 of the first one nor settled. The tolerance is not used to stop.)");
  d.fields = model_fields<Gd>();
  d.fields.add("dim", &Gd::dim, dim_rule, dim_text)
      .add("alpha", &Gd::alpha,
           {.min = 0.0, .max = max_alpha, .open_min = true, .required = true, .grid = true},
           "Sample ratios n/d^2 (samples over dimension squared).")
      .add("starts", &Gd::starts, {.min = 2, .max = 10000}, "Students on each data set.")
      .add("runs", &Gd::runs, {.min = 1, .max = 10000}, "Teachers and data sets for each alpha.")
      .add("steps", &Gd::steps, {.min = 1, .max = 1000000}, "Steps of Adam.")
      .add("rate", &Gd::rate, {.min = 0.0, .max = 100.0, .open_min = true},
           "Learning rate of Adam.");
  d.rows = {{"", descent_columns().list()}};
  d.primary = "mse_averaged";
  d.method = 4;
  d.examples = {"aim gd --dim 60 --channel softmax --tokens 2 --rho 0.5 --alpha 0.05,0.1",
                "aim gd --dim 200 --alpha 0.1 --starts 16 --runs 4"};
  d.settle = settle_gd;
  d.cost = gd_cost;
  d.run = run_gd;
  return d.verb();
}

}  // namespace onset::aim
