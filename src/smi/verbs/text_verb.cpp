#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/smi_verbs.hpp"
#include "smi/verbs/text_files.hpp"
#include "smi/verbs/text_program.hpp"
#include "smi/verbs/text_tables.hpp"

namespace onset::smi {
namespace {

TextOptions read_options(const Parameters& p) {
  TextOptions options;
  options.embedding = p.integer("embedding");
  options.layers = p.integer("layers");
  options.width = p.integer("width");
  options.skip = p.real("skip");
  options.weight_scale = p.real("weight-scale");
  options.embedding_scale = p.real("embedding-scale");
  options.rate = p.real("rate");
  options.decay = p.real("decay");
  options.batch = p.integer("batch");
  options.epochs = p.integer("epochs");
  options.record_every = p.integer("record");
  options.runs = p.integer("runs");
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

/// One sentence for each thing that makes the answer less than what was asked for.
void judge(Result& result, const TextOutcome& outcome, double tolerance, Estimate accuracy) {
  const std::vector<TextRun>& runs = outcome.runs;
  const auto diverged = std::find_if(runs.begin(), runs.end(), [](const TextRun& run) {
    return run.end == TextRun::End::diverged;
  });
  if (!outcome.failure.empty()) {
    result.reason = "the training program " + outcome.failure;
  } else if (diverged != runs.end()) {
    result.reason = fmt::format(
        "run {} diverged: its loss grew beyond twice that of its start; a smaller --rate may help",
        diverged - runs.begin() + 1);
  } else if (tolerance > 0.0 && !(accuracy.error <= tolerance)) {
    result.reason = fmt::format(
        "the mean accuracy has an error of {:.2g}, more than the asked {}; "
        "more --runs make it smaller",
        accuracy.error, tolerance);
  }
  if (!result.reason.empty()) result.status = ResultStatus::unconverged;
}

Result run_text(const Parameters& p, const Context& context) {
  const TextFiles files = read_text_files(p);
  const TextOptions options = read_options(p);
  const int threads = static_cast<int>(std::min<std::int64_t>(context.threads, options.runs));
  const TextOutcome outcome = run_text_program({threads, options, files.corpus}, context);
  const auto questions = static_cast<std::int64_t>(files.corpus.test.size());
  const std::vector<LayerTiming> layers =
      learning_order(outcome.runs, {p.real("level"), p.text("level-of") == "way"});
  Result result;
  result.table = p.flag("order") ? order_table(layers)
                                 : trajectory_table(outcome.runs, options.layers, questions);
  result.summary = text_summary(outcome.runs, layers, questions);
  result.summary.emplace_back("classes", files.corpus.classes);
  result.summary.emplace_back("words", files.corpus.words);
  judge(result, outcome, p.real("tol"), mean_accuracy(outcome.runs, questions));
  if (outcome.interrupted) result.status = ResultStatus::interrupted;
  return result;
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

Sizes sizes_of(const Parameters& p) {
  const TextSizes corpus = text_sizes(p);
  const TextOptions o = read_options(p);
  const auto real = [](auto x) { return static_cast<double>(x); };
  constexpr double test_batch = 64.0;
  const double tokens = real(corpus.longest);
  Sizes s{};
  s.runs_at_once = std::min(real(o.runs), real(available_threads()));
  s.parameters = real(o.embedding) * real(corpus.words + corpus.classes) +
                 real(o.layers) * real(o.width) * real(o.embedding);
  s.activations = std::max(test_batch, real(o.batch)) * tokens * real(o.layers) *
                  (3.0 * real(o.embedding) + 2.0 * real(o.width) + 4.0 * tokens);
  s.steps = real(total_steps(o, corpus.train));
  s.records = 2.0 + s.steps / real(o.record_every);
  s.trajectory = s.records * real(o.layers) * real(o.width) * real(o.embedding);
  return s;
}

Cost text_cost(const Parameters& p) {
  const Sizes s = sizes_of(p);
  const double runs = static_cast<double>(p.integer("runs"));
  // Measured at the default size on one core.
  constexpr double start_seconds = 1.0;
  constexpr double seconds_per_parameter = 2.5e-9;
  constexpr double seconds_per_activation = 2e-10;
  constexpr double seconds_per_record = 2e-2;
  constexpr double library_bytes = 300e6;
  Cost cost;
  cost.method =
      "A transformer of attention layers with tied weights is trained on the questions of --train "
      "by AdamW, in a program of its own (onset-text, with LibTorch), one thread for each run. "
      "The weights at every recorded step are kept until the run ends, and compared with the final "
      "ones then.";
  cost.core_seconds =
      start_seconds + runs * (s.steps * (1e-3 + seconds_per_parameter * s.parameters +
                                         seconds_per_activation * s.activations) +
                              seconds_per_record * s.records);
  // Float: parameters with gradients, two moments and drafts; activations with gradients.
  cost.memory_bytes = library_bytes + s.runs_at_once * sizeof(float) *
                                          (8.0 * s.parameters + 2.0 * s.activations + s.trajectory);
  return cost;
}

Parameter file_parameter(std::string name, std::string text) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = ParameterKind::text;
  parameter.required = true;
  parameter.text = std::move(text);
  return parameter;
}

std::vector<Parameter> text_parameters() {
  using enum ParameterKind;
  constexpr double many = 1e6;
  std::vector<Parameter> list{
      file_parameter("train", "File of questions to learn from: lines 'COARSE:fine text'."),
      file_parameter("test", "File of questions to be tested on."),
      make_word("labels", {"coarse", "fine"}, "Which part of a label is the class."),
      make_parameter("min-count", integer, std::int64_t{1}, 1, many,
                     "Words that the training file has less often count as unknown."),
      make_parameter("embedding", integer, std::int64_t{128}, 1, many, "Dimension of a word."),
      make_parameter("layers", integer, std::int64_t{2}, 1, 100, "Attention layers."),
      make_parameter("width", integer, std::int64_t{64}, 1, many,
                     "Rows of each layer's weights; scores are over its square root."),
      make_parameter("skip", real, 1.0, 0.0, 1000.0, "Strength c of the skip connections."),
      make_parameter("weight-scale", real, 0.1, 0.0, 1000.0,
                     "Initial standard deviation of the attention weights."),
      make_parameter("embedding-scale", real, 1.0, 0.0, 1000.0,
                     "Initial standard deviation of the embedding."),
      make_parameter("rate", real, 5e-5, 0.0, many, "Learning rate of AdamW."),
      make_parameter("decay", real, 0.01, 0.0, 1000.0, "Weight decay of AdamW."),
      make_parameter("batch", integer, std::int64_t{16}, 1, many, "Questions of a step."),
      make_parameter("epochs", integer, std::int64_t{40}, 1, many,
                     "Passes over the training questions."),
      make_parameter("runs", integer, std::int64_t{4}, 1, 10'000,
                     "Runs, each with initial weights and an order of its own."),
      make_parameter("record", integer, std::int64_t{100}, 1, 1e9, "Steps between rows."),
      make_parameter("level", real, 0.5, 0.0, 1.0, "Where a layer counts as learned."),
      make_word("level-of", {"way", "similarity"},
                "The level is of the way from a layer's first similarity to 1, or of the "
                "similarity itself."),
      make_parameter("order", flag, false, 0, 1,
                     "One row per layer instead: when it is learned, and whether first."),
      make_parameter("fingerprint", text, {}, 0, 1,
                     "Of both files: filled in by itself; when given, the files must match."),
  };
  for (Parameter& parameter : list) {
    for (const char* positive : {"weight-scale", "rate", "level"}) {
      if (parameter.name == positive) parameter.open_min = true;
    }
  }
  return list;
}

}  // namespace

Verb text_verb() {
  PlainVerb verb;
  verb.family = "smi";
  verb.name = "text";
  verb.summary = "a transformer trained on questions: which layer is learned first";
  verb.details =
      "Trains attention layers with tied weights between a word embedding and a linear readout of "
      "the mean token, and compares the weights of each layer at every recorded step with those "
      "that the run ends with: similarity tr(G_t G_end) / (|G_t| |G_end|) of Gram matrices "
      "G = w^T w. Files are in the format of the TREC question classification data, Latin-1; the "
      "documentation says where to get it. There is no sample ratio alpha here. Needs the program "
      "onset-text, which is built where LibTorch is found.";
  verb.parameters = text_parameters();
  verb.columns = trajectory_columns(2);
  verb.primary = "accuracy";
  verb.read_files = read_fingerprint;
  verb.examples = {"smi text --train train_5500.label --test TREC_10.label",
                   "smi text --train train_5500.label --test TREC_10.label --layers 3 --order"};
  verb.cost = text_cost;
  verb.run = run_text;
  return to_verb(std::move(verb));
}

}  // namespace onset::smi
