#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi.hpp"
#include "smi/learners/message_passing.hpp"
#include "smi/learners/planted_start.hpp"
#include "smi/learners/spectral_start.hpp"
#include "smi/limits/spectral.hpp"
#include "smi/verbs/amp_tables.hpp"
#include "smi/verbs/data_request.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/spectral_model.hpp"

namespace onset::smi {
namespace {

constexpr std::int64_t default_dimension = 500;
constexpr std::int64_t default_runs = 8;
/// Noise that inner integrals may add to the messages, relative to them: a tenth costs as much as a
/// tenth of the samples.
constexpr double max_integration_noise = 0.1;

/// Directions of a block are not learned evenly on the way, which not every posterior answers for.
void refuse_ranks(const SequenceModel& model) {
  const FieldShape& shape = model.shape();
  const bool alone =
      std::all_of(shape.rank.begin(), shape.rank.end(), [](int rank) { return rank == 1; });
  if (alone || model.posterior({32, 1})->within_blocks()) return;
  throw Refused(prose(R"(
      message passing is not available for a last layer of rank {}: on the way its directions are learned
      unevenly, and what a label leaves free would have to be integrated over {} angles with a matrix for
      a prior; allowed: a last layer of rank one or two)",
                      shape.rank.back(), shape.rank.back() * (shape.rank.back() - 1) / 2));
}

/// The posterior of a typed link is an integral whose cost grows with its fields, noise included:
/// beyond these dimensions a run would take hours.
void refuse_large(const TypedLink& link, std::size_t dimension) {
  constexpr std::size_t most[] = {1'000'000, 2000, 500};
  const std::size_t fields = link.fields().size();
  if (fields > std::size(most)) {
    throw Refused(prose(R"(
        message passing is not offered for a typed link of {} fields, noise included: every sample's
        posterior is an integral over them in every iteration; allowed: up to {})",
                        fields, std::size(most)));
  }
  if (dimension <= most[fields - 1]) return;
  throw Refused(prose(R"(
      the dimension {} is too large for message passing with a typed link of {} fields, noise
      included, whose posteriors are integrals over them; allowed: up to {})",
                      dimension, fields, most[fields - 1]));
}

std::size_t samples_at(double alpha, std::size_t dim, std::size_t available) {
  const auto samples = static_cast<std::size_t>(std::llround(alpha * static_cast<double>(dim)));
  if (samples < 1 || samples > available) {
    throw InvalidArgument("alpha", to_text(Value(alpha)) + " means " + std::to_string(samples) +
                                       " samples at dimension " + std::to_string(dim) +
                                       "; allowed: 1 to " + std::to_string(available) + " samples");
  }
  return samples;
}

void check_integration(const MessagePassing& run) {
  if (run.steps.empty() || run.failed()) return;
  const double noise = run.steps.back().integration_noise;
  if (noise <= max_integration_noise) return;
  throw Refused(prose(R"(
      the inner integrals of the posterior add {} % of noise to the messages, which would be mistaken
      for a failure to learn; allowed: at most 10 %, perhaps with more `nodes`)",
                      to_text(Value(100.0 * noise))));
}

/// A run needs this many samples of this dimension: drawn, or the first of those given.
struct SettledAmp {
  NamedModel named;
  MessagePassingOptions options;
  std::optional<DataFiles> files;  ///< of `data`
  std::size_t dimension = 0;
  std::vector<std::size_t> samples;    ///< for every alpha
  std::optional<SpectralModel> start;  ///< for spectral starts
  std::optional<double> planted;       ///< the overlap of planted starts

  [[nodiscard]] bool knows_teacher() const { return !files || files->has_teacher; }
};

MessagePassingOptions passing_options(const Amp& request) {
  MessagePassingOptions options;
  options.max_iterations = request.iterations;
  options.start = request.start;
  options.damping = request.damping;
  options.restarts = request.restarts;
  options.nodes = request.nodes;
  if ((options.nodes & (options.nodes - 1)) != 0) {
    throw InvalidArgument(
        "nodes", std::to_string(options.nodes) + " is not a power of two; allowed: 16, 32, 64, ..");
  }
  options.seed = request.seed;
  return options;
}

void settle_without_data(Amp& request) {
  if (!request.dim) request.dim = default_dimension;
  if (!request.runs) request.runs = default_runs;
  if (request.alpha.empty()) {
    throw InvalidArgument("alpha", prose(R"(
        is missing; allowed: sample ratios N/D, or `data` with samples of your own)"));
  }
}

constexpr double default_start_overlap = 0.1;

/// A planted start has no use for the size of random weights.
void check_start(const Amp& request) {
  if (request.init != AmpInit::planted || request.start == Amp{}.start) return;
  throw InvalidArgument("start", prose(R"(
      has no effect at a planted start, whose weights have the overlap `start_overlap`; allowed: with
      `init = random` and `init = spectral`)"));
}

void settle_start_overlap(Amp& request, bool knows_teacher) {
  if (request.init != AmpInit::planted) {
    if (!request.start_overlap) return;
    throw InvalidArgument("start_overlap",
                          "has no effect at another start; allowed: with `init = planted`");
  }
  if (!knows_teacher) {
    throw InvalidArgument("init", prose(R"(
        planted needs the teacher, which these data do not have; allowed: random, spectral)"));
  }
  request.start_overlap = request.start_overlap.value_or(default_start_overlap);
}

SettledAmp settle_amp(Amp& request) {
  io::FromManifest said;
  if (request.data) {
    said = settle_with_data(request);
  } else {
    settle_without_data(request);
  }
  fill_model(request);
  SettledAmp settled;
  settled.named = said.settled([&] { return settle_model(request); });
  settled.named.move_to(request.device);
  check_start(request);
  settled.options = passing_options(request);
  refuse_ranks(*settled.named.model);
  std::size_t available = std::numeric_limits<std::uint32_t>::max();
  if (request.data) {
    settled.files = find_data(*request.data, *settled.named.model);
    settled.dimension = settled.files->dimension;
    available = settled.files->samples;
    if (request.alpha.empty()) {
      request.alpha = {static_cast<double>(available) / static_cast<double>(settled.dimension)};
    }
  } else {
    settled.dimension = static_cast<std::size_t>(*request.dim);
  }
  settle_start_overlap(request, settled.knows_teacher());
  settled.planted = request.start_overlap;
  if (request.init == AmpInit::spectral) {
    settled.start = spectral_model(request);
    if (!settled.start->has_directions_of(*settled.named.model)) {
      throw Refused(prose(R"(
          the directions of the link {} are sums and differences of those of its expression, which
          spectral starts are made for; allowed: its expression as `link`)",
                          *request.link));
    }
  }
  if (settled.named.typed) refuse_large(*settled.named.typed, settled.dimension);
  for (const double alpha : request.alpha) {
    settled.samples.push_back(samples_at(alpha, settled.dimension, available));
  }
  return settled;
}

/// Nodes of attention's posterior behind spectral weights, as in `smi spectral`.
constexpr int start_nodes = 512;

/// The runs of a request, on the first samples of the data that were given, or on drawn ones.
class AmpRuns {
 public:
  AmpRuns(const SettledAmp& settled, const Context& context)
      : settled_(&settled), model_(settled.named.model.get()), context_(&context) {
    if (settled.files) given_ = read_data(settled.files->folder, *model_);
    if (!settled.start) return;
    law_ = settled.start->law(*model_, start_nodes, settled.options.seed, context);
  }

  MessagePassing operator()(std::size_t samples, std::uint64_t run) {
    const std::uint64_t seed = settled_->options.seed;
    const Dataset data =
        given_ ? given_->first(samples)
               : draw_dataset(*model_, settled_->dimension, samples, seed, run, *context_);
    std::optional<MessageStart> start;
    if (law_) {
      const SampleExcess excess =
          settled_->start->excess(*model_, data, start_nodes, seed, *context_);
      start = spectral_start(*law_, settled_->start->directions(*model_), excess, data, seed,
                             *context_);
      at_random_ = at_random_ || !start;
    }
    if (settled_->planted) start = planted_start(data, *settled_->planted, seed, run);
    MessagePassing passing = message_passing(*model_, data, settled_->options, run, *context_,
                                             start ? &*start : nullptr);
    check_integration(passing);
    return passing;
  }

  void add_notes(Result& result) const {
    if (!law_) return;
    for (std::size_t b = 0; b < law_->names.size(); ++b) {
      const double from = informative_ratio(spectral_growth(*law_)[b].value, settled_->dimension);
      if (!at_random_ || !std::isfinite(from)) continue;
      result.notes.push_back(prose(R"(
          Runs start at random below alpha_c (1 + D^(-1/3)) = {:.4g} of {}, where eigenvectors are no
          better than chance.)",
                                   from, law_->names[b]));
    }
  }

 private:
  const SettledAmp* settled_;
  const SequenceModel* model_;
  const Context* context_;
  std::optional<Dataset> given_;
  std::optional<SpectralLaw> law_;  ///< for spectral starts
  bool at_random_ = false;          ///< some run had no eigenvector to start from
};

void run_amp(const Amp& request, const SettledAmp& settled, const Context& context,
             Result& result) {
  const auto runs = static_cast<std::uint64_t>(*request.runs);
  if (settled.named.typed) note_what_is_not_named(*settled.named.typed, result);
  AmpRuns pass_messages(settled, context);
  AmpTables tables(settled.named.model->shape(), settled.knows_teacher());
  const double total = static_cast<double>(request.alpha.size() * runs);
  // A run that ends early still has its files and its summary.
  keep_rows(result, [&] {
    for (std::size_t a = 0; a < request.alpha.size(); ++a) {
      for (std::uint64_t run = 0; run < runs; ++run) {
        context.report(
            static_cast<double>(a * runs + run) / total,
            "alpha " + to_text(Value(request.alpha[a])) + ", run " + std::to_string(run + 1));
        tables.add_run(request.alpha[a], run, pass_messages(settled.samples[a], run));
      }
      tables.finish_alpha(request.alpha[a]);
    }
  });
  if (const std::size_t open = tables.runs_of_open_alpha(); open > 0) {
    tables.finish_alpha(request.alpha[tables.finished_alphas()]);
    result.notes.push_back("The last alpha has " + std::to_string(open) + " of " +
                           std::to_string(runs) + " runs.");
  }
  tables.complete({.tol = request.tol,
                   .weights = settled.files.has_value(),
                   .trajectories = request.trajectories},
                  result);
  pass_messages.add_notes(result);
  if (request.weights == Weights::untied) result.notes.emplace_back(untied_note);
  if (settled.files) {
    result.summary.emplace_back("dim", static_cast<std::int64_t>(settled.files->dimension));
    result.summary.emplace_back("samples", static_cast<std::int64_t>(settled.files->samples));
  }
}

Cost amp_cost(const Amp& request, const SettledAmp& settled) {
  const FieldShape& shape = settled.named.model->shape();
  Cost cost;
  cost.method = prose(R"(
      Generalised approximate message passing: every iteration passes once over the inputs, asks
      the posterior of every sample for its first two moments, and takes weights, V and all
      derivatives from them. A run ends at a fixed point, at exact recovery (V below 1e-8 and
      the labels explained), or after `iterations`; divergence and false recovery are detected,
      and another start is tried with V damped.)");
  const auto dim = static_cast<double>(settled.dimension);
  const double work = static_cast<double>(*request.runs) * request.iterations;
  // Measured: a prior that is a matrix within a layer takes longer than a number.
  const double uneven = request.link == "none" && shape.directions() > shape.blocks() ? 4.0 : 1.0;
  for (const std::size_t count : settled.samples) {
    const auto samples = static_cast<double>(count);
    const double bytes = dataset_bytes(shape, dim, samples);
    const double posterior =
        uneven *
        settled.named.channel_seconds(1.0, samples / numerics::default_replicates, request.nodes);
    cost.core_seconds += work * (2e-10 * bytes + posterior);
    cost.memory_bytes = std::max(cost.memory_bytes, bytes);
  }
  if (settled.files) {
    cost.memory_bytes += dataset_bytes(shape, dim, static_cast<double>(settled.files->samples));
  }
  constexpr double partial_sums = 32.0;
  if (settled.start) {
    const TypedLink* typed = settled.start->typed.get();
    cost.core_seconds += typed ? spectral_law_seconds(*typed) : 0.2;
  }
  cost.memory_bytes +=
      32e6 + partial_sums * sizeof(double) * dim * static_cast<double>(shape.directions());
  return cost;
}

Fields<Amp> amp_fields() {
  Fields<Amp> fields = data_model_fields<Amp>();
  FieldRule ratios = alpha_rule;
  ratios.required = false;
  fields
      .add("dim", &Amp::dim, {.min = 2, .max = 1e6},
           "Dimension D; 500 unless given or said by the data.")
      .add("alpha", &Amp::alpha, ratios,
           "Sample ratios N/D (samples over dimension); with `data`, all samples unless given.")
      .add("runs", &Amp::runs, {.min = 1, .max = 1e6}, prose(R"(
          Runs for every alpha, each with a teacher and samples of its own; 8 unless given, 1
          with `data`.)"))
      .add("iterations", &Amp::iterations, {.min = 1, .max = 1e6},
           "Largest number of iterations of a run.")
      .add_word("init", &Amp::init, {AmpInit::random, AmpInit::spectral, AmpInit::planted},
                prose(R"(
          random: small random weights; spectral: eigenvectors of the optimal spectral method, which
          say how much they know (see smi spectral), where they are more than chance; planted: an
          overlap with the teacher, as in smi evolution.)"))
      .add("start-overlap", &Amp::start_overlap, {.min = 1e-6, .max = 0.999999},
           "Overlap of every layer at a planted start; 0.1 unless given.")
      .add("start", &Amp::start, {.min = 1e-12, .max = 0.9},
           "Standard deviation of the weights at a random start.")
      .add(
          "damping", &Amp::damping, {.min = 0.0, .max = 0.99},
          "Share of the old V in the V of the posteriors; restarts take at least 0.5, 0.75, 0.875.")
      .add("restarts", &Amp::restarts, {.min = 0, .max = 1000},
           "Number of other starts that are tried after a divergence or a false recovery.")
      .add("nodes", &Amp::nodes, {.min = 32, .max = 1 << 16},
           "Nodes of the posterior's integrals: a power of two.")
      .add("trajectories", &Amp::trajectories, {},
           "Rows are the iterations of every run instead of means over runs.")
      .add("data", &Amp::data, {.folder = true},
           "A folder with X.npy and Y.npy or H.npy (see smi generate).");
  add_device(fields);
  return fields;
}

}  // namespace

std::string_view to_string(AmpInit init) {
  switch (init) {
    case AmpInit::random: return "random";
    case AmpInit::spectral: return "spectral";
    case AmpInit::planted: return "planted";
  }
  return "";
}

VerbOf<Amp> Amp::verb() {
  Definition<Amp, SettledAmp> d;
  d.family = "smi";
  d.name = "amp";
  d.summary = "approximate message passing on data of deep attention or a link";
  d.details = prose(R"(
      Runs generalised approximate message passing, the algorithm whose overlaps follow the
      uninformed branch of state evolution (smi curve), at finite dimension D and sample ratio
      alpha = N/D (samples over dimension). Near a threshold some runs learn a layer and others
      do not, so that every alpha has a row for each kind of end that was seen (escaped), with
      the number and the fraction of runs that ended so and their means, each with its standard
      error; runs that diverged are counted. Q is the squared norm of the weights over D, M is
      their overlap with the teacher (the two agree on the Nishimori line), and cos is their
      cosine. A folder of smi generate says which model it belongs to. With `out`,
      trajectories.csv has every iteration and runs.csv says how every run ended.)");
  d.fields = amp_fields();
  const FieldShape usual{2, {1, 1}};
  d.rows = {{"", amp_columns(usual)}, {"with `trajectories`", trajectory_columns(usual)}};
  d.primary = "Q11";
  d.method = 11;
  d.examples = {"smi amp --dim 500 --alpha 0.4:1.2:0.2 --runs 4",
                "smi amp --link square --dim 500 --alpha 1.3 --runs 8",
                "smi amp --link 'z1^2+0.3*e1' --dim 200 --alpha 1.5 --runs 4",
                "smi amp --data data"};
  d.settle = settle_amp;
  d.cost = amp_cost;
  d.run = run_amp;
  return d.verb();
}

}  // namespace onset::smi
