#include <cmath>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "smi/verbs/data_folder.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

constexpr double most_samples = 1e9;

std::vector<Column> generate_columns() {
  return {{"samples", "number of samples N", "", false},
          {"tokens", "tokens of a sample", "", false},
          {"dimension", "dimension D", "", false},
          {"directions", "rows of the teacher", "", false},
          {"alpha", alpha_meaning, "", false}};
}

/// N from --samples or --alpha, whichever is given.
std::size_t read_samples(const Parameters& p) {
  if (p.has("samples") == p.has("alpha")) {
    throw InvalidArgument(p.has("alpha") ? "--alpha" : "--samples",
                          std::string(p.has("alpha") ? "and --samples both say" : "does not say") +
                              " how many samples there are; allowed: one of --samples N and "
                              "--alpha N/D");
  }
  if (p.has("samples")) return static_cast<std::size_t>(p.integer("samples"));
  const double samples = std::round(p.real("alpha") * static_cast<double>(p.integer("dim")));
  if (samples < 1.0 || samples > most_samples) {
    throw InvalidArgument("--alpha", to_text(Value(p.real("alpha"))) + " means " +
                                         to_text(Value(samples)) +
                                         " samples; allowed: 1 to 1e9 samples");
  }
  return static_cast<std::size_t>(samples);
}

Result run_generate(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  const auto dim = static_cast<std::size_t>(p.integer("dim"));
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const Dataset data = draw_dataset(*named.model, dim, read_samples(p), seed, 0, context);
  Result result;
  result.table = Table(generate_columns());
  result.table.add_row({static_cast<std::int64_t>(data.samples),
                        static_cast<std::int64_t>(data.tokens), static_cast<std::int64_t>(dim),
                        static_cast<std::int64_t>(named.model->shape().directions()),
                        static_cast<double>(data.samples) / static_cast<double>(dim)});
  result.artifacts = data_files(named, data);
  return result;
}

Cost generate_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  const double bytes = dataset_bytes(named.model->shape(), static_cast<double>(p.integer("dim")),
                                     static_cast<double>(read_samples(p)));
  Cost cost;
  cost.method =
      "A teacher with standard normal weights, samples with standard normal inputs, and labels "
      "made "
      "from them in double precision.";
  cost.core_seconds = 5e-9 * bytes;
  cost.memory_bytes = 4.0 * bytes;
  return cost;
}

}  // namespace

Verb generate_verb() {
  PlainVerb verb;
  verb.family = "smi";
  verb.name = "generate";
  verb.summary =
      "data of deep attention or a link, for smi amp --data and for programs of your own";
  verb.details =
      "Writes X.npy (inputs, samples x tokens x dimension), Y.npy (labels: attention matrices, or "
      "a "
      "link's numbers), truth/w.npy (the teacher, one row per direction) and, for attention of "
      "rank "
      "one, H.npy: the label as the field h of the last layer up to its sign, without the digits "
      "that a softmax loses. The fields are z = w x / sqrt(D); alpha = N/D (samples over "
      "dimension).";
  verb.parameters = model_parameters();
  verb.read_files = read_correlation_file;
  verb.parameters.push_back(make_parameter("dim", ParameterKind::integer, std::int64_t{500}, 2, 1e7,
                                           "Dimension D of a token."));
  verb.parameters.push_back(make_parameter("samples", ParameterKind::integer, {}, 1, most_samples,
                                           "Number of samples N."));
  verb.parameters.push_back(make_parameter("alpha", ParameterKind::real, {}, 0.0, 1e6,
                                           "Samples over dimension, N/D, instead of --samples."));
  verb.parameters.back().open_min = true;
  verb.columns = generate_columns();
  verb.needs_folder = true;
  verb.examples = {"smi generate --dim 500 --alpha 1.2 --out data",
                   "smi generate --link square --dim 200 --samples 400 --out retrieval"};
  verb.cost = generate_cost;
  verb.run = run_generate;
  return to_verb(std::move(verb));
}

}  // namespace onset::smi
