#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/smi.hpp"
#include "smi/limits/block_leaps.hpp"
#include "smi/limits/typed/leaps.hpp"
#include "smi/limits/typed/typed_staircase.hpp"
#include "smi/model/typed/hermite_indices.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/typed_fields.hpp"

namespace onset::smi {
namespace {

struct SettledExponent {
  /// One of the two.
  std::shared_ptr<const TypedLink> typed;
  NamedModel named;
  LeapOptions options;
};

SettledExponent settle_exponent(Exponent& request) {
  SettledExponent settled;
  settled.options.max_degree = request.max_degree;
  settled.options.seed = request.seed;
  if (const auto typed = expressed_request(request)) {
    settled.typed = typed->link;
    return settled;
  }
  settled.named = settle_model(request);
  if (request.weights == Weights::untied) {
    throw Refused(prose(R"(
        leaps are not offered for untied weights, of which a label shows products of query and key fields:
        degree 2, for both together; smi thresholds says which alpha that is; allowed: `weights = tied`)"));
  }
  return settled;
}

struct ExponentRow {
  std::int64_t step = 0;
  std::string directions;
  std::optional<std::int64_t> leap = {};
  std::optional<Estimate> weight = {};
  std::optional<double> samples = {};
  std::string given;
  std::string information_leap;
  std::string verdict;
};

Columns<ExponentRow> exponent_columns() {
  return Columns<ExponentRow>()
      .add("step", &ExponentRow::step, "step of the staircase, from 1")
      .add("directions", &ExponentRow::directions,
           "what is seen at this step: an orthonormal basis, or layers; what is left where nothing "
           "is")
      .add("leap", &ExponentRow::leap, prose(R"(
          least degree of Hermite polynomials of the unknown fields of which a label says
          something, given the directions before; where the verdict is unresolved, the degree that
          is in doubt)"))
      .add("weight", &ExponentRow::weight,
           "lambda_k^2: the squared mean of these polynomials given the label, averaged")
      .add("samples", &ExponentRow::samples, prose(R"(
          power of the dimension D that the number of samples N must grow with, max(1, k/2) for the
          largest leap k so far)"))
      .add("given", &ExponentRow::given, "directions that are known before")
      .add("information_leap", &ExponentRow::information_leap, prose(R"(
          the same leap of the label itself, not transformed; undefined: the label has no variance)"))
      .add("verdict", &ExponentRow::verdict, prose(R"(
          present; absent: no leap up to `max-degree`; unresolved: errors do not say)"));
}

std::string words_of(const std::optional<Leap>& leap, int max_degree) {
  if (!leap) return "undefined";
  if (leap->verdict == Verdict::absent) return ">" + std::to_string(max_degree);
  if (leap->verdict == Verdict::unresolved) return "unresolved";
  return std::to_string(*leap->degree);
}

void add_directions_that_do_not_matter(const TypedLink& link, Result& result) {
  const Eigen::MatrixXd none = irrelevant_directions(link);
  if (none.cols() == 0) return;
  result.notes.push_back("The label does not depend on " + direction_names(none) + ".");
}

void run_typed_exponent(const SettledExponent& settled, const Context& context, Result& result) {
  const auto columns = exponent_columns();
  result.table = columns.table();
  int largest = 0;
  const auto found = [&](const LeapStep& step) {
    ExponentRow row;
    row.step = static_cast<std::int64_t>(result.table.rows().size()) + 1;
    row.directions = direction_names(step.directions);
    row.given = step.given.cols() > 0 ? direction_names(step.given) : "none";
    row.verdict = std::string(to_string(step.leap.verdict));
    row.information_leap = words_of(step.information, settled.options.max_degree);
    if (step.leap.degree) row.leap = *step.leap.degree;
    row.weight = step.leap.weight;
    if (step.leap.verdict == Verdict::present) {
      largest = std::max(largest, *step.leap.degree);
      row.samples = sample_power(largest);
    }
    result.table.add_row(columns.cells(row));
  };
  const std::vector<LeapStep> steps = leaps(*settled.typed, settled.options, context, found);
  note_what_is_not_named(*settled.typed, result);
  add_directions_that_do_not_matter(*settled.typed, result);
  const bool complete = steps.back().leap.verdict == Verdict::present;
  if (complete) {
    result.summary.emplace_back("leap", static_cast<std::int64_t>(largest));
    result.summary.emplace_back("samples", sample_power(largest));
  } else if (steps.back().leap.verdict == Verdict::absent) {
    result.notes.push_back(prose(R"(
        Up to degree {} no weight of {} exceeds 1e-5: unless there are smaller ones, its leap is larger
        (`max-degree`), and more than D^{} samples are needed.)",
                                 settled.options.max_degree,
                                 direction_names(steps.back().directions),
                                 to_text(Value(sample_power(settled.options.max_degree)))));
  } else {
    result.unconverged("not resolved: whether degree " +
                       std::to_string(steps.back().leap.degree.value_or(0)) +
                       " is the first that shows " + direction_names(steps.back().directions));
  }
}

Leap plain_leap(const BlockLeaps& weights, bool first_is_forbidden) {
  const Verdict first = first_is_forbidden ? Verdict::absent : verdict(weights.plain_first);
  if (first != Verdict::absent) return {first, 1, weights.plain_first};
  const Verdict second = verdict(weights.plain_second);
  // Beyond degree 2 nothing was looked at.
  if (second != Verdict::present) return {Verdict::unresolved, 2, weights.plain_second};
  return {second, 2, weights.plain_second};
}

void run_attention_exponent(const Exponent& request, const SettledExponent& settled,
                            const Context& context, Result& result) {
  const SequenceModel& model = *settled.named.model;
  const auto columns = exponent_columns();
  result.table = columns.table();
  const BlockLeaps weights = block_leaps(model, request.seed, context);
  std::vector<std::size_t> seen, doubtful;
  for (std::size_t b = 0; b < model.shape().blocks(); ++b) {
    (verdict(weights.second[b]) == Verdict::present ? seen : doubtful).push_back(b);
    result.summary.emplace_back("weight" + std::to_string(b + 1), weights.second[b]);
  }
  // The label does not see the sign of a layer: degree 1 is absent, exactly.
  ExponentRow row;
  row.step = 1;
  row.directions = names(seen);
  row.leap = 2;
  row.weight = weights.second_sum;
  row.given = "none";
  row.information_leap = words_of(plain_leap(weights, true), request.max_degree);
  row.verdict = std::string(to_string(seen.empty() ? Verdict::unresolved : Verdict::present));
  if (seen.empty()) {
    row.directions = names(doubtful);
  } else {
    row.samples = sample_power(2);
  }
  result.table.add_row(columns.cells(row));
  if (doubtful.empty()) {
    result.summary.emplace_back("leap", std::int64_t{2});
    result.summary.emplace_back("samples", sample_power(2));
    return;
  }
  result.unconverged("the weights of layers " + names(doubtful) +
                     " are too small for their errors, or for a verdict");
}

void run_exponent(const Exponent& request, const SettledExponent& settled, const Context& context,
                  Result& result) {
  if (settled.typed) {
    run_typed_exponent(settled, context, result);
  } else {
    run_attention_exponent(request, settled, context, result);
  }
}

Cost exponent_cost(const Exponent& /*request*/, const SettledExponent& settled) {
  Cost cost;
  if (settled.typed) {
    cost.method = prose(R"(
        Hermite moments of the unknown fields given a label, by integrals over the level sets of the
        link, on lines along randomly rotated axes; the products of two independent halves are
        averaged over labels. Where nothing is known that is an integral over the label (with three
        fields and more: a sum over bins of the label, by samples of all fields), else quasi-Monte
        Carlo with the known fields known exactly. Symmetries (signed permutations of the fields)
        prove zeros. Errors: scatter of replicates, 16 of them for bins and eight otherwise, and what
        the rule over labels changed in its last step, or what bins may lose.)");
    cost.core_seconds = leap_seconds(*settled.typed, settled.options);
  } else {
    cost.method = prose(R"(
        Half the growth rates F_l = E||E[z_l z_l^T|y] - I||^2 at overlap 0, which are the weights of
        degree 2; degree 1 is absent because no label sees the sign of a layer. Errors: scatter of 16
        replicates.)");
    // Where nothing is known a posterior takes a part of what it takes elsewhere: measured.
    constexpr double part_at_zero = 0.08;
    cost.core_seconds = 0.2 + plain_leap_seconds(*settled.named.model) +
                        part_at_zero * settled.named.channel_seconds(1.0, 1024, 1024);
  }
  cost.memory_bytes = settled.typed ? typed_bytes(*settled.typed) : 2e8;
  return cost;
}

}  // namespace

VerbOf<Exponent> Exponent::verb() {
  Definition<Exponent, SettledExponent> d;
  d.family = "smi";
  d.name = "exponent";
  d.summary = "leaps: how the samples that a direction takes grow with the dimension";
  d.details = prose(R"(
      A direction of which a label says something at degree k (Hermite polynomials of the fields that
      are not known yet, given the label and those that are) takes N ~ D^max(1, k/2) samples. At
      degrees 1 and 2 a number of samples proportional to D is enough, and smi thresholds says which
      alpha = N/D; from 3 on no alpha is. Directions that are seen are given away, and the next step
      asks again. The information leap is that of the label as it is, which online gradient descent
      on the squared loss sees; transformations of the label can only make it smaller.)");
  d.fields = model_fields<Exponent>();
  d.fields.add("max-degree", &Exponent::max_degree, {.min = 1, .max = max_hermite_degree},
               "Largest degree that is looked at.");
  d.rows = {{"", exponent_columns().list()}};
  d.primary = "weight";
  d.method = 10;
  d.examples = {"smi exponent --link 'sign(z1*z2*z3)'", "smi exponent --link 'z1^2+sign(z1*z2*z3)'",
                "smi exponent --link he4", "smi exponent --layers 2"};
  d.settle = settle_exponent;
  d.cost = exponent_cost;
  d.run = run_exponent;
  return d.verb();
}

}  // namespace onset::smi
