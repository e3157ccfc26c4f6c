#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/verbs/text_files.hpp"
#include "smi/verbs/text_program.hpp"
#include "smi/verbs/text_tables.hpp"

namespace onset::smi {
namespace {

struct SettledText {
  TextFiles files;
  TextOptions options;
};

TextOptions training_options(const Text& request) {
  return {.embedding = request.embedding,
          .layers = request.layers,
          .width = request.width,
          .skip = request.skip,
          .weight_scale = request.weight_scale,
          .embedding_scale = request.embedding_scale,
          .rate = request.rate,
          .decay = request.decay,
          .batch = request.batch,
          .epochs = request.epochs,
          .record_every = request.record,
          .runs = request.runs,
          .seed = request.seed};
}

SettledText settle_text(Text& request) {
  SettledText settled{read_text_files(request), training_options(request)};
  const std::string& found = settled.files.fingerprint;
  if (request.fingerprint.value_or(found) != found) {
    throw InvalidArgument("fingerprint", prose(R"(
    these files have {}, not {}; allowed: the files that the number was made from)",
                                               found, *request.fingerprint));
  }
  request.fingerprint = found;
  return settled;
}

/// One sentence for what makes the answer less than what was asked for.
void judge(const TextOutcome& outcome, double tolerance, const Estimate& accuracy, Result& result) {
  const std::vector<TextRun>& runs = outcome.runs;
  const auto diverged = std::find_if(runs.begin(), runs.end(), [](const TextRun& run) {
    return run.end == TextRun::End::diverged;
  });
  if (!outcome.failure.empty()) result.unconverged("the training program " + outcome.failure);
  if (diverged != runs.end()) {
    result.unconverged(fmt::format(
        "run {} diverged: its loss grew beyond twice that of its start; a smaller `rate` may help",
        diverged - runs.begin() + 1));
  }
  if (tolerance > 0.0 && !(accuracy.error <= tolerance)) {
    result.unconverged(prose(R"(
        the mean accuracy has an error of {:.2g}, more than the asked {}; more `runs` make it
        smaller)",
                             accuracy.error, tolerance));
  }
}

void run_text(const Text& request, const SettledText& settled, const Context& context,
              Result& result) {
  const auto& [files, options] = settled;
  const int threads = static_cast<int>(std::min<std::int64_t>(context.threads, options.runs));
  const TextOutcome outcome = run_text_program({threads, options, files.corpus}, context);
  const auto questions = static_cast<std::int64_t>(files.corpus.test.size());
  const std::vector<LayerTiming> layers =
      learning_order(outcome.runs, {request.level, request.level_of == LevelOf::way});
  result.table =
      request.order ? order_table(layers) : step_table(outcome.runs, options.layers, questions);
  result.summary = text_summary(outcome.runs, layers, questions);
  result.summary.emplace_back("classes", files.corpus.classes);
  result.summary.emplace_back("words", files.corpus.words);
  judge(outcome, request.tol, mean_accuracy(outcome.runs, questions), result);
  if (outcome.interrupted) result.status = ResultStatus::interrupted;
}

/// Numbers of one batch, and of what training keeps; for estimates.
struct Sizes {
  double runs_at_once;
  double parameters;
  double activations;  ///< of the larger of a training and a test batch
  double trajectory;
  double steps;
  double records;
};

Sizes sizes_of(const SettledText& settled) {
  const TextCorpus& corpus = settled.files.corpus;
  const TextOptions& o = settled.options;
  const auto real = [](auto x) { return static_cast<double>(x); };
  constexpr double test_batch = 64.0;
  const double tokens = real(settled.files.longest);
  Sizes s{};
  s.runs_at_once = std::min(real(o.runs), real(available_threads()));
  s.parameters = real(o.embedding) * real(corpus.words + corpus.classes) +
                 real(o.layers) * real(o.width) * real(o.embedding);
  s.activations = std::max(test_batch, real(o.batch)) * tokens * real(o.layers) *
                  (3.0 * real(o.embedding) + 2.0 * real(o.width) + 4.0 * tokens);
  s.steps = real(total_steps(o, corpus.train.size()));
  s.records = 2.0 + s.steps / real(o.record_every);
  s.trajectory = s.records * real(o.layers) * real(o.width) * real(o.embedding);
  return s;
}

Cost text_cost(const Text& request, const SettledText& settled) {
  const Sizes s = sizes_of(settled);
  const double runs = static_cast<double>(request.runs);
  // Measured at the default size on one core.
  constexpr double start_seconds = 1.0;
  constexpr double seconds_per_parameter = 2.5e-9;
  constexpr double seconds_per_activation = 2e-10;
  constexpr double seconds_per_record = 2e-2;
  constexpr double library_bytes = 300e6;
  Cost cost;
  cost.method = prose(R"(
      A transformer of attention layers with tied weights is trained on the questions of `train`
      by AdamW, in a program of its own (onset-text, with LibTorch), one thread for each run.
      The weights at every recorded step are kept until the run ends, and compared with the
      final ones then.)");
  cost.core_seconds =
      start_seconds + runs * (s.steps * (1e-3 + seconds_per_parameter * s.parameters +
                                         seconds_per_activation * s.activations) +
                              seconds_per_record * s.records);
  // Float: parameters with gradients, two moments and drafts; activations with gradients.
  cost.memory_bytes = library_bytes + s.runs_at_once * sizeof(float) *
                                          (8.0 * s.parameters + 2.0 * s.activations + s.trajectory);
  return cost;
}

Fields<Text> text_fields() {
  constexpr double many = 1e6;
  Fields<Text> fields;
  fields
      .add("train", &Text::train, {.required = true},
           "File of questions to learn from: lines 'COARSE:fine text'.")
      .add("test", &Text::test, {.required = true}, "File of questions to be tested on.")
      .add_word("labels", &Text::labels, {TextLabels::coarse, TextLabels::fine},
                "Which part of a label is the class.")
      .add("min-count", &Text::min_count, {.min = 1, .max = many},
           "Words that occur less often in the training file count as unknown.")
      .add("embedding", &Text::embedding, {.min = 1, .max = many}, "Dimension of a word.")
      .add("layers", &Text::layers, {.min = 1, .max = 100}, "Attention layers.")
      .add("width", &Text::width, {.min = 1, .max = many},
           "Rows of the weights of each layer; scores are divided by its square root.")
      .add("skip", &Text::skip, {.min = 0.0, .max = 1000.0}, "Strength c of the skip connections.")
      .add("weight-scale", &Text::weight_scale, {.min = 0.0, .max = 1000.0, .open_min = true},
           "Initial standard deviation of the attention weights.")
      .add("embedding-scale", &Text::embedding_scale, {.min = 0.0, .max = 1000.0},
           "Initial standard deviation of the embedding.")
      .add("rate", &Text::rate, {.min = 0.0, .max = many, .open_min = true},
           "Learning rate of AdamW.")
      .add("decay", &Text::decay, {.min = 0.0, .max = 1000.0}, "Weight decay of AdamW.")
      .add("batch", &Text::batch, {.min = 1, .max = many}, "Questions in a step.")
      .add("epochs", &Text::epochs, {.min = 1, .max = many}, "Passes over the training questions.")
      .add("runs", &Text::runs, {.min = 1, .max = 10'000},
           "Runs, each with initial weights and an order of its own.")
      .add("record", &Text::record, {.min = 1, .max = 1e9}, "Steps between rows.")
      .add("level", &Text::level, {.min = 0.0, .max = 1.0, .open_min = true},
           "Level at which a layer counts as learned.")
      .add_word("level-of", &Text::level_of, {LevelOf::way, LevelOf::similarity}, prose(R"(
          way: the level is a share of the way from the first similarity of a layer to 1;
          similarity: it is the similarity itself.)"))
      .add("order", &Text::order, {},
           "Rows are layers instead: when each is learned, and how often it is the first.")
      .add("fingerprint", &Text::fingerprint, {},
           "Fingerprint of both files: filled in when not given; when given, the files must match "
           "it.");
  return fields;
}

}  // namespace

std::string_view to_string(TextLabels labels) {
  return labels == TextLabels::coarse ? "coarse" : "fine";
}

std::string_view to_string(LevelOf of) {
  return of == LevelOf::way ? "way" : "similarity";
}

VerbOf<Text> Text::verb() {
  Definition<Text, SettledText> d;
  d.family = "smi";
  d.name = "text";
  d.summary = "a transformer trained on questions: which layer is learned first";
  d.details = prose(R"(
      Trains attention layers with tied weights between a word embedding and a linear readout of
      the mean token, and compares the weights of each layer at every recorded step with those
      that the run ends with: similarity tr(G_t G_end) / (|G_t| |G_end|) of Gram matrices G =
      w^T w. Files are in the format of the TREC question classification data, Latin-1; the
      documentation says where to get it. There is no sample ratio alpha here. Needs the program
      onset-text, which is built where LibTorch is found.)");
  d.fields = text_fields();
  d.rows = {{"", text_step_columns(2).list()}, {"with `order`", text_layer_columns().list()}};
  d.primary = "accuracy";
  d.method = 2;
  d.examples = {"smi text --train train_5500.label --test TREC_10.label",
                "smi text --train train_5500.label --test TREC_10.label --layers 3 --order"};
  d.settle = settle_text;
  d.cost = text_cost;
  d.run = run_text;
  return d.verb();
}

}  // namespace onset::smi
