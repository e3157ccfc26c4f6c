#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/printable.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi.hpp"
#include "smi/learners/spectral_estimator.hpp"
#include "smi/limits/spectral.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "smi/verbs/data_request.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/spectral_model.hpp"

namespace onset::smi {
namespace {

constexpr std::int64_t default_spectral_runs = 4;
constexpr double max_gamma = 1e3;

SpectralMethod read_method(const std::string& text) {
  using Kind = SpectralMethod::Kind;
  if (text == "symmetric") return {Kind::gamma, 1.0};
  if (text == "bulk") return {Kind::bulk, 1.0};
  if (text == "lamp") return {Kind::lamp, 1.0};
  if (text.starts_with("gamma:")) {
    Parameter number;
    number.name = "method";
    number.kind = ParameterKind::real;
    number.min = 1.0;
    number.max = max_gamma;
    return {Kind::gamma, std::get<double>(parse_value(number, text.substr(6)))};
  }
  const std::string words[] = {"symmetric", "bulk", "lamp", "gamma:1.05"};
  throw InvalidArgument("method", in_quotes(text) + " is no method" + suggestion(text, words) +
                                      "; allowed: symmetric, bulk, lamp, gamma:X with X from 1 on");
}

struct SettledSpectral {
  SpectralModel methods;
  std::shared_ptr<const SequenceModel> model;
  SpectralMethod method;
  std::optional<DataFiles> files;
  std::size_t dimension = 0;
  std::vector<std::size_t> samples;  ///< for every alpha, where there are data
  double drawn_law_seconds = 0.0;    ///< core seconds of the law of attention
};

void settle_spectral_data(Spectral& request, SettledSpectral& settled) {
  std::size_t available = std::numeric_limits<std::uint32_t>::max();
  if (request.data) {
    settled.files = find_data(*request.data, *settled.model);
    settled.dimension = settled.files->dimension;
    available = settled.files->samples;
    if (request.alpha.empty()) {
      request.alpha = {static_cast<double>(available) / static_cast<double>(settled.dimension)};
    }
  } else if (request.dim) {
    settled.dimension = static_cast<std::size_t>(*request.dim);
  }
  if (settled.dimension == 0) return;
  for (const double alpha : request.alpha) {
    const double count = std::round(alpha * static_cast<double>(settled.dimension));
    if (count < 1.0 || count > static_cast<double>(available)) {
      throw InvalidArgument("alpha", to_text(Value(alpha)) + " means " + to_text(Value(count)) +
                                         " samples; allowed: 1 to " + std::to_string(available));
    }
    settled.samples.push_back(static_cast<std::size_t>(count));
  }
}

SettledSpectral settle_spectral(Spectral& request) {
  SettledSpectral settled;
  settled.method = read_method(request.method);
  io::FromManifest said;
  if (request.data) {
    said = settle_with_data(request);
  } else if (request.alpha.empty()) {
    throw InvalidArgument("alpha", prose(R"(
        is missing; allowed: sample ratios N/D, or `data` with samples of your own)"));
  }
  if (!request.data && request.runs && !request.dim) {
    throw InvalidArgument("runs", "are runs on data; allowed: with `dim`");
  }
  if (request.dim && !request.runs) request.runs = default_spectral_runs;
  if ((request.nodes & (request.nodes - 1)) != 0) {
    throw InvalidArgument("nodes", std::to_string(request.nodes) +
                                       " is not a power of two; allowed: 32, 64, 128, ..");
  }
  fill_model(request);
  settled.methods = said.settled([&] { return spectral_model(request); });
  const auto typed = expressed_request(request);
  // Data of a named link are filed as its own model does.
  if (typed && !request.data) {
    settled.model = typed_model(typed->link, typed->tokens);
  } else {
    NamedModel named = said.settled([&] { return settle_model(request); });
    settled.drawn_law_seconds = named.channel_seconds(1.0, attention_law_labels, request.nodes);
    settled.model = std::move(named.model);
  }
  settle_spectral_data(request, settled);
  return settled;
}

struct SpectralRow {
  double alpha = 0.0;
  std::string block;
  std::optional<Estimate> bulk_edge = {};
  std::optional<Estimate> outlier = {};
  Estimate overlap = {};
  std::int64_t outliers = 0;
  std::string teacher;
  std::optional<Estimate> eigenvalue1 = {};
  std::optional<Estimate> eigenvalue2 = {};
  std::optional<Estimate> overlap_found = {};
};

Columns<SpectralRow> spectral_columns(bool with_data) {
  auto columns =
      Columns<SpectralRow>()
          .add("alpha", &SpectralRow::alpha, alpha_meaning)
          .add("block", &SpectralRow::block,
               "the layer, or the directions of a link, whose matrix it is")
          .add("bulk_edge", &SpectralRow::bulk_edge, prose(R"(
              where the bulk of eigenvalues ends; for `method = lamp` the radius of its disk; empty
              below alpha_c gamma^2, where the largest labels set it, and where the labels fix the
              weights, so that the bulk goes to minus infinity)"))
          .add("outlier", &SpectralRow::outlier, "an eigenvalue beyond the bulk")
          .add("overlap", &SpectralRow::overlap, prose(R"(
              squared overlap of its unit eigenvector with the teacher's directions; the mean over
              the eigenspace)"))
          .add("outliers", &SpectralRow::outliers, "how many eigenvalues are equal to it")
          .add("teacher", &SpectralRow::teacher,
               "the layer or the directions that the eigenvector is about");
  if (!with_data) return columns;
  return columns
      .add("eigenvalue1", &SpectralRow::eigenvalue1, "largest eigenvalue on data, mean over runs")
      .add("eigenvalue2", &SpectralRow::eigenvalue2,
           "the next one after those of the outlier; not computed for `method = lamp`")
      .add("overlap_found", &SpectralRow::overlap_found, "the overlap on data, mean over runs");
}

/// What one run on data found for one block.
struct FoundOnData {
  double first = 0.0;
  std::optional<double> second = {};
  std::optional<double> overlap = {};
  bool converged = true;
};

class SpectralRun {
 public:
  SpectralRun(const Spectral& request, const SettledSpectral& settled, const Context& context)
      : request_(&request),
        settled_(&settled),
        context_(&context),
        law_(settled.methods.law(*settled.model, request.nodes, request.seed, context)),
        directions_(settled.methods.directions(*settled.model)),
        growth_(spectral_growth(law_)) {}

  void fill(Result& result) {
    const auto columns = spectral_columns(settled_->dimension > 0);
    result.table = columns.table();
    for (std::size_t b = 0; b < law_.names.size(); ++b) add_summary(b, result);
    if (settled_->files) {
      data_ = read_data(settled_->files->folder, *settled_->model);
      has_teacher_ = !data_->teacher.empty();
    }
    keep_rows(result, [&] {
      for (std::size_t a = 0; a < request_->alpha.size(); ++a) {
        context_->report(static_cast<double>(a) / static_cast<double>(request_->alpha.size()),
                         "alpha " + to_text(Value(request_->alpha[a])));
        for (const SpectralRow& row : rows_at(a)) result.table.add_row(columns.cells(row));
      }
    });
    if (!converged_) {
      result.unconverged("some eigenvalues on data did not converge");
    }
    add_notes(result);
  }

 private:
  void add_summary(std::size_t b, Result& result) const {
    const std::string suffix = law_.names.size() > 1 ? std::to_string(b + 1) : "";
    const Estimate nu = growth_[b];
    if (nu.value > 6.0 * nu.error && nu.value > 1e-9) {
      result.summary.emplace_back("alpha_c" + suffix,
                                  Estimate{1.0 / nu.value, nu.error / (nu.value * nu.value)});
    }
    result.summary.emplace_back("nu" + suffix, nu);
  }

  void add_notes(Result& result) const {
    for (std::size_t b = 0; b < law_.pull.size(); ++b) {
      if (!law_.is_pulled(b)) continue;
      result.notes.push_back(prose(R"(
          Labels have a mean along {}: the linear estimator sees it at every alpha (the gains of
          all directions there add up to about {:.3g}), and the matrix alone is not optimal.)",
                                   law_.names[b], law_.pull[b].value));
    }
    if (is_cut_) {
      result.notes.push_back(prose(R"(
          Labels fix the weights here, but weights of samples are cut at {} on data: the overlap
          that is found stays below that of the limit.)",
                                   least_weight));
    }
  }

  [[nodiscard]] std::string teachers(const Outlier& outlier) const {
    std::string out;
    for (const std::size_t c : outlier.teachers) {
      if (!out.empty()) out += ", ";
      out += law_.names[c];
    }
    return out;
  }

  /// Eigenvectors of an outlier, those of alike directions of a layer included.
  [[nodiscard]] int multiplicity(const Outlier& outlier) const {
    int copies = 0;
    for (const std::size_t c : outlier.teachers) copies = std::max(copies, law_.copies[c]);
    return outlier.multiplicity * std::max(1, copies);
  }

  std::vector<SpectralRow> rows_at(std::size_t a) {
    const double alpha = request_->alpha[a];
    std::vector<SpectralRow> rows;
    const std::vector<std::vector<FoundOnData>> found = runs_at(a);
    for (std::size_t b = 0; b < law_.names.size(); ++b) {
      const SpectralLimit& limit = limits_[b];
      is_cut_ = is_cut_ || (!found.empty() && !limit.edge && !limit.outliers.empty());
      SpectralRow base;
      base.alpha = alpha;
      base.block = law_.names[b];
      base.bulk_edge = limit.edge;
      base.teacher = "none";
      if (!found.empty()) add_found(found[b], base);
      if (limit.outliers.empty()) rows.push_back(base);
      for (std::size_t k = 0; k < limit.outliers.size(); ++k) {
        SpectralRow row = base;
        if (k > 0) row.eigenvalue1 = row.eigenvalue2 = row.overlap_found = std::nullopt;
        row.outlier = limit.outliers[k].eigenvalue;
        row.overlap = limit.outliers[k].overlap;
        row.outliers = multiplicity(limit.outliers[k]);
        row.teacher = teachers(limit.outliers[k]);
        rows.push_back(row);
      }
    }
    return rows;
  }

  void add_found(const std::vector<FoundOnData>& runs, SpectralRow& row) {
    numerics::Replicates first, second, overlap;
    for (const FoundOnData& run : runs) {
      converged_ = converged_ && run.converged;
      first.push_back(run.first);
      if (run.second) second.push_back(*run.second);
      if (run.overlap) overlap.push_back(*run.overlap);
    }
    row.eigenvalue1 = numerics::mean_over_runs(first);
    if (!second.empty()) row.eigenvalue2 = numerics::mean_over_runs(second);
    if (!overlap.empty()) row.overlap_found = numerics::mean_over_runs(overlap);
  }

  /// Limits of every block, then the runs: found[block][run].
  std::vector<std::vector<FoundOnData>> runs_at(std::size_t a) {
    limits_.clear();
    for (std::size_t b = 0; b < law_.names.size(); ++b) {
      limits_.push_back(spectral_limit(law_, b, request_->alpha[a], settled_->method, *context_));
    }
    std::vector<std::vector<FoundOnData>> found;
    if (settled_->dimension == 0) return found;
    found.resize(law_.names.size());
    for (std::int64_t run = 0; run < *request_->runs; ++run) {
      const Dataset data =
          data_ ? data_->first(settled_->samples[a])
                : draw_dataset(*settled_->model, settled_->dimension, settled_->samples[a],
                               request_->seed, static_cast<std::uint64_t>(run), *context_);
      const SampleExcess excess = settled_->methods.excess(*settled_->model, data, request_->nodes,
                                                           request_->seed, *context_);
      for (std::size_t b = 0; b < found.size(); ++b) {
        found[b].push_back(find(data, excess.block[b], b, request_->alpha[a]));
      }
    }
    return found;
  }

  [[nodiscard]] FoundOnData find(const Dataset& data, const std::vector<Eigen::MatrixXd>& excess,
                                 std::size_t block, double alpha) const {
    const SpectralLimit& limit = limits_[block];
    SpectralEstimatorOptions options;
    options.seed = request_->seed;
    options.is_lamp = settled_->method.kind == SpectralMethod::Kind::lamp;
    options.gamma = settled_->method.kind == SpectralMethod::Kind::bulk
                        ? std::max(1.0, std::sqrt(alpha * growth_[block].value))
                        : settled_->method.gamma;
    std::vector<std::size_t> wanted = directions_[block];
    if (!limit.outliers.empty()) {
      options.wanted = multiplicity(limit.outliers.front());
      wanted.clear();
      for (const std::size_t c : limit.outliers.front().teachers) {
        const auto& more = directions_[c];
        wanted.insert(wanted.end(), more.begin(), more.end());
      }
    }
    const SpectralEstimate estimate = spectral_estimate(data, excess, options, *context_);
    FoundOnData found;
    found.converged = estimate.converged;
    if (!estimate.eigenvalue.empty()) found.first = estimate.eigenvalue.front();
    const auto next = static_cast<std::size_t>(options.wanted);
    if (estimate.eigenvalue.size() > next) found.second = estimate.eigenvalue[next];
    if (has_teacher_) found.overlap = teacher_overlap(estimate, data, wanted);
    return found;
  }

  const Spectral* request_;
  const SettledSpectral* settled_;
  const Context* context_;
  SpectralLaw law_;
  std::vector<std::vector<std::size_t>> directions_;
  std::vector<Estimate> growth_;
  std::vector<SpectralLimit> limits_;
  std::optional<Dataset> data_;
  bool has_teacher_ = true;
  bool converged_ = true;
  bool is_cut_ = false;  ///< whether the limit asks for weights that data do not have
};

void run_spectral(const Spectral& request, const SettledSpectral& settled, const Context& context,
                  Result& result) {
  if (settled.methods.typed) note_what_is_not_named(*settled.methods.typed, result);
  SpectralRun(request, settled, context).fill(result);
}

Cost spectral_cost(const Spectral& request, const SettledSpectral& settled) {
  Cost cost;
  cost.method = prose(R"(
      Law of E[z z^T|y] - I where nothing is known: for links an integral over the label with
      posteriors on level lines (three fields and more: a sum over bins of the label, by samples
      of all fields), for attention and for several outputs drawn labels. Limits: the Dyson
      equation of the matrix and its outliers, solved by Newton's method; errors are the scatter of
      replicates. On data:
      Lanczos with products with the inputs only (Arnoldi for linearised message passing).)");
  const TypedLink* typed = settled.methods.typed.get();
  const std::size_t n = typed ? typed->fields().size() : 1;
  cost.core_seconds = typed ? spectral_law_seconds(*typed) : settled.drawn_law_seconds;
  // The Dyson equation and its outliers: measured.
  cost.core_seconds += static_cast<double>(request.alpha.size()) * (n > 1 ? 0.15 : 0.02);
  cost.memory_bytes = 3e8;
  const FieldShape& shape = settled.model->shape();
  for (const std::size_t samples : settled.samples) {
    const double bytes =
        dataset_bytes(shape, static_cast<double>(settled.dimension), static_cast<double>(samples));
    constexpr double products = 100.0;  // of Lanczos: measured away from thresholds
    cost.core_seconds += static_cast<double>(*request.runs) * products * 3e-10 * bytes *
                         static_cast<double>(shape.directions());
    cost.memory_bytes = std::max(cost.memory_bytes, 3e8 + bytes);
  }
  return cost;
}

Fields<Spectral> spectral_fields() {
  Fields<Spectral> fields = data_model_fields<Spectral>();
  FieldRule ratios = alpha_rule;
  ratios.required = false;
  return fields
      .add("alpha", &Spectral::alpha, ratios,
           "Sample ratios N/D (samples over dimension); with `data`, all samples unless given.")
      .add("method", &Spectral::method, {}, prose(R"(
          symmetric: weights T = 1 - S^{-1}, S = E[z z^T|y], the optimal symmetric matrix; bulk:
          gamma = sqrt(alpha/alpha_c) in T = G/(gamma + G), G = S - 1, whose bulk ends at 1; lamp:
          linearised message passing; gamma:X another gamma, which bounds weights where S is singular
          (1.05 costs half a percent).)"))
      .add("dim", &Spectral::dim, {.min = 8, .max = 1e6},
           "Dimension D of drawn data, on which the estimator runs too.")
      .add("runs", &Spectral::runs, {.min = 1, .max = 1e5},
           "Runs for every alpha, each with a teacher and samples of its own; 4 unless given.")
      .add("nodes", &Spectral::nodes, {.min = 32, .max = 1 << 16},
           "Nodes of the integrals of attention's posterior: a power of two.")
      .add("data", &Spectral::data, {.folder = true},
           "A folder with X.npy and Y.npy or H.npy (see smi generate).");
}

}  // namespace

VerbOf<Spectral> Spectral::verb() {
  Definition<Spectral, SettledSpectral> d;
  d.family = "smi";
  d.name = "spectral";
  d.summary = "spectral methods: what the eigenvectors of weighted second moments know";
  d.details = prose(R"(
      Weights every sample by what its label says of the second moments of its fields, adds up
      x^T T(y) x / D, and looks at the largest eigenvalues, in the limit of large dimension D at the
      sample ratio alpha = N/D (samples over dimension): where the bulk ends, which eigenvalues leave
      it, and how much of the teacher their eigenvectors have. Every layer of attention, and every set
      of directions of a link that symmetries do not part, has a matrix of its own. With `dim` the same
      matrix is made from drawn data, and with `data` from data of your own.)");
  d.fields = spectral_fields();
  d.rows = {{"", spectral_columns(false).list()},
            {"with `dim` or `data`", spectral_columns(true).list()}};
  d.primary = "overlap";
  d.method = 9;
  d.examples = {"smi spectral --link square --alpha 0.6:2:0.2",
                "smi spectral --link square --alpha 1 --dim 500 --runs 4",
                "smi spectral --layers 2 --alpha 0.4 --method lamp"};
  d.settle = settle_spectral;
  d.cost = spectral_cost;
  d.run = run_spectral;
  return d.verb();
}

}  // namespace onset::smi
