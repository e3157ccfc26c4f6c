#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/data_folder.hpp"
#include "aim/verbs/model_options.hpp"
#include "aim/verbs/run_options.hpp"
#include "core/plain_verb.hpp"

namespace onset::aim {
namespace {

std::vector<Column> generate_columns() {
  return {{"file", "what was written into the folder", "", false},
          {"shape", "of the array", "", false}};
}

double alpha_of(const Parameters& p) {
  return p.real("alpha");
}

/// Probabilities below the smallest normal number keep their scores in logY.npy alone.
void add_underflow(const AttentionIndexed& model, const Dataset& data, Result& result) {
  if (model.channel != ChannelKind::softmax) return;
  const double smallest = std::log(std::numeric_limits<double>::min());
  const auto lost = std::count_if(data.labels.begin(), data.labels.end(),
                                  [&](double log_y) { return log_y < smallest; });
  if (lost == 0) return;
  result.notes.push_back(std::to_string(lost) +
                         " probabilities of Y.npy are too small for a number and were rounded; "
                         "logY.npy has their logarithms, which `aim amp --data` reads.");
}

Result run_generate(const Parameters& p, const Context& context) {
  const auto dim = static_cast<std::size_t>(p.integer("dim"));
  const AttentionIndexed model = at_size(read_model(p), dim);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  Teacher teacher = sample_teacher(model, dim, seed, 0, context);
  Dataset data = sample_data(model, teacher, samples_of(alpha_of(p), dim), seed, 0, context);
  Result result;
  result.table = Table(generate_columns());
  add_sizes(p.real("rho"), model, dim, {alpha_of(p)}, result);
  add_underflow(model, data, result);
  result.artifacts = data_files(model, std::move(data), std::move(teacher));
  for (const Artifact& file : result.artifacts) {
    std::string shape;
    for (const std::size_t n : std::get<Array>(file.content).shape) {
      shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    }
    result.table.add_row({file.path, shape});
  }
  return result;
}

Cost generate_cost(const Parameters& p) {
  const auto d = static_cast<double>(p.integer("dim"));
  const auto tokens = static_cast<double>(p.integer("tokens"));
  const double samples = most_samples({alpha_of(p)}, d);
  const double width = std::max(1.0, p.real("rho") * d);
  const double entries = samples * tokens * d;
  return {
      "Standard normal weights and tokens from counter-based streams; scores by one matrix "
      "product.",
      1e-8 * entries + entries * d * 1e-10,
      8.0 * std::max(entries, d * width) + data_bytes(samples, tokens, d, width)};
}

}  // namespace

Verb generate_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "generate";
  verb.summary = "a data set of the attention-indexed model, which amp --data reads";
  verb.details =
      "Writes X.npy (n x T x d tokens), Y.npy (labels: n x T x T softmax probabilities, with their "
      "logarithms in logY.npy, or scores, or n x T columns of the largest entries for hardmax, "
      "counted from 0), truth/S.npy and "
      "truth/W.npy into the folder of --out. n = alpha d^2 samples.";
  verb.parameters = model_parameters();
  verb.parameters.push_back(dim_parameter(std::int64_t{100}));
  Parameter alpha = make_parameter("alpha", ParameterKind::real, 0.1, 0.0, 1e9,
                                   "Sample ratio n/d^2 (samples over dimension squared).");
  alpha.open_min = true;
  verb.parameters.push_back(alpha);
  verb.columns = generate_columns();
  verb.needs_folder = true;
  verb.method = 2;
  verb.examples = {
      "aim generate --channel softmax --dim 100 --alpha 0.1 --out data",
      "aim generate --channel hardmax --tokens 2 --dim 50 --alpha 1 --rho 0.2 --out data"};
  verb.cost = generate_cost;
  verb.run = run_generate;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
