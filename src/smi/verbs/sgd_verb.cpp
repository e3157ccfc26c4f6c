#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi.hpp"
#include "smi/learners/sgd.hpp"
#include "smi/model/dataset.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/passage_table.hpp"

namespace onset::smi {
namespace {

/// Random fields behind each right-hand side of the limit equation, per replicate: to begin with,
/// and at most, where --tol asks for more.
constexpr std::size_t flow_points = 512;
constexpr std::size_t max_flow_points = 64 * flow_points;

/// What depends on the engine: the experiment of figure 2 for batches, one sample per step in one
/// pass.
struct Defaults {
  std::int64_t dim, batch;
  double rate, decay, time;
};
constexpr Defaults batch_defaults{500, 200, 15.0, 0.07, 1700.0};
constexpr Defaults pass_defaults{1000, 1, 0.3, 0.0, 300.0};
constexpr double default_alpha = 15.0;
constexpr int default_reuse = 3;

void fill_defaults(Sgd& request) {
  const bool batch = request.engine == SgdEngine::batch;
  const Defaults& usual = batch ? batch_defaults : pass_defaults;
  request.dim = request.dim.value_or(usual.dim);
  request.batch = request.batch.value_or(usual.batch);
  request.rate = request.rate.value_or(usual.rate);
  request.decay = request.decay.value_or(usual.decay);
  request.time = request.time.value_or(usual.time);
  if (!batch) return;
  request.alpha = request.alpha.value_or(default_alpha);
  request.reuse = request.reuse.value_or(default_reuse);
}

/// How far a step brings the time: a batch of an epoch, or of samples over dimension; 0 for the
/// flow, which has none.
double step_time(const Sgd& request) {
  const auto dim = static_cast<double>(*request.dim);
  const auto batch = static_cast<double>(*request.batch);
  switch (request.engine) {
    case SgdEngine::batch: return 1.0 / std::ceil(std::llround(*request.alpha * dim) / batch);
    case SgdEngine::online:
    case SgdEngine::chain: return batch / dim;
    case SgdEngine::flow: break;
  }
  return 0.0;
}

/// Three digits that are not below the number.
double rounded_up(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 2.0);
  return std::ceil(x / unit * (1.0 - 1e-12)) * unit;
}

/// What does not go together with the engine.
void check_engine(const Sgd& request, std::size_t directions) {
  const SgdEngine engine = request.engine;
  const auto least = static_cast<std::int64_t>(3 * directions);
  if (engine != SgdEngine::batch && (request.alpha || request.reuse)) {
    throw InvalidArgument(request.alpha ? "alpha" : "reuse", prose(R"(
          belongs to `engine = batch`, which reuses samples; allowed: leaving it out)"));
  }
  if (engine == SgdEngine::batch &&
      std::llround(*request.alpha * static_cast<double>(*request.dim)) < 1) {
    throw InvalidArgument("alpha", to_text(Value(*request.alpha)) +
                                       " means no sample; allowed: at least one, 1/D or more");
  }
  const double step = step_time(request);
  if (*request.time < step) {
    throw InvalidArgument("time",
                          prose(R"(
        {} is shorter than a step of the `batch`, which takes {}; allowed: that and more)",
                                to_text(Value(*request.time)), to_text(Value(rounded_up(step)))));
  }
  if (engine == SgdEngine::chain && *request.dim < least) {
    throw InvalidArgument("dim", prose(R"(
        {} is too small for the chain; allowed: at least {}, 3 for every direction)",
                                       *request.dim, least));
  }
  if (engine == SgdEngine::flow && directions > static_cast<std::size_t>(max_flow_layers)) {
    throw InvalidArgument("layers", prose(R"(
        of {} directions are too many for the limit of large dimension; allowed: up to {})",
                                          directions, max_flow_layers));
  }
  if (engine == SgdEngine::flow && request.runs > 1) {
    throw InvalidArgument("runs", prose(R"(
        {} make no sense for the limit of large dimension, which is not random; allowed: 1)",
                                        request.runs));
  }
  if (engine != SgdEngine::flow && request.level == 0.0 && request.tol > 0.0) {
    throw InvalidArgument("tol", prose(R"(
          has no meaning for the records of single runs, which have no error; allowed: with
          `level` or `engine = flow`)"));
  }
}

struct SettledSgd {
  SgdModel model;
  SgdOptions options;
};

/// The fields that describe attention, which may have any rank here.
Fields<Sgd> sgd_model_fields() {
  Fields<Sgd> fields = attention_fields<Sgd>();
  return fields
      .add("rank", &Sgd::rank, {.min = 1, .max = max_rank},
           "Directions of each layer: one number for all, or one each.")
      .add("token-correlation", &Sgd::token_correlation, {}, correlation_text);
}

/// The typed link that is meant, that of a named link included, with its noise. Attention's own
/// fields must be left as they are.
SgdModel linked_model(const Sgd& request) {
  const std::string expression = link_expression(request.link);
  if (expression.empty()) {
    throw Refused(prose(R"(
        the link {} has several outputs, for which gradients are not offered; allowed: attention of one
        layer as `layers = 1`)",
                        request.link));
  }
  const Parameters given = sgd_model_fields().write(request);
  const Parameters usual = sgd_model_fields().write(Sgd{});
  for (const auto& [name, value] : given.values()) {
    if (value == usual.values().at(name)) continue;
    throw InvalidArgument(field_name(name), prose(R"(
        describes deep attention and has no meaning with `link`; allowed: leaving it out)"));
  }
  return SgdModel(expression, request.noise);
}

SgdModel sgd_model(const Sgd& request) {
  if (request.link != "none") return linked_model(request);
  if (request.noise > 0.0) {
    throw InvalidArgument("noise", prose(R"(
        is that of a `link` here: gradients of deep attention are offered without noise, which
        belongs to the fields of its last layer and not to its labels; allowed: 0, or a `link`)"));
  }
  DeepAttention attention{.layers = request.layers,
                          .tokens = request.tokens,
                          .skip = request.skip,
                          .beta = request.beta,
                          .rank = request.rank};
  attention.token_covariance = token_covariance(request.token_correlation, attention.tokens);
  check_options(attention);
  return {attention};
}

SettledSgd settle_sgd(Sgd& request) {
  fill_defaults(request);
  request.token_correlation = read_correlation(request.token_correlation);
  const SgdModel model = sgd_model(request);
  check_engine(request, model.shape().directions());
  SgdOptions options;
  options.dimension = static_cast<std::size_t>(*request.dim);
  options.batch = static_cast<std::size_t>(*request.batch);
  options.rate = *request.rate;
  options.decay = *request.decay;
  options.init = request.init;
  options.start_cosine = request.start_cosine;
  options.time = *request.time;
  options.records = static_cast<std::size_t>(request.records);
  if (request.alpha) options.alpha = *request.alpha;
  if (request.reuse) options.reuse = *request.reuse;
  options.seed = request.seed;
  return {model, options};
}

struct SgdRow {
  std::size_t run = 0;
  double time = 0.0;
  std::vector<Estimate> cosine;
};

/// What time counts: the axis of a figure has room for one of the two.
const char* time_meaning(SgdEngine engine) {
  return engine == SgdEngine::batch ? "epochs" : "samples over dimension";
}

Columns<SgdRow> sgd_columns(std::size_t layers, const char* time) {
  std::vector<Column> cosines;
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::string n = std::to_string(l);
    cosines.push_back({"cos" + n, "cosine of layer " + n + " with the teacher's", ""});
  }
  return Columns<SgdRow>()
      .add("run", &SgdRow::run, "number of the run; 0 is the limit of large dimension")
      .add("time", &SgdRow::time, time)
      .add_each(cosines, &SgdRow::cosine);
}

/// All runs side by side; those that were begun when the user stopped them, as far as they came.
std::vector<SgdRun> run_all(const SgdModel& model, const SgdOptions& options, SgdEngine engine,
                            std::size_t runs, const Context& context) {
  const auto solve = engine == SgdEngine::batch    ? sgd_batch
                     : engine == SgdEngine::online ? sgd_online
                                                   : sgd_chain;
  std::vector<SgdRun> out;
  Context quiet = context;
  quiet.progress = nullptr;
  const auto together = static_cast<std::size_t>(std::max(1, context.threads));
  while (out.size() < runs && !context.stop.stop_requested()) {
    const std::size_t first = out.size();
    context.report(static_cast<double>(first) / static_cast<double>(runs),
                   "run " + std::to_string(first + 1));
    std::vector<SgdRun> begun(std::min(together, runs - first));
    Context all = quiet;
    all.stop = {};  // every run looks at the stop itself, and keeps its records
    numerics::parallel_for(all, begun.size(), [&](std::size_t k) {
      begun[k] = solve(model, options, first + k, quiet);
    });
    std::move(begun.begin(), begun.end(), std::back_inserter(out));
  }
  return out;
}

/// The records of a run, of which there is one only: its scatter is not known.
std::vector<SgdRow> rows_of(std::size_t number, const SgdRun& run) {
  std::vector<SgdRow> rows;
  for (const SgdRecord& record : run.records) {
    rows.push_back({.run = number, .time = record.time, .cosine = {}});
    for (const double cosine : record.cosine) {
      rows.back().cosine.push_back({cosine, std::numeric_limits<double>::quiet_NaN()});
    }
  }
  return rows;
}

std::vector<SgdRow> rows_of(const SgdFlow& flow) {
  std::vector<SgdRow> rows;
  for (const SgdFlowPoint& point : flow.points) {
    rows.push_back({.run = 0, .time = point.time, .cosine = point.cosine});
  }
  return rows;
}

void mark_interrupted(Result& result) {
  result.status = ResultStatus::interrupted;
  result.reason = "stopped on request; the records finished by then are given";
}

/// A cosine of random weights with the teacher is normal with standard deviation 1/sqrt(D); beyond
/// this many of them it is a chance of 6e-7.
constexpr double chance_deviations = 5.0;

/// How far chance moves a cosine from where it was planted.
double chance_cosine(const Sgd& request) {
  return chance_deviations / std::sqrt(static_cast<double>(*request.dim));
}

/// Whether cosines are what chance makes of those at the start, and nothing was learned.
bool are_chance(const Sgd& request, const std::vector<double>& cosines) {
  return std::all_of(cosines.begin(), cosines.end(),
                     [&](double x) { return x <= request.start_cosine + chance_cosine(request); });
}

double level_of(const Sgd& request) {
  return request.level > 0.0 ? request.level : default_level;
}

/// Layers that nobody learned must not be taken for learned ones. `last` has the cosines of all
/// runs at their ends.
void say_unlearned(const Sgd& request, const SgdModel& model,
                   const std::vector<PassageRow>& passages, const std::vector<double>& last,
                   Result& result) {
  std::vector<std::size_t> layers;
  for (std::size_t l = 0; l < passages.size(); ++l) {
    if (!passages[l].time) layers.push_back(l);
  }
  if (layers.empty() || result.status != ResultStatus::ok) return;
  const bool all = layers.size() == passages.size();
  const auto leave_out = [&](const std::vector<std::size_t>& which, const char* why) {
    if (which.empty()) return;
    const std::string directions =
        (which.size() == 1 ? "direction " : "directions ") + names(which);
    result.notes.push_back(
        fmt::format("The labels {} {}: no gradient moves {} weights, at any "
                    "`time` or `rate`.",
                    why, directions, which.size() == 1 ? "its" : "their"));
    std::erase_if(layers, [&](std::size_t l) {
      return std::find(which.begin(), which.end(), l) != which.end();
    });
  };
  leave_out(model.directions_not_named(), "do not depend on");
  leave_out(model.directions_of_noise(), "without noise do not depend on");
  leave_out(model.directions_without_gradient(), "change by jumps alone with");
  if (layers.empty()) return;
  const bool none = all && !last.empty();
  if (none && chance_cosine(request) < 1.0 && are_chance(request, last)) {
    result.notes.push_back(prose(R"(
        Nothing was learned up to the time {}: no cosine is further from its start than {:.2g}, five
        times the 1/sqrt(D) that random weights have. A longer `time`, another `rate` or a `start_cosine`
        may learn more.)",
                                 to_text(Value(*request.time)), chance_cosine(request)));
    return;
  }
  const std::string one = request.link == "none" ? "Layer" : "Direction";
  result.notes.push_back(one + (layers.size() == 1 ? " " : "s ") + names(layers) +
                         " stayed below the cosine " + to_text(Value(level_of(request))) +
                         " up to the time " + to_text(Value(*request.time)) +
                         (request.runs > 1 ? " in all runs" : "") +
                         "; a longer `time` or another `rate` may learn more.");
}

void solve_flow(const Sgd& request, const SettledSgd& settled, std::size_t points,
                const Context& context, Result& result) {
  const std::size_t layers = settled.model.shape().blocks();
  const SgdFlow flow = sgd_flow(settled.model, settled.options, points, context);
  const auto passages = flow_passages(flow, layers, level_of(request));
  result = {};
  result.table = request.level > 0.0
                     ? passage_columns().table(passages)
                     : sgd_columns(layers, time_meaning(SgdEngine::flow)).table(rows_of(flow));
  if (flow.unresolved) {
    result.unconverged(prose(R"(
        the equation cannot be followed in a reasonable number of steps: the learning rate may
        be too large)"));
  }
  if (flow.diverged) {
    result.unconverged("the weights grow without bound: the learning rate is too large");
  }
  if (flow.interrupted) mark_interrupted(result);
  std::vector<double> last;
  if (!flow.points.empty()) {
    for (const Estimate& cosine : flow.points.back().cosine) last.push_back(cosine.value);
  }
  say_unlearned(request, settled.model, passages, last, result);
}

void judge(const Sgd& request, std::size_t layers, const char* remedy, Result& result) {
  if (request.level > 0.0) return judge_tolerance(request.tol, "time", remedy, result);
  for (std::size_t l = 1; l <= layers; ++l) {
    judge_tolerance(request.tol, "cos" + std::to_string(l), remedy, result);
  }
}

/// With more points until --tol is met.
void run_flow(const Sgd& request, const SettledSgd& settled, const Context& context,
              Result& result) {
  for (std::size_t points = flow_points;; points *= 4) {
    solve_flow(request, settled, points, context, result);
    if (result.status != ResultStatus::ok) return;
    judge(request, settled.model.shape().blocks(), "it has as many points as are allowed", result);
    if (result.status == ResultStatus::ok || points == max_flow_points) return;
  }
}

/// Most runs diverged: no result. A few: data.
void report_divergence(std::int64_t diverged, std::size_t runs, Result& result) {
  if (diverged == 0) return;
  const std::string said = std::to_string(diverged) + " of " + std::to_string(runs) +
                           " runs diverged: the learning rate is too large";
  if (2 * diverged > static_cast<std::int64_t>(runs)) {
    result.unconverged(said);
  } else {
    result.notes.push_back(said + " for them.");
  }
}

void run_engine(const Sgd& request, const SettledSgd& settled, const Context& context,
                Result& result) {
  const std::size_t layers = settled.model.shape().blocks();
  const std::vector<SgdRun> runs = run_all(settled.model, settled.options, request.engine,
                                           static_cast<std::size_t>(request.runs), context);
  const auto columns = sgd_columns(layers, time_meaning(request.engine));
  result.table = columns.table();
  std::vector<SgdRun> finished;
  std::vector<double> losses, noisy_losses, last;
  std::int64_t diverged = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const SgdRow& row : rows_of(r + 1, runs[r])) result.table.add_row(columns.cells(row));
    diverged += runs[r].diverged ? 1 : 0;
    if (runs[r].interrupted) continue;
    finished.push_back(runs[r]);
    if (runs[r].diverged) continue;
    const SgdRecord& end = runs[r].records.back();
    losses.push_back(end.loss);
    noisy_losses.push_back(end.noisy_loss);
    last.insert(last.end(), end.cosine.begin(), end.cosine.end());
  }
  const Passages passages(finished, layers, level_of(request));
  if (request.level > 0.0) result.table = passage_columns().table(passages.rows());
  result.summary = passages.summary();
  result.summary.emplace_back("diverged", diverged);
  if (!losses.empty()) result.summary.emplace_back("loss", numerics::mean_over_runs(losses));
  if (!losses.empty() && settled.model.noise_size() > 0) {
    result.summary.emplace_back("noisy_loss", numerics::mean_over_runs(noisy_losses));
  }
  if (passages.differ()) {
    result.notes.emplace_back(
        "loss is a mean over runs of different kinds: with --level, reached says how many brought "
        "each layer to the level.");
  }
  report_divergence(diverged, finished.size(), result);
  if (context.stop.stop_requested()) mark_interrupted(result);
  say_unlearned(request, settled.model, passages.rows(), last, result);
  judge(request, layers, "more `runs` would help", result);
}

void run_sgd(const Sgd& request, const SettledSgd& settled, const Context& context,
             Result& result) {
  const bool flow = request.engine == SgdEngine::flow;
  (flow ? run_flow : run_engine)(request, settled, context, result);
}

Cost sgd_cost(const Sgd& request, const SettledSgd& settled) {
  const SgdModel& model = settled.model;
  const SgdOptions& o = settled.options;
  const double dim = static_cast<double>(o.dimension);
  const double layers = static_cast<double>(model.shape().directions());
  const double tokens = model.shape().tokens;
  const double runs = static_cast<double>(request.runs);
  // Seconds per sample of the network and per product with a number of the inputs, measured.
  const double network = model.seconds();
  const double products = 6e-10 * tokens * dim * layers;
  // Runs at the same time: --threads is not known here, but no machine gains by more than it has.
  const double held = std::min(runs, static_cast<double>(available_threads()));
  const double kept = runs * static_cast<double>(o.records) * (layers + 3.0) * 4.0 * sizeof(double);
  Cost cost;
  if (request.engine == SgdEngine::batch) {
    cost.method = prose(R"(
        Stochastic gradient descent of all layers together over alpha D samples in fixed order,
        in full dimension, `reuse` steps on each batch; gradients by reverse differentiation
        through the map between fields.)");
    cost.core_seconds = runs * o.time * o.reuse * o.alpha * dim * (network + products);
    cost.memory_bytes = 1e7 + kept + held * dataset_bytes(model.shape(), dim, o.alpha * dim);
    return cost;
  }
  const double samples = o.time * dim;
  if (request.engine == SgdEngine::online) {
    cost.method = "One pass over fresh samples in full dimension.";
    cost.core_seconds = runs * samples * (2.0 * network + products + 4e-9 * tokens * dim);
    cost.memory_bytes = 1e7 + kept + held * sizeof(double) * dim * (256.0 * tokens + 4.0 * layers);
  } else if (request.engine == SgdEngine::chain) {
    cost.method = prose(R"(
        One pass over fresh samples, simulated exactly in law through the overlaps of student
        and teacher and a Wishart residual; the cost of a step does not depend on the dimension.)");
    cost.core_seconds = runs * samples * (2.0 * network + 3e-8 * layers * tokens + 1e-7);
    cost.memory_bytes = 1e7 + kept;
  } else {
    cost.method = prose(R"(
        The ordinary differential equation that overlaps follow in one pass as the dimension
        grows, by adaptive Runge-Kutta steps; its expectations by scrambled Sobol points, 16
        replicates. With `tol` the points are raised fourfold until it is met, three times at
        most; the estimate is of the first attempt.)");
    // At least one step for every record, and about one in the time of a learning rate.
    const double steps = static_cast<double>(o.records) + 100.0 + o.time * o.rate;
    // Noise is used with both of its signs.
    const double copies =
        static_cast<double>(model.signs().size()) * (model.noise_size() > 0 ? 2.0 : 1.0);
    cost.core_seconds = 17.0 * 6.0 * steps * flow_points * copies * 0.75 * network;
    cost.memory_bytes = 1e8;
  }
  return cost;
}

Fields<Sgd> sgd_fields() {
  using enum SgdEngine;
  Fields<Sgd> fields = sgd_model_fields();
  fields.add("link", &Sgd::link, {.words = link_words()}, "A link by name, or an expression.");
  take_expressions(fields.edit("link"));
  return fields
      .add("noise", &Sgd::noise, {.min = 0.0, .max = max_noise}, prose(R"(
          Standard deviation of Gaussian noise that is added to every output of a link, once for
          every sample. Students predict without noise.)"))
      .add_word("engine", &Sgd::engine, {batch, online, chain, flow}, prose(R"(
          batch: epochs over given samples; online: one pass in full dimension; chain: one pass,
          exact in law at a cost that does not depend on the dimension; flow: the limit of large
          dimension.)"))
      .add("dim", &Sgd::dim, {.min = 2, .max = 1e12},
           "Dimension D; 500 (batch) or 1000 unless given.")
      .add("alpha", &Sgd::alpha, {.min = 1e-6, .max = 1e6},
           "Samples over dimension N/D of the training set (batch only; 15 unless given).")
      .add("batch", &Sgd::batch, {.min = 1, .max = 1e9},
           "Samples in a step; 200 (batch) or 1 unless given.")
      .add("reuse", &Sgd::reuse, {.min = 1, .max = 1e6},
           "Consecutive steps on each batch (batch only; 3 unless given).")
      .add("rate", &Sgd::rate, {.min = 1e-12, .max = 1e12}, prose(R"(
          Learning rate: of the loss summed over the batch and divided by D (batch; 15 unless
          given), or of its mean over the batch (0.3).)"))
      .add("decay", &Sgd::decay, {.min = 0.0, .max = 1e9},
           "Weight decay times D; 0.07 (batch) or 0 unless given.")
      .add("init", &Sgd::init, {.min = 1e-9, .max = 1e3},
           "Standard deviation of the student's weights at the start.")
      .add("start-cosine", &Sgd::start_cosine, {.min = 0.0, .max = 1.0}, prose(R"(
          Cosine with the teacher that is planted in every layer, up to the 1/sqrt(D) of random
          weights.)"))
      .add("time", &Sgd::time, {.min = 1e-9, .max = 1e12},
           "Epochs (batch; 1700 unless given), or samples over dimension (300).")
      .add("records", &Sgd::records, {.min = 1, .max = 1e6},
           "Rows of every run, evenly spaced in time, besides the start.")
      .add("runs", &Sgd::runs, {.min = 1, .max = 1e6},
           "Runs, each with a teacher, a student and samples of its own.")
      .add("level", &Sgd::level, {.min = 0.0, .max = 1.0},
           "Rows say when layers first reach this cosine, instead of records.");
}

}  // namespace

std::string_view to_string(SgdEngine engine) {
  switch (engine) {
    case SgdEngine::batch: return "batch";
    case SgdEngine::online: return "online";
    case SgdEngine::chain: return "chain";
    case SgdEngine::flow: return "flow";
  }
  return "";
}

VerbOf<Sgd> Sgd::verb() {
  Definition<Sgd, SettledSgd> d;
  d.family = "smi";
  d.name = "sgd";
  d.summary = "stochastic gradient descent of deep attention or a link: what is learned first";
  d.details = prose(R"(
      A student of the teacher's architecture learns all layers together by stochastic gradient
      descent on the squared distance of attention matrices, or of the labels of a link, whose
      directions then are what layers are here. The rows have the run, the time and
      the cosine of every layer with that of the teacher. `engine = batch` is the experiment of
      figure 2 of arXiv:2502.00901 (alpha = N/D, samples over dimension; time in epochs);
      online, chain and flow make one pass over fresh samples (time in samples over dimension).
      Labels of a link may be noisy, by `noise` or by fields e1, e2, .. in the link: a student
      descends on the squared distance to noisy labels and predicts the link with its noise at 0.
      In the summary, loss compares predictions with labels without noise, noisy_loss with noisy
      ones.
      With `level = X` the rows are layers instead, with the mean time of the first record at
      cosine X, the fraction of runs that reached it, and the fraction of runs in which the
      layer was the first.)");
  d.fields = sgd_fields();
  d.rows = {{"", sgd_columns(2, "epochs (batch), or samples over dimension").list()},
            {"with `level`", passage_columns().list()}};
  d.primary = "cos1";
  d.method = 2;
  d.examples = {"smi sgd --engine batch --time 100 --records 50",
                "smi sgd --engine chain --dim 10000 --runs 8 --level 0.5",
                "smi sgd --engine flow --dim 10000 --skip 2",
                "smi sgd --link 'z1+z1*z2' --engine chain --dim 1000 --rate 0.1 --time 50",
                "smi sgd --link 'z1+z1*z2' --noise 0.5 --engine flow --rate 0.1 --time 50"};
  d.settle = settle_sgd;
  d.cost = sgd_cost;
  d.run = run_sgd;
  return d.verb();
}

}  // namespace onset::smi
