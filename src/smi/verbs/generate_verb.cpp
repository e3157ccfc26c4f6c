#include <cmath>
#include <string>
#include <utility>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/verbs/data_folder.hpp"
#include "smi/verbs/model_fields.hpp"

namespace onset::smi {
namespace {

constexpr double max_samples = 1e9;

struct GenerateRow {
  std::size_t samples = 0;
  std::size_t tokens = 0;
  std::int64_t dimension = 0;
  std::size_t directions = 0;
  double alpha = 0.0;
};

Columns<GenerateRow> generate_columns() {
  return Columns<GenerateRow>()
      .add("samples", &GenerateRow::samples, "number of samples N")
      .add("tokens", &GenerateRow::tokens, "tokens of a sample")
      .add("dimension", &GenerateRow::dimension, "dimension D")
      .add("directions", &GenerateRow::directions, "rows of the teacher")
      .add("alpha", &GenerateRow::alpha, alpha_meaning);
}

/// N from --samples or --alpha, whichever is given.
std::size_t number_of_samples(const Generate& request) {
  const auto& samples = request.samples;
  const auto& alpha = request.alpha;
  if (samples.has_value() == alpha.has_value()) {
    throw InvalidArgument(alpha ? "alpha" : "samples",
                          prose(R"(
        {} how many samples there are; allowed: one of `samples = N` and `alpha = N/D`)",
                                alpha ? "and `samples` both say" : "does not say"));
  }
  if (samples) return static_cast<std::size_t>(*samples);
  const double count = std::round(*alpha * static_cast<double>(request.dim));
  if (count < 1.0 || count > max_samples) {
    throw InvalidArgument("alpha", to_text(Value(*alpha)) + " means " + to_text(Value(count)) +
                                       " samples; allowed: 1 to 1e9 samples");
  }
  return static_cast<std::size_t>(count);
}

struct SettledGenerate {
  NamedModel named;
  std::size_t samples = 0;
};

SettledGenerate settle_generate(Generate& request) {
  return {settle_model(request), number_of_samples(request)};
}

void run_generate(const Generate& request, const SettledGenerate& settled, const Context& context,
                  Result& result) {
  const auto& [named, samples] = settled;
  Dataset data = draw_dataset(*named.model, static_cast<std::size_t>(request.dim), samples,
                              request.seed, 0, context);
  const double alpha = static_cast<double>(samples) / static_cast<double>(request.dim);
  result.table = generate_columns().table({{.samples = samples,
                                            .tokens = data.tokens,
                                            .dimension = request.dim,
                                            .directions = named.model->shape().directions(),
                                            .alpha = alpha}});
  if (named.typed) note_what_is_not_named(*named.typed, result);
  result.artifacts = data_files(*named.model, std::move(data), context);
}

Cost generate_cost(const Generate& request, const SettledGenerate& settled) {
  const double bytes = dataset_bytes(settled.named.model->shape(), static_cast<double>(request.dim),
                                     static_cast<double>(settled.samples));
  return {prose(R"(
      A teacher with standard normal weights, samples with standard normal inputs, and labels
      made from them in double precision.)"),
          5e-9 * bytes, 4.0 * bytes};
}

}  // namespace

VerbOf<Generate> Generate::verb() {
  Definition<Generate, SettledGenerate> d;
  d.family = "smi";
  d.name = "generate";
  d.summary = "data of deep attention or a link, for smi amp and for programs of your own";
  d.details = prose(R"(
      Writes X.npy (inputs, samples x tokens x dimension), Y.npy (labels: attention matrices, or
      the numbers of a link), truth/w.npy (the teacher, one row per direction) and, for
      attention of rank one, H.npy: the label as the field h of the last layer up to its sign,
      with the digits that a softmax loses. The fields are z = w x / sqrt(D), and alpha = N/D is
      samples over dimension.)");
  d.fields = model_fields<Generate>();
  d.fields.add("dim", &Generate::dim, {.min = 2, .max = 1e7}, "Dimension D of a token.")
      .add("samples", &Generate::samples, {.min = 1, .max = max_samples}, "Number of samples N.")
      .add("alpha", &Generate::alpha, {.min = 0.0, .max = 1e6, .open_min = true},
           "Samples over dimension, N/D, instead of `samples`.");
  d.rows = {{"", generate_columns().list()}};
  d.needs_folder = true;
  d.method = 3;
  d.examples = {"smi generate --dim 500 --alpha 1.2 --out data",
                "smi generate --link square --dim 200 --samples 400 --out retrieval",
                "smi generate --link 'max(z1,z2)' --dim 200 --samples 400 --out maxima"};
  d.settle = settle_generate;
  d.cost = generate_cost;
  d.run = run_generate;
  return d.verb();
}

}  // namespace onset::smi
