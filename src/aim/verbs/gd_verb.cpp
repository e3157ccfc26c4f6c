#include <algorithm>
#include <cmath>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/model_options.hpp"
#include "aim/verbs/run_options.hpp"
#include "core/plain_verb.hpp"
#include "onset/aim/learners/gradient_descent.hpp"
#include "onset/aim/limits/curve.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr double default_tolerance = 0.05;
constexpr double flops_per_second = 1e10;  ///< measured, one core; for estimates only

std::vector<Column> gd_columns() {
  return {{"alpha", "sample ratio alpha = n/d^2 (samples over dimension squared)", "", false},
          {"mse_single", "||S_student - S||_F^2/d of one student", "", true},
          {"mse_averaged", "of the mean of the students' matrices, all on the same data", "", true},
          {"mse_extrapolated", "of the mean of infinitely many", "", true},
          {"mse_theory", "least possible error, from state evolution", "", true},
          {"loss", "training loss of a student at its end, over the one at its start", "", true}};
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
      unfinished += end.reason == StopReason::max_iterations ? 1 : 0;
    }
  }

  /// A few students that are slower than the rest change no mean and are only said.
  void judge(double alpha, Result& result) const {
    const auto some = [&](std::int64_t count) {
      return std::to_string(count) + " of " + std::to_string(students) +
             " students at alpha = " + to_text(Value(alpha)) + " ";
    };
    const std::string slow =
        some(unfinished) + "still descended after the last step; more --steps may help";
    if (diverged > 0) {
      result.status = ResultStatus::unconverged;
      result.reason = some(diverged) +
                      "ended at a training loss above the first one; a smaller --rate may help";
    } else if (unfinished > students / 10) {
      result.status = ResultStatus::unconverged;
      result.reason = slow;
    } else if (unfinished > 0) {
      result.notes.push_back(slow + ".");
    }
  }
};

Result run_gd(const Parameters& p, const Context& context) {
  const auto dim = static_cast<std::size_t>(p.integer("dim"));
  const AttentionIndexed model = at_size(read_model(p), dim);
  if (model.channel == ChannelKind::hardmax) {
    throw Refused(
        "hardmax labels are constant almost everywhere, so that their squared error has "
        "no gradient; possible: --channel softmax or linear");
  }
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const StateEvolution evolution(model, seed, context);
  const auto runs = static_cast<std::uint64_t>(p.integer("runs"));
  const auto& alphas = p.reals("alpha");
  Result result;
  result.table = Table(gd_columns());
  add_sizes(p.real("rho"), model, dim, alphas, result);
  keep_rows(result, [&] {
    double done = 0.0;
    for (const double alpha : alphas) {
      const Estimate theory = evolution.at(ratio_of(samples_of(alpha, dim), dim)).mmse;
      Samples samples;
      for (std::uint64_t run = 0; run < runs; ++run) {
        const Teacher teacher = sample_teacher(model, dim, seed, run, context);
        const Dataset data =
            sample_data(model, teacher, samples_of(alpha, dim), seed, run, context);
        DescentOptions options;
        options.steps = static_cast<int>(p.integer("steps"));
        options.rate = p.real("rate");
        options.starts = static_cast<int>(p.integer("starts"));
        options.seed = seed;
        options.index = run;
        samples.add(gradient_descent(model, data, teacher, options, context));
        context.report(++done / static_cast<double>(alphas.size() * runs), "gradient descent");
      }
      result.table.add_row({alpha, numerics::mean_over_runs(samples.single), numerics::mean_over_runs(samples.averaged),
                            numerics::mean_over_runs(samples.extrapolated), theory,
                            numerics::mean_over_runs(samples.loss)});
      samples.judge(alpha, result);
    }
  });
  return result;
}

Cost gd_cost(const Parameters& p) {
  const auto d = static_cast<double>(p.integer("dim"));
  const double width = std::max(1.0, p.real("rho") * d);
  const auto tokens = static_cast<double>(p.integer("tokens"));
  double samples = 0.0;
  for (const double alpha : p.reals("alpha")) samples += std::max(1.0, alpha * d * d);
  const double most = most_samples(p.reals("alpha"), d);
  const double repeats =
      static_cast<double>(p.integer("steps") * p.integer("starts") * p.integer("runs"));
  const auto starts = static_cast<double>(p.integer("starts"));
  return {
      "Full-batch Adam on the weights W of a student as wide as the teacher, several starts on "
      "the same data; the error of infinitely many averaged students from products of errors "
      "of different ones.",
      4.0 * samples * tokens * d * width * repeats / flops_per_second,
      data_bytes(most, tokens, d, width) +
          8.0 * starts * (2.0 * most * tokens * width + d * (d + 4.0 * width))};
}

}  // namespace

Verb gd_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "gd";
  verb.summary = "gradient descent on the attention weights, single and averaged, against theory";
  verb.details =
      "Full-batch Adam on the squared error of the labels, from standard normal weights; the mean "
      "of many students' matrices, trained on the same n = alpha d^2 samples (alpha = n/d^2, "
      "samples over dimension squared), is compared with the Bayes-optimal error. Errors are the "
      "scatter of the data sets of --runs, with Student's factor for few of them; with one they "
      "are not known. Where more than a tenth of the students have a training loss that neither "
      "fell below 1e-3 of the first one nor settled, or one diverged, the result is "
      "unconverged. The tolerance is not used to stop.";
  verb.parameters = model_parameters();
  verb.parameters.push_back(dim_parameter(std::int64_t{100}));
  Parameter alpha = alpha_parameter();
  alpha.open_min = true;
  alpha.text = "Sample ratios n/d^2 (samples over dimension squared).";
  verb.parameters.push_back(alpha);
  verb.parameters.push_back(make_parameter("starts", ParameterKind::integer, std::int64_t{8}, 2,
                                           10000, "Students on each data set."));
  verb.parameters.push_back(make_parameter("runs", ParameterKind::integer, std::int64_t{4}, 1,
                                           10000, "Teachers and data sets for each alpha."));
  verb.parameters.push_back(make_parameter("steps", ParameterKind::integer, std::int64_t{1000}, 1,
                                           1000000, "Steps of Adam."));
  verb.parameters.push_back(
      make_parameter("rate", ParameterKind::real, 0.1, 0.0, 100.0, "Its learning rate."));
  verb.parameters.back().open_min = true;
  verb.columns = gd_columns();
  verb.primary = "mse_averaged";
  verb.default_tol = default_tolerance;
  verb.method = 3;
  verb.examples = {"aim gd --dim 60 --channel softmax --tokens 2 --rho 0.5 --alpha 0.05,0.1",
                   "aim gd --dim 200 --alpha 0.1 --starts 16 --runs 4"};
  verb.cost = gd_cost;
  verb.run = run_gd;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
