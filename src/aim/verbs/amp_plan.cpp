#include "aim/verbs/amp_plan.hpp"

#include <string>

#include "aim/verbs/model_options.hpp"
#include "aim/verbs/run_options.hpp"
#include "onset/aim/model/output.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

constexpr std::int64_t default_dim = 200;
constexpr std::int64_t default_runs = 4;

void settle_data(Parameters& p) {
  take_from_manifest(p.text("data"), p);
  if (p.has("runs") && p.integer("runs") != 1) {
    throw InvalidArgument("--runs", std::to_string(p.integer("runs")) +
                                        " runs on one data set would all be the same; allowed: 1 "
                                        "with --data");
  }
  p.set("runs", std::int64_t{1});
}

/// A folder's samples at one alpha: the first n = alpha d^2.
void require_samples(double alpha, const Dataset& data) {
  const std::size_t wanted = samples_of(alpha, data.dim);
  if (wanted <= data.samples) return;
  throw InvalidArgument("--alpha", to_text(Value(alpha)) + " means " + std::to_string(wanted) +
                                       " samples at dimension " + std::to_string(data.dim) +
                                       "; allowed with these data: at most " +
                                       to_text(Value(ratio_of(data.samples, data.dim))));
}

}  // namespace

std::vector<Parameter> problem_parameters() {
  std::vector<Parameter> list = model_parameters();
  list.push_back(dim_parameter(default_dim));
  list.push_back(make_parameter("runs", ParameterKind::integer, default_runs, 1, 10000,
                                "Teachers and data sets for each alpha; 1 with --data."));
  for (Parameter& p : list) {
    p.text += " " + to_text(p.fallback) + " unless given" +
              (p.name == "runs" ? "." : " or said by the manifest of --data.");
    p.fallback = {};
  }
  Parameter alpha = alpha_parameter();
  alpha.required = false;
  alpha.open_min = true;
  alpha.text =
      "Sample ratios n/d^2 (samples over dimension squared). With --data, all samples unless "
      "given.";
  list.push_back(alpha);
  Parameter data;
  data.name = "data";
  data.kind = ParameterKind::text;
  data.folder = true;
  data.text =
      "Folder of `aim generate` (X.npy, Y.npy or logY.npy and, if known, truth/S.npy) instead of "
      "drawn data.";
  list.push_back(data);
  return list;
}

void settle_problem(Parameters& p) {
  if (p.has("data")) {
    settle_data(p);
  } else if (!p.has("alpha")) {
    throw InvalidArgument("--alpha",
                          "required, but not given; allowed: a grid of numbers above 0, or --data "
                          "DIR instead");
  } else if (!p.has("dim")) {
    p.set("dim", default_dim);
  }
  if (!p.has("runs")) p.set("runs", default_runs);
  for (const Parameter& parameter : model_parameters()) {
    if (!p.has(parameter.name)) p.set(parameter.name, parameter.fallback);
  }
}

AmpPlan::AmpPlan(const Parameters& p)
    : model_(read_model(p)), seed_(static_cast<std::uint64_t>(p.integer("seed"))) {
  OutputFunction::require_closed_form(model_);
  if (p.has("alpha")) alphas_ = p.reals("alpha");
  if (p.has("data")) {
    stored_ = read_data(model_, p.text("data"));
    dim_ = stored_->data.dim;
    if (p.has("dim") && static_cast<std::size_t>(p.integer("dim")) != dim_) {
      throw InvalidArgument("--dim", std::to_string(p.integer("dim")) +
                                         " contradicts X.npy of the data; allowed: " +
                                         std::to_string(dim_) + ", or leaving it out");
    }
    if (alphas_.empty()) alphas_ = {ratio_of(stored_->data.samples, dim_)};
    for (const double alpha : alphas_) require_samples(alpha, stored_->data);
  } else {
    dim_ = static_cast<std::size_t>(p.integer("dim"));
  }
  model_ = at_size(model_, dim_);
}

AmpPlan::Problem AmpPlan::problem(double alpha, std::uint64_t run, const Context& context) const {
  const std::size_t samples = samples_of(alpha, dim_);
  if (stored_) return {stored_->data.first(samples), stored_->truth};
  Teacher teacher = sample_teacher(model_, dim_, seed_, run, context);
  Dataset data = sample_data(model_, teacher, samples, seed_, run, context);
  return {std::move(data), std::move(teacher.matrix)};
}

}  // namespace onset::aim
