#include <algorithm>
#include <cmath>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/model_options.hpp"
#include "aim/verbs/run_options.hpp"
#include "onset/aim/learners/gradient_descent.hpp"
#include "onset/aim/limits/curve.hpp"
#include "onset/core/error.hpp"
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
          {"mse_theory", "least possible error, from state evolution", "", true}};
}

/// Scatter over data sets; with one data set, of the students (the averages then share their data
/// and get the same relative error).
struct Samples {
  std::vector<double> single;
  std::vector<double> averaged;
  std::vector<double> extrapolated;
  Estimate students;

  void add(const DescentErrors& errors) {
    students = numerics::reduce(errors.single);
    single.push_back(students.value);
    averaged.push_back(errors.averaged);
    extrapolated.push_back(errors.extrapolated);
  }
  [[nodiscard]] Estimate estimate(const std::vector<double>& values) const {
    if (values.size() > 1) return numerics::reduce(values);
    return {values[0], std::abs(values[0]) * students.error / students.value};
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
  try {
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
      result.table.add_row({alpha, samples.estimate(samples.single),
                            samples.estimate(samples.averaged),
                            samples.estimate(samples.extrapolated), theory});
    }
  } catch (const Interrupted&) {  // the rows finished so far are worth keeping
    result.status = ResultStatus::interrupted;
  }
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
      8.0 * (2.0 * most * tokens * d + 2.0 * starts * most * tokens * width +
             starts * d * (d + 4.0 * width))};
}

}  // namespace

Verb gd_verb() {
  Verb verb;
  verb.family = "aim";
  verb.name = "gd";
  verb.summary = "gradient descent on the attention weights, single and averaged, against theory";
  verb.details =
      "Full-batch Adam on the squared error of the labels, from standard normal weights; the mean "
      "of many students' matrices, trained on the same n = alpha d^2 samples (alpha = n/d^2, "
      "samples over dimension squared), is compared with the Bayes-optimal error. Errors are the "
      "scatter of the data sets of --runs; with one, of the students. The tolerance is not used to "
      "stop.";
  verb.parameters = model_parameters();
  verb.parameters.push_back(dim_parameter(std::int64_t{100}));
  Parameter alpha = alpha_parameter();
  alpha.open_min = true;
  alpha.text = "Sample ratios n/d^2 (samples over dimension squared).";
  verb.parameters.push_back(alpha);
  verb.parameters.push_back(make_parameter("starts", ParameterKind::integer, std::int64_t{8}, 2,
                                           10000, "Students on each data set."));
  verb.parameters.push_back(make_parameter("runs", ParameterKind::integer, std::int64_t{2}, 1,
                                           10000, "Teachers and data sets for each alpha."));
  verb.parameters.push_back(make_parameter("steps", ParameterKind::integer, std::int64_t{1000}, 1,
                                           1000000, "Steps of Adam."));
  verb.parameters.push_back(
      make_parameter("rate", ParameterKind::real, 0.1, 0.0, 100.0, "Its learning rate."));
  verb.parameters.back().open_min = true;
  verb.columns = gd_columns();
  verb.primary = "mse_averaged";
  verb.default_tol = default_tolerance;
  verb.method = 2;
  verb.examples = {"aim gd --dim 60 --channel softmax --tokens 2 --rho 0.5 --alpha 0.05,0.1",
                   "aim gd --dim 200 --alpha 0.1 --starts 32 --runs 1"};
  verb.cost = gd_cost;
  verb.run = run_gd;
  return verb;
}

}  // namespace onset::aim
