#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/parallel.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/learners/sgd.hpp"
#include "onset/smi/model/dataset.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/passage_table.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

/// Random fields behind each right-hand side of the limit equation, per replicate: to begin with,
/// and at most, where --tol asks for more.
constexpr std::size_t flow_points = 512;
constexpr std::size_t most_flow_points = 64 * flow_points;

/// Defaults where nothing is said: the experiment of figure 2 for batches, one sample per step in
/// one pass.
struct Defaults {
  std::int64_t dim, batch;
  double rate, decay, time;
};
constexpr Defaults batch_defaults{500, 200, 15.0, 0.07, 1700.0};
constexpr Defaults pass_defaults{1000, 1, 0.3, 0.0, 300.0};

void fill_defaults(Parameters& p) {
  const bool batch = p.text("engine") == "batch";
  const Defaults& d = batch ? batch_defaults : pass_defaults;
  const auto set = [&p](const char* name, Value value) {
    if (!p.has(name)) p.set(name, std::move(value));
  };
  set("dim", d.dim);
  set("batch", d.batch);
  set("rate", d.rate);
  set("decay", d.decay);
  set("time", d.time);
  for (const auto& [name, value] :
       {std::pair<const char*, Value>{"alpha", 15.0}, {"reuse", std::int64_t{3}}}) {
    if (!batch && p.has(name)) {
      throw InvalidArgument("--" + std::string(name),
                            "is of --engine batch only, where samples are used again; allowed: "
                            "leaving it out");
    }
    set(name, value);
  }
  if (p.text("engine") == "flow" && p.integer("runs") > 1) {
    throw InvalidArgument("--runs", std::to_string(p.integer("runs")) +
                                        " make no sense for the limit of large dimension, which "
                                        "is not random; allowed: 1");
  }
}

DeepAttention read_plain(const Parameters& p) {
  DeepAttention model;
  model.layers = static_cast<int>(p.integer("layers"));
  model.tokens = static_cast<int>(p.integer("tokens"));
  model.skip = p.reals("skip");
  model.beta = p.real("beta");
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
  return model;
}

SgdOptions sgd_options(const Parameters& p) {
  SgdOptions o;
  o.dimension = static_cast<std::size_t>(p.integer("dim"));
  o.batch = static_cast<std::size_t>(p.integer("batch"));
  o.rate = p.real("rate");
  o.decay = p.real("decay");
  o.init = p.real("init");
  o.start_cosine = p.real("start-cosine");
  o.time = p.real("time");
  o.records = static_cast<std::size_t>(p.integer("records"));
  o.alpha = p.real("alpha");
  o.reuse = static_cast<int>(p.integer("reuse"));
  o.seed = static_cast<std::uint64_t>(p.integer("seed"));
  if (p.text("engine") == "batch" && std::llround(o.alpha * static_cast<double>(o.dimension)) < 1) {
    throw InvalidArgument("--alpha", to_text(Value(o.alpha)) +
                                         " means no sample; allowed: at least one, 1/D or more");
  }
  if (p.text("engine") == "chain" && p.integer("dim") < 3 * p.integer("layers")) {
    throw InvalidArgument("--dim", std::to_string(p.integer("dim")) +
                                       " is too small for the chain; allowed: at least " +
                                       std::to_string(3 * p.integer("layers")) +
                                       ", 3 for every layer");
  }
  return o;
}

std::vector<Column> sgd_columns(std::size_t layers) {
  std::vector<Column> columns{
      {"run", "number of the run; 0 is the limit of large dimension", "", false},
      {"time", "epochs (batch), or samples over dimension", "", false}};
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::string n = std::to_string(l);
    columns.push_back({"cos" + n, "cosine of layer " + n + " with the teacher's", "", true});
  }
  return columns;
}

/// All runs side by side; those that were begun when the user stopped them, as far as they came.
std::vector<SgdRun> run_all(const DeepAttention& model, const SgdOptions& options,
                            const std::string& engine, std::size_t runs, const Context& context) {
  const auto solve = engine == "batch" ? sgd_batch : engine == "online" ? sgd_online : sgd_chain;
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

void add_rows(std::size_t number, const SgdRun& run, Table& table) {
  for (const SgdRecord& record : run.records) {
    std::vector<Cell> row{static_cast<std::int64_t>(number), record.time};
    for (const double c : record.cosine) row.emplace_back(Estimate{c, 0.0});
    table.add_row(std::move(row));
  }
}

void mark_interrupted(Result& result) {
  result.status = ResultStatus::interrupted;
  result.reason = "stopped on request; the records up to then are given";
}

Result solve_flow(const DeepAttention& model, const SgdOptions& options, std::size_t points,
                  double level, const Context& context) {
  const auto layers = static_cast<std::size_t>(model.layers);
  const SgdFlow flow = sgd_flow(model, options, points, context);
  Result result;
  result.table = Table(sgd_columns(layers));
  for (const SgdFlowPoint& point : flow.points) {
    std::vector<Cell> row{std::int64_t{0}, point.time};
    for (const Estimate& c : point.cosine) row.emplace_back(c);
    result.table.add_row(std::move(row));
  }
  if (level > 0.0) result.table = flow_passages(flow, layers, level);
  if (flow.diverged) {
    result.status = ResultStatus::unconverged;
    result.reason = "the weights grow without bound: the learning rate is too large";
  }
  if (flow.unresolved) {
    result.status = ResultStatus::unconverged;
    result.reason =
        "the equation cannot be followed in a reasonable number of steps: the learning rate may be "
        "too large";
  }
  if (flow.interrupted) mark_interrupted(result);
  return result;
}

void judge(const Parameters& p, const char* remedy, Result& result) {
  if (p.real("level") > 0.0) return judge_tolerance(p, "time", remedy, result);
  for (std::int64_t l = 1; l <= p.integer("layers"); ++l) {
    judge_tolerance(p, "cos" + std::to_string(l), remedy, result);
  }
}

/// With more points until --tol is met.
Result run_flow(const Parameters& p, const DeepAttention& model, const SgdOptions& options,
                const Context& context) {
  for (std::size_t points = flow_points;; points *= 4) {
    Result result = solve_flow(model, options, points, p.real("level"), context);
    if (result.status != ResultStatus::ok) return result;
    judge(p, "its points are as many as they may be", result);
    if (result.status == ResultStatus::ok || points == most_flow_points) return result;
  }
}

/// Most runs diverged: no result. A few: data.
void report_divergence(std::int64_t diverged, std::size_t runs, Result& result) {
  if (diverged == 0) return;
  const std::string said = std::to_string(diverged) + " of " + std::to_string(runs) +
                           " runs diverged: the learning rate is too large";
  if (2 * diverged > static_cast<std::int64_t>(runs)) {
    result.status = ResultStatus::unconverged;
    result.reason = said;
  } else {
    result.notes.push_back(said + " for them.");
  }
}

Result run_engine(const Parameters& p, const DeepAttention& model, const SgdOptions& options,
                  const Context& context) {
  const auto layers = static_cast<std::size_t>(model.layers);
  const std::vector<SgdRun> runs = run_all(model, options, p.text("engine"),
                                           static_cast<std::size_t>(p.integer("runs")), context);
  Result result;
  Table records(sgd_columns(layers));
  std::vector<SgdRun> finished;
  std::vector<double> losses;
  std::int64_t diverged = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    add_rows(r + 1, runs[r], records);
    diverged += runs[r].diverged ? 1 : 0;
    if (runs[r].interrupted) continue;
    finished.push_back(runs[r]);
    if (!runs[r].diverged) losses.push_back(runs[r].records.back().loss);
  }
  const double level = p.real("level");
  const Passages passages(finished, layers, level > 0.0 ? level : default_level);
  result.table = level > 0.0 ? passages.table() : records;
  result.summary = passages.summary();
  result.summary.emplace_back("diverged", diverged);
  if (losses.size() > 1) result.summary.emplace_back("loss", numerics::reduce(losses));
  report_divergence(diverged, finished.size(), result);
  if (context.stop.stop_requested()) mark_interrupted(result);
  judge(p, "more --runs would help", result);
  return result;
}

Result run_sgd(const Parameters& p, const Context& context) {
  const DeepAttention model = read_plain(p);
  const SgdOptions options = sgd_options(p);
  return p.text("engine") == "flow" ? run_flow(p, model, options, context)
                                    : run_engine(p, model, options, context);
}

Cost sgd_cost(const Parameters& p) {
  const DeepAttention model = read_plain(p);
  const SgdOptions o = sgd_options(p);
  const std::string& engine = p.text("engine");
  const double dim = static_cast<double>(o.dimension);
  const double layers = model.layers, tokens = model.tokens;
  const double runs = static_cast<double>(p.integer("runs"));
  // Seconds per sample of the network and per product with a number of the inputs, measured.
  const double network =
      1.5e-8 * layers * tokens * tokens * tokens + 2e-8 * layers * tokens * tokens;
  const double products = 6e-10 * tokens * dim * layers;
  // Runs at the same time: --threads is not known here, but no machine gains by more than it has.
  const double held = std::min(runs, static_cast<double>(available_threads()));
  const double kept = runs * static_cast<double>(o.records) * (layers + 3.0) * 4.0 * sizeof(double);
  Cost cost;
  if (engine == "batch") {
    cost.method =
        "Stochastic gradient descent of all layers together over alpha D samples in fixed order, "
        "in "
        "full dimension, --reuse steps on each batch; gradients by reverse differentiation through "
        "the map between fields.";
    cost.core_seconds = runs * o.time * o.reuse * o.alpha * dim * (network + products);
    cost.memory_bytes = 1e7 + kept + held * dataset_bytes(model.shape(), dim, o.alpha * dim);
    return cost;
  }
  const double samples = o.time * dim;
  if (engine == "online") {
    cost.method = "One pass over fresh samples in full dimension.";
    cost.core_seconds = runs * samples * (2.0 * network + products + 4e-9 * tokens * dim);
    cost.memory_bytes = 1e7 + kept + held * sizeof(double) * dim * (256.0 * tokens + 4.0 * layers);
  } else if (engine == "chain") {
    cost.method =
        "One pass over fresh samples, simulated exactly in law through the overlaps of student and "
        "teacher and a Wishart residual; the cost of a step does not depend on the dimension.";
    cost.core_seconds = runs * samples * (2.0 * network + 3e-8 * layers * tokens + 1e-7);
    cost.memory_bytes = 1e7 + kept;
  } else {
    cost.method =
        "The ordinary differential equation that overlaps follow in one pass as the dimension "
        "grows, by adaptive Runge-Kutta steps; its expectations by scrambled Sobol points, 16 "
        "replicates. With --tol the points are raised fourfold until it is met, three times at "
        "most; the estimate is of the first attempt.";
    // At least one step for every record, and about one in the time of a learning rate.
    const double steps = static_cast<double>(o.records) + 100.0 + o.time * o.rate;
    cost.core_seconds = 17.0 * 6.0 * steps * flow_points * std::exp2(layers) * 1.5 * network;
    cost.memory_bytes = 1e8;
  }
  return cost;
}

std::vector<Parameter> sgd_parameters() {
  std::vector<Parameter> list;
  for (Parameter& parameter : model_parameters()) {
    for (const char* name : {"layers", "tokens", "skip", "beta"}) {
      if (parameter.name == name) list.push_back(parameter);
    }
  }
  list.push_back(make_word("engine", {"batch", "online", "chain", "flow"},
                           "batch: epochs over given samples; online: one pass, full dimension; "
                           "chain: one pass, exact in law at a cost that does not depend on the "
                           "dimension; flow: its limit of large dimension."));
  list.push_back(make_parameter("dim", ParameterKind::integer, {}, 2, 1e12,
                                "Dimension D; 500 (batch) or 1000 unless said otherwise."));
  list.push_back(make_parameter("alpha", ParameterKind::real, {}, 1e-6, 1e6,
                                "Samples over dimension N/D of the training set (batch; 15 unless "
                                "said otherwise)."));
  list.push_back(make_parameter("batch", ParameterKind::integer, {}, 1, 1e9,
                                "Samples of a step; 200 (batch) or 1 unless said otherwise."));
  list.push_back(make_parameter("reuse", ParameterKind::integer, {}, 1, 1e6,
                                "Consecutive steps on each batch (batch; 3 unless said "
                                "otherwise)."));
  list.push_back(make_parameter(
      "rate", ParameterKind::real, {}, 1e-12, 1e12,
      "Learning rate: of the loss summed over the batch and divided by D (batch; 15 unless said "
      "otherwise), or of its mean over the batch (0.3)."));
  list.push_back(make_parameter("decay", ParameterKind::real, {}, 0.0, 1e9,
                                "Weight decay times D; 0.07 (batch) or 0 unless said otherwise."));
  list.push_back(make_parameter("init", ParameterKind::real, 0.9, 1e-9, 1e3,
                                "Standard deviation of the student's weights at the start."));
  list.push_back(make_parameter("start-cosine", ParameterKind::real, 0.0, 0.0, 1.0,
                                "Cosine with the teacher that is planted in every layer, up to the "
                                "1/sqrt(D) of random weights."));
  list.push_back(make_parameter("time", ParameterKind::real, {}, 1e-9, 1e12,
                                "Epochs (batch; 1700 unless said otherwise), or samples over "
                                "dimension (300)."));
  list.push_back(make_parameter("records", ParameterKind::integer, std::int64_t{200}, 1, 1e6,
                                "Rows of every run, evenly spaced in time, besides the start."));
  list.push_back(make_parameter("runs", ParameterKind::integer, std::int64_t{1}, 1, 1e6,
                                "Runs, each with a teacher, a student and samples of its own."));
  list.push_back(make_parameter("level", ParameterKind::real, 0.0, 0.0, 1.0,
                                "Instead of records: when layers first reach this cosine."));
  return list;
}

}  // namespace

Verb sgd_verb() {
  PlainVerb verb;
  verb.family = "smi";
  verb.name = "sgd";
  verb.summary = "stochastic gradient descent of deep attention: which layer is learned first";
  verb.details =
      "A student of the teacher's architecture learns all layers together by stochastic gradient "
      "descent on the squared distance of attention matrices. Rows: run, time and the cosine of "
      "every "
      "layer with the teacher's. --engine batch is the experiment of figure 2 of arXiv:2502.00901 "
      "(alpha = N/D, samples over dimension; time in epochs); online, chain and flow are one pass "
      "over fresh samples (time in samples over dimension). With --level X the rows are layers "
      "instead: layer, time (mean first record at cosine X), reached (fraction of runs), first "
      "(fraction of runs in which it was the first).";
  verb.parameters = sgd_parameters();
  verb.read_files = fill_defaults;
  verb.columns = sgd_columns(2);
  verb.primary = "cos1";
  verb.examples = {"smi sgd --engine batch --time 100 --records 50",
                   "smi sgd --engine chain --dim 10000 --runs 8 --level 0.5",
                   "smi sgd --engine flow --dim 10000 --skip 2"};
  verb.cost = sgd_cost;
  verb.run = run_sgd;
  return to_verb(std::move(verb));
}

}  // namespace onset::smi
