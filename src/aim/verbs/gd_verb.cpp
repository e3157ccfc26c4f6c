#include <algorithm>
#include <string>

#include "aim/learners/gradient_descent.hpp"
#include "aim/limits/curve.hpp"
#include "aim/limits/erm/training.hpp"
#include "aim/limits/label_error.hpp"
#include "aim/verbs/device_field.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "aim/verbs/spread_note.hpp"
#include "aim/verbs/training_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "device/device.hpp"
#include "onset/aim.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// Measured rates of one core and of a GPU, for estimates only.
constexpr double gd_flops_per_second = 1e10;
constexpr double gd_device_flops_per_second = 7e12;

struct DescentRow {
  double alpha = 0.0;
  Estimate mse_single;
  Estimate mse_averaged;
  Estimate mse_extrapolated;
  Estimate mse_theory;
  Estimate test;
  std::optional<Estimate> test_theory = {};
  Estimate test_plug_in;
  std::optional<Estimate> test_plug_in_theory = {};
  Estimate loss;
  Estimate train;
  Estimate objective;
  Estimate trace;
  std::optional<Estimate> mse_erm = {};
  std::optional<Estimate> train_erm = {};
  std::optional<Estimate> objective_erm = {};
  std::optional<Estimate> trace_erm = {};
};

Columns<DescentRow> descent_columns() {
  return Columns<DescentRow>()
      .add("alpha", &DescentRow::alpha, data_alpha_meaning)
      .add("mse_single", &DescentRow::mse_single, "||S_student - S||_F^2/d of one student")
      .add("mse_averaged", &DescentRow::mse_averaged,
           "of the mean of the students' matrices, all on the same data")
      .add("mse_extrapolated", &DescentRow::mse_extrapolated, "of the mean of infinitely many")
      .add("mse_theory", &DescentRow::mse_theory, "least possible error, from state evolution")
      .add(
          "test", &DescentRow::test,
          "squared error on the labels of new samples, summed over the entries, of the mean of the "
          "students' labels")
      .add("test_theory", &DescentRow::test_theory, "least possible, from state evolution")
      .add("test_plug_in", &DescentRow::test_plug_in,
           "the same for the label that the mean of the students' matrices makes")
      .add("test_plug_in_theory", &DescentRow::test_plug_in_theory,
           "the same for the best estimate of the matrix, from state evolution")
      .add("loss", &DescentRow::loss,
           "training loss of a student at its end, over the one at its start, decay included");
}

/// With decay: what it minimised, and the limit of that beside it.
Columns<DescentRow> decayed_columns() {
  return descent_columns()
      .add(
          "mse_erm", &DescentRow::mse_erm,
          "mse_single of the minimum of training in the limit of large d, for students of at least "
          "its rank (aim erm)")
      .add("train", &DescentRow::train, "squared error of a training label, all T^2 entries")
      .add("train_erm", &DescentRow::train_erm, "the same of the minimum")
      .add("objective", &DescentRow::objective, "what is minimised, per d^2, as in aim erm")
      .add("objective_erm", &DescentRow::objective_erm, "the same of the minimum")
      .add("trace", &DescentRow::trace, "Tr S/d of a student")
      .add("trace_erm", &DescentRow::trace_erm, "the same of the minimum");
}

/// One number for each data set: students on the same data share most of their error, so that their
/// scatter says little about it.
struct Samples {
  std::vector<double> single;
  std::vector<double> averaged;
  std::vector<double> extrapolated;
  std::vector<double> test;
  std::vector<double> test_plug_in;
  std::vector<double> loss;
  std::vector<double> train;
  std::vector<double> objective;
  std::vector<double> trace;
  std::int64_t students = 0;
  std::int64_t diverged = 0;
  std::int64_t unfinished = 0;

  void add(const DescentErrors& errors) {
    single.push_back(numerics::mean(errors.single));
    averaged.push_back(errors.averaged);
    extrapolated.push_back(errors.extrapolated);
    test.push_back(errors.test);
    test_plug_in.push_back(errors.test_plug_in);
    loss.push_back(numerics::mean(errors.loss));
    train.push_back(numerics::mean(errors.train));
    objective.push_back(numerics::mean(errors.objective));
    trace.push_back(numerics::mean(errors.trace));
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
            .test = numerics::mean_over_runs(test),
            .test_plug_in = numerics::mean_over_runs(test_plug_in),
            .loss = numerics::mean_over_runs(loss),
            .train = numerics::mean_over_runs(train),
            .objective = numerics::mean_over_runs(objective),
            .trace = numerics::mean_over_runs(trace)};
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

/// The model at its size. With decay the minimum itself is wanted, and the rate falls to 0.
AttentionIndexed settle_gd(Gd& request) {
  const bool decayed = request.decay > 0.0;
  if (!request.steps) request.steps = decayed ? 4000 : 1000;
  if (!request.rate) request.rate = decayed ? 0.05 : 0.1;
  if (!request.schedule) {
    request.schedule = decayed ? RateSchedule::cosine : RateSchedule::constant;
  }
  request.device = device::settle(request.device);
  const AttentionIndexed model = settle_model(request);
  if (const std::string why = model.channel->no_gradient(); !why.empty()) throw Refused(why);
  return at_size(model, static_cast<std::size_t>(request.dim));
}

std::size_t student_width(const Gd& request, const AttentionIndexed& model) {
  if (request.width) return static_cast<std::size_t>(*request.width);
  return width_of(model.rho, static_cast<std::size_t>(request.dim));
}

/// What `aim erm` says of the same training, at the sizes that were used.
void add_erm(const Gd& request, const AttentionIndexed& model, double alpha, const Context& context,
             DescentRow& row, Result& result) {
  Conjugates start{};
  TrainedPoint p;
  try {
    const Training training(model, TrainingLoss::square, Penalty::trace, request.seed);
    p = training.at(alpha, request.decay, start, context);
  } catch (const Refused& why) {
    result.notes.push_back("No aim erm beside it: " + std::string(why.what()) + ".");
    return;
  }
  row.mse_erm = p.mse;
  row.train_erm = p.train;
  row.objective_erm = p.objective;
  row.trace_erm = p.trace;
  const auto width = static_cast<double>(student_width(request, model));
  if (p.rank->value * request.dim > width) {
    result.notes.push_back("At alpha = " + to_text(Value(row.alpha)) + " the minimum has rank " +
                           to_text(Value(p.rank->value)) + " d, and students of width " +
                           to_text(Value(width)) +
                           " cannot reach it: aim erm does not describe them.");
  }
}

void run_gd(const Gd& request, const AttentionIndexed& model, const Context& context,
            Result& result) {
  const auto columns = request.decay > 0.0 ? decayed_columns() : descent_columns();
  result.table = columns.table();
  const auto dim = static_cast<std::size_t>(request.dim);
  const auto runs = static_cast<std::uint64_t>(request.runs);
  const StateEvolution evolution(model, request.seed, context);
  const LabelErrors labels(model, request.seed);
  add_sizes(request.rho, model, dim, request.alpha, result);
  if (request.width) result.summary.emplace_back("student_width", std::int64_t{*request.width});
  DescentOptions options;
  options.steps = *request.steps;
  options.rate = *request.rate;
  options.schedule = *request.schedule;
  options.decay = request.decay;
  options.width = student_width(request, model);
  options.starts = request.starts;
  options.seed = request.seed;
  double done = 0.0;
  for (const double alpha : request.alpha) {
    const std::size_t count = samples_of(alpha, dim);
    Samples samples;
    for (std::uint64_t run = 0; run < runs; ++run) {
      const Teacher teacher = sample_teacher(model, dim, request.seed, run, context);
      const Dataset data =
          sample_data(model, teacher, count, {request.seed, run, request.device}, context);
      options.index = run;
      samples.add(gradient_descent(model, data, teacher, options, context));
      context.report(++done / static_cast<double>(request.alpha.size() * runs), "gradient descent");
    }
    const CurvePoint limit = evolution.at(ratio_of(count, dim));
    const Estimate theory = limit.mmse;
    DescentRow row = samples.row(alpha, theory);
    if (const auto error = labels.at(limit.overlap, limit.mmse)) {
      row.test_theory = error->bayes;
      row.test_plug_in_theory = error->plug_in;
    }
    if (request.decay > 0.0) add_erm(request, model, ratio_of(count, dim), context, row, result);
    result.table.add_row(columns.cells(row));
    if (!(theory.value > 0.0)) say_spread(alpha, samples.single, result);
    samples.judge(alpha, result);
  }
}

/// Seconds of the limits beside the students, at each alpha.
double limit_seconds(const Gd& request, const AttentionIndexed& model) {
  const double bayes = model.channel->information_plan(model).core_seconds;
  if (request.decay == 0.0) return bayes;
  try {
    return bayes +
           training_seconds({model, TrainingLoss::square, Penalty::trace, request.seed}, model);
  } catch (const Refused&) {
    return bayes;  // there will be a note in its place
  }
}

Cost gd_cost(const Gd& request, const AttentionIndexed& model) {
  const double d = request.dim;
  const auto width = static_cast<double>(student_width(request, model));
  const double tokens = request.tokens;
  const double starts = request.starts;
  double samples = 0.0;
  for (const double alpha : request.alpha) samples += std::max(1.0, alpha * d * d);
  const double most = max_samples(request.alpha, d);
  const bool on_device = request.device == device::DeviceKind::gpu;
  const double pairs = tokens * (tokens + 1.0) / 2.0;
  // On a device the tokens and the students' fields are there.
  const double kept_here = on_device ? most * pairs : 2.0 * most * tokens * width;
  const auto alphas = static_cast<double>(request.alpha.size());
  const auto teacher = static_cast<double>(width_of(model.rho, static_cast<std::size_t>(d)));
  return {
      "Full-batch Adam on the weights W of a student, several starts on the same data; the error "
      "of infinitely many averaged students from products of errors of "
      "different ones.",
      4.0 * samples * tokens * d * width * starts * *request.steps * request.runs /
              (on_device ? gd_device_flops_per_second : gd_flops_per_second) +
          alphas * (request.runs * teacher_seconds(d, teacher) + limit_seconds(request, model)),
      (on_device ? program_bytes + 8.0 * d * teacher : data_bytes(most, tokens, d, teacher)) +
          8.0 * starts * (kept_here + d * (d + 4.0 * width))};
}

}  // namespace

VerbOf<Gd> Gd::verb() {
  Definition<Gd, AttentionIndexed> d;
  d.family = "aim";
  d.name = "gd";
  d.summary = "gradient descent on the attention weights, single and averaged, against theory";
  d.details = prose(R"(
      Full-batch Adam on the squared error of the labels, from standard normal weights;
      the mean of many students' matrices, trained on the same n = alpha d^2 samples
      (alpha = n/d^2, samples over dimension squared), is compared with the Bayes-optimal
      error. Errors are the scatter of the data sets of `runs`, with Student's factor for
      few of them; with one they are not known. With `decay` the students minimise what
      aim erm describes, and its numbers stand beside theirs; at finite d they differ by
      some 1/d. Where more than a tenth of the students have a training loss that neither
      fell below 1e-3 of the first one nor settled, or one diverged, the result is
      unconverged. The tolerance is not used to stop.)");
  d.fields = model_fields<Gd>();
  d.fields.add("dim", &Gd::dim, dim_rule, dim_text)
      .add("alpha", &Gd::alpha,
           {.min = 0.0, .max = max_alpha, .open_min = true, .required = true, .grid = true},
           "Sample ratios n/d^2 (samples over dimension squared).")
      .add("starts", &Gd::starts, {.min = 2, .max = 10000}, "Students on each data set.")
      .add("runs", &Gd::runs, {.min = 1, .max = 10000}, "Teachers and data sets for each alpha.")
      .add("steps", &Gd::steps, {.min = 1, .max = 1000000},
           "Steps of Adam; 1000 unless given, 4000 with `decay`.")
      .add("rate", &Gd::rate, {.min = 0.0, .max = 100.0, .open_min = true},
           "Its learning rate; 0.1 unless given, 0.05 with `decay`.")
      .add_word(
          "schedule", &Gd::schedule, std::vector{RateSchedule::constant, RateSchedule::cosine},
          "The rate over the steps: constant, or falling to 0 like (1 + cos)/2; constant unless "
          "given, cosine with `decay`.")
      .add("decay", &Gd::decay, {.min = 0.0, .max = max_training_decay},
           "Weight decay lambda of aim erm: lambda |W|^2/sqrt(r_s d) is added to the loss.")
      .add("width", &Gd::width, {.min = 1, .max = 20000},
           "Width r_s of the students, columns of W; the teacher's unless given.");
  add_device(d.fields);
  d.rows = {{"", descent_columns().list()}, {"with `decay`", decayed_columns().list()}};
  d.primary = "mse_averaged";
  d.method = 7;
  d.examples = {
      "aim gd --dim 60 --channel softmax --tokens 2 --rho 0.5 --alpha 0.05,0.1",
      "aim gd --dim 200 --alpha 0.1 --starts 16 --runs 4",
      "aim gd --dim 60 --noise-variance 0.25 --alpha 0.3 --decay 0.01 --width 60 --starts 2"};
  d.settle = settle_gd;
  d.cost = gd_cost;
  d.run = run_gd;
  return d.verb();
}

}  // namespace onset::aim
