#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/learners/message_passing.hpp"
#include "smi/verbs/amp_tables.hpp"
#include "smi/verbs/data_folder.hpp"
#include "smi/verbs/overlap_columns.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

constexpr std::int64_t default_dimension = 500;
constexpr std::int64_t default_runs = 8;
/// Noise that inner integrals may add to the messages, relative to them: a tenth costs as much as a
/// tenth of the samples.
constexpr double most_integration_noise = 0.1;

bool has_data(const Parameters& p) {
  return p.text("data") != "none";
}

/// What the options must say together; called before anything is computed.
void check_options(Parameters& p) {
  read_correlation_file(p);
  if (has_data(p)) {
    if (p.has("dim")) {
      throw InvalidArgument("--dim", "comes from the data; allowed: leaving it out with --data");
    }
    if (p.has("runs") && p.integer("runs") != 1) {
      throw InvalidArgument("--runs", std::to_string(p.integer("runs")) +
                                          " runs on one data set would have no scatter that says "
                                          "anything; allowed: 1 with --data");
    }
    p.set("runs", std::int64_t{1});
    return;
  }
  if (!p.has("dim")) p.set("dim", default_dimension);
  if (!p.has("runs")) p.set("runs", default_runs);
  if (!p.has("alpha")) {
    throw InvalidArgument("--alpha",
                          "is missing; allowed: sample ratios N/D, or --data with samples of one's "
                          "own");
  }
}

/// Layers of rank two and more: directions of a layer are not learned evenly on the way, and the
/// posterior of attention answers for even priors only.
void refuse_ranks(const NamedModel& named) {
  if (!named.attention) return;
  for (int l = 0; l < named.attention->layers; ++l) {
    if (named.attention->rank_of(l) > 1) {
      throw Refused(
          "message passing is not available for attention layers of rank two and more: on the way "
          "the directions of a layer are learned unevenly, and the posterior of attention is "
          "integrated for one variance per layer only");
    }
  }
}

std::size_t samples_at(double alpha, std::size_t dim, std::size_t available) {
  const auto samples = static_cast<std::size_t>(std::llround(alpha * static_cast<double>(dim)));
  if (samples < 1 || samples > available) {
    throw InvalidArgument("--alpha", to_text(Value(alpha)) + " means " + std::to_string(samples) +
                                         " samples at dimension " + std::to_string(dim) +
                                         "; allowed: 1 to " + std::to_string(available) +
                                         " samples");
  }
  return samples;
}

MessagePassingOptions amp_options(const Parameters& p) {
  MessagePassingOptions options;
  options.max_iterations = static_cast<int>(p.integer("iterations"));
  options.start = p.real("start");
  options.damping = p.real("damping");
  options.restarts = static_cast<int>(p.integer("restarts"));
  options.nodes = static_cast<int>(p.integer("nodes"));
  if ((options.nodes & (options.nodes - 1)) != 0) {
    throw InvalidArgument("--nodes", std::to_string(options.nodes) +
                                         " is not a power of two; allowed: 16, 32, 64, ..");
  }
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

void check_integration(const MessagePassing& run) {
  if (run.steps.empty() || run.failed()) return;
  const double noise = run.steps.back().integration_noise;
  if (noise <= most_integration_noise) return;
  throw Refused(
      "the inner integrals of the posterior add " + to_text(Value(100.0 * noise)) +
      " % noise to the messages, which would be mistaken for a failure to learn; allowed: "
      "at most 10 %, perhaps with more --nodes");
}

/// The samples of one run: drawn, or those of a folder.
class Source {
 public:
  Source(const NamedModel& named, const Parameters& p) : named_(named), p_(p) {
    if (has_data(p)) given_ = read_data(p.text("data"), named);
  }
  [[nodiscard]] bool knows_teacher() const { return !has_data(p_) || !given_.teacher.empty(); }
  /// Of the folder.
  [[nodiscard]] std::int64_t dimension() const {
    return static_cast<std::int64_t>(given_.dimension);
  }
  [[nodiscard]] std::int64_t samples() const { return static_cast<std::int64_t>(given_.samples); }
  [[nodiscard]] std::vector<double> alphas() const {
    if (p_.has("alpha")) return p_.reals("alpha");
    return {static_cast<double>(given_.samples) / static_cast<double>(given_.dimension)};
  }
  [[nodiscard]] Dataset get(double alpha, std::uint64_t run, const Context& context) const {
    if (has_data(p_)) return given_.first(samples_at(alpha, given_.dimension, given_.samples));
    const auto dim = static_cast<std::size_t>(p_.integer("dim"));
    const auto samples = samples_at(alpha, dim, std::numeric_limits<std::uint32_t>::max());
    return draw_dataset(*named_.model, dim, samples, static_cast<std::uint64_t>(p_.integer("seed")),
                        run, context);
  }

 private:
  const NamedModel& named_;
  const Parameters& p_;
  Dataset given_;
};

Result run_amp(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  refuse_ranks(named);
  const MessagePassingOptions options = amp_options(p);
  const Source source(named, p);
  const auto runs = static_cast<std::uint64_t>(p.integer("runs"));
  const std::vector<double> alphas = source.alphas();
  for (const double alpha : alphas) {
    if (has_data(p)) (void)source.get(alpha, 0, context);
  }
  AmpTables tables(named.model->shape(), source.knows_teacher());
  const double total = static_cast<double>(alphas.size() * runs);
  Result result;
  keep_rows(result, [&] {
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      for (std::uint64_t run = 0; run < runs; ++run) {
        const double done = static_cast<double>(a * runs + run);
        context.report(done / total,
                       "alpha " + to_text(Value(alphas[a])) + ", run " + std::to_string(run + 1));
        MessagePassing passing = message_passing(*named.model, source.get(alphas[a], run, context),
                                                 options, run, context);
        check_integration(passing);
        tables.add_run(alphas[a], run, std::move(passing));
      }
      tables.finish_row(alphas[a]);
    }
  });
  if (const std::size_t open = tables.runs_of_open_row(); open > 0) {
    tables.finish_row(alphas[tables.finished_rows()]);
    result.notes.push_back("The last row has " + std::to_string(open) + " of " +
                           std::to_string(runs) + " runs.");
  }
  tables.complete({p.real("tol"), has_data(p), p.flag("trajectories")}, result);
  if (has_data(p)) {
    result.summary.emplace_back("dim", source.dimension());
    result.summary.emplace_back("samples", source.samples());
  }
  return result;
}

Cost amp_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  const FieldShape& shape = named.model->shape();
  Cost cost;
  cost.method =
      "Generalised approximate message passing: every iteration passes once over "
      "the inputs, asks the posterior of every sample for its first two moments, and takes "
      "weights, "
      "V and all derivatives from them. A run ends at a fixed point, at exact recovery (V below "
      "1e-8 "
      "and the labels explained), or after --iterations; divergence and false recovery are "
      "detected, and another start is tried with V damped.";
  if (has_data(p)) {
    std::error_code code;
    const auto size =
        std::filesystem::file_size(std::filesystem::path(p.text("data")) / "X.npy", code);
    cost.memory_bytes = code ? 0.0 : 3.0 * static_cast<double>(size);
    return cost;
  }
  const double dim = static_cast<double>(p.integer("dim"));
  const double work = static_cast<double>(p.integer("runs") * p.integer("iterations"));
  for (const double alpha : p.reals("alpha")) {
    const double bytes = dataset_bytes(shape, dim, alpha * dim);
    const double posterior = named.channel_seconds(1.0, alpha * dim / numerics::default_replicates,
                                                   static_cast<double>(p.integer("nodes")));
    cost.core_seconds += work * (2e-10 * bytes + posterior);
    cost.memory_bytes = std::max(cost.memory_bytes, bytes);
  }
  constexpr double partial_sums = 32.0;
  cost.memory_bytes +=
      32e6 + partial_sums * sizeof(double) * dim * static_cast<double>(shape.directions());
  return cost;
}

std::vector<Parameter> amp_parameters() {
  std::vector<Parameter> list = model_parameters();
  list.push_back(make_parameter("dim", ParameterKind::integer, {}, 2, 1e6,
                                "Dimension D; 500 unless said otherwise or given by the data."));
  Parameter alpha = alpha_parameter();
  alpha.required = false;
  alpha.text = "Sample ratios N/D (samples over dimension); with --data, all samples unless given.";
  list.push_back(alpha);
  list.push_back(
      make_parameter("runs", ParameterKind::integer, {}, 1, 1e6,
                     "Runs for every alpha, each with a teacher and samples of its own; 8 unless "
                     "given, 1 with --data."));
  list.push_back(make_parameter("iterations", ParameterKind::integer, std::int64_t{200}, 1, 1e6,
                                "Most iterations of a run."));
  list.push_back(make_parameter("start", ParameterKind::real, 1e-3, 1e-12, 0.9,
                                "Standard deviation of the weights at the start."));
  list.push_back(make_parameter("damping", ParameterKind::real, 0.0, 0.0, 0.99,
                                "Share of the old V in the posteriors' V; restarts take at least "
                                "0.5."));
  list.push_back(make_parameter("restarts", ParameterKind::integer, std::int64_t{3}, 0, 1000,
                                "Other starts after a divergence or a false recovery."));
  list.push_back(make_parameter("nodes", ParameterKind::integer, std::int64_t{128}, 32, 1 << 16,
                                "Nodes of the posterior's integrals: a power of two."));
  list.push_back(make_parameter("trajectories", ParameterKind::flag, false,
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::infinity(),
                                "Rows are the iterations of every run instead of means."));
  Parameter data = make_parameter("data", ParameterKind::text, std::string("none"),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::infinity(),
                                  "A folder with X.npy and Y.npy or H.npy (see smi generate).");
  data.folder = true;
  list.push_back(data);
  return list;
}

}  // namespace

Verb amp_verb() {
  PlainVerb verb;
  verb.family = "smi";
  verb.name = "amp";
  verb.summary = "approximate message passing on data of deep attention or a link";
  verb.details =
      "Generalised approximate message passing, the algorithm whose overlaps follow the uninformed "
      "branch of state evolution (smi curve), at finite dimension D and sample ratio alpha = N/D "
      "(samples over dimension). Rows are means over the runs that did not diverge, with the "
      "standard error of the mean: Q is the squared norm of the weights over D, M their overlap "
      "with "
      "the teacher (on the Nishimori line both agree), cos their cosine. Under --out there are "
      "trajectories.csv (every iteration) and runs.csv (how every run ended).";
  verb.parameters = amp_parameters();
  verb.read_files = check_options;
  verb.columns = amp_columns({2, {1, 1}});
  verb.primary = "Q11";
  verb.examples = {"smi amp --dim 500 --alpha 0.4:1.2:0.2 --runs 4",
                   "smi amp --link square --dim 500 --alpha 1.3 --runs 8",
                   "smi amp --layers 1 --data data"};
  verb.cost = amp_cost;
  verb.run = run_amp;
  return to_verb(std::move(verb));
}

}  // namespace onset::smi
