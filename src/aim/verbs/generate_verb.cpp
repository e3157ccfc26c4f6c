#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/model/channel.hpp"
#include "aim/verbs/data_folder.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "io/arrays.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct FileRow {
  std::string file;
  std::string shape;
};

Columns<FileRow> file_columns() {
  return Columns<FileRow>()
      .add("file", &FileRow::file, "what was written into the folder")
      .add("shape", &FileRow::shape, "shape of the array");
}

/// The model at its size.
AttentionIndexed settle_generate(Generate& request) {
  return at_size(settle_model(request), static_cast<std::size_t>(request.dim));
}

/// Probabilities below the smallest normal number keep their scores in logY.npy alone.
void add_underflow(const AttentionIndexed& model, const Dataset& data, Result& result) {
  if (model.channel->numbers() != LabelNumbers::logarithms) return;
  const double smallest = std::log(std::numeric_limits<double>::min());
  const auto lost = std::count_if(data.labels.begin(), data.labels.end(),
                                  [&](double log_y) { return log_y < smallest; });
  if (lost == 0) return;
  result.notes.push_back(prose(R"(
      {} probabilities in Y.npy are too small for a number and were rounded to it; logY.npy has
      their logarithms, which 'aim amp' reads.)",
                               lost));
}

void run_generate(const Generate& request, const AttentionIndexed& model, const Context& context,
                  Result& result) {
  const auto columns = file_columns();
  result.table = columns.table();
  const auto dim = static_cast<std::size_t>(request.dim);
  Teacher teacher = sample_teacher(model, dim, request.seed, 0, context);
  Dataset data =
      sample_data(model, teacher, samples_of(request.alpha, dim), {.seed = request.seed}, context);
  add_sizes(request.rho, model, dim, {request.alpha}, result);
  add_underflow(model, data, result);
  result.artifacts = data_files(model, std::move(data), std::move(teacher), context);
  for (const Artifact& file : result.artifacts) {
    result.table.add_row(columns.cells(
        {.file = file.path, .shape = io::shape_text(std::get<Array>(file.content).shape)}));
  }
}

Cost generate_cost(const Generate& request, const AttentionIndexed& model) {
  const double d = request.dim;
  const double samples = max_samples({request.alpha}, d);
  const double width = model.rho * d;
  const double entries = samples * request.tokens * d;
  constexpr double writing_seconds = 2.5e-8;  // of an entry of W
  return {prose(R"(
      Standard normal weights and tokens from counter-based streams; scores by one matrix
      product.)"),
          1e-8 * entries + entries * d * 1e-10 + teacher_seconds(d, width) +
              writing_seconds * d * width,
          8.0 * std::max(entries, d * width) + data_bytes(samples, request.tokens, d, width)};
}

std::string details() {
  std::string labels;
  for (const Channel* channel : channels()) {
    labels +=
        fmt::format("{} {}: {}", labels.empty() ? "" : ";", channel->name(), channel->stored());
  }
  return "Writes X.npy (n x T x d tokens), Y.npy (labels;" + labels +
         "), truth/S.npy and truth/W.npy into the folder `out`. There are n = alpha d^2 samples.";
}

}  // namespace

VerbOf<Generate> Generate::verb() {
  Definition<Generate, AttentionIndexed> d;
  d.family = "aim";
  d.name = "generate";
  d.summary = "a data set of the attention-indexed model, for aim amp and for programs of your own";
  d.details = details();
  d.fields = model_fields<Generate>();
  d.fields.add("dim", &Generate::dim, dim_rule, dim_text)
      .add("alpha", &Generate::alpha, {.min = 0.0, .max = max_alpha, .open_min = true},
           "Sample ratio n/d^2 (samples over dimension squared).");
  d.rows = {{"", file_columns().list()}};
  d.needs_folder = true;
  d.method = 3;
  d.examples = {
      "aim generate --channel softmax --dim 100 --alpha 0.1 --out data",
      "aim generate --channel hardmax --tokens 2 --dim 50 --alpha 1 --rho 0.2 --out data"};
  d.settle = settle_generate;
  d.cost = generate_cost;
  d.run = run_generate;
  return d.verb();
}

}  // namespace onset::aim
