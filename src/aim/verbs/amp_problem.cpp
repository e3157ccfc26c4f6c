#include "aim/verbs/amp_problem.hpp"

#include <string>

#include "aim/model/channel.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "core/prose.hpp"
#include "device/device.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

constexpr int default_dim = 200;
constexpr int default_runs = 4;

io::FromManifest settle_folder(Amp& request) {
  io::FromManifest said = take_from_manifest(*request.data, request);
  if (request.runs && *request.runs != 1) {
    throw InvalidArgument("runs", prose(R"(
        {} runs on one data set would all be the same; allowed: 1 with `data`)",
                                        *request.runs));
  }
  request.runs = 1;
  return said;
}

/// Gives a field that nobody has said the default that other verbs have.
template <class T>
void fill(std::optional<T>& field, const T& usual) {
  if (!field) field = usual;
}

void settle_precision(Amp& request) {
  const bool on_gpu = request.device == device::DeviceKind::gpu;
  fill(request.precision, on_gpu ? AmpPrecision::full : AmpPrecision::mixed);
  if (on_gpu && request.precision == AmpPrecision::mixed) {
    throw InvalidArgument("precision",
                          "mixed is for the processor; allowed with `device = gpu`: double");
  }
}

/// The model with everything filled, as the other verbs have it.
AttentionIndexed settle_given_model(Amp& request) {
  Generate usual;
  fill(request.channel, usual.channel);
  fill(request.tokens, usual.tokens);
  fill(request.rho, usual.rho);
  fill(request.beta, usual.beta);
  if (!request.noise && !request.noise_variance && request.noise_kind) {
    refuse_kind_without_noise(*request.noise_kind);
  }
  fill(request.noise_variance, 0.0);
  settle_noise(request.noise, request.noise_variance);
  fill(request.noise_kind, usual.noise_kind);
  usual.channel = *request.channel;
  usual.tokens = *request.tokens;
  usual.rho = *request.rho;
  // Folders of linear labels may say any, which nobody can leave out.
  const bool any_beta = request.data && usual.channel == linear_channel().name();
  if (!any_beta) usual.beta = *request.beta;
  usual.noise_variance = request.noise_variance;
  usual.noise_kind = *request.noise_kind;
  return settle_model(usual);
}

/// Adds what several layers behind one label are, and refuses what has no message passing.
void settle_layers(const Amp& request, AttentionIndexed& model) {
  model.prior = request.prior;
  model.layers = request.layers;
  model.labels = request.labels;
  model.skip = request.skip;
  if (request.layers > 1 && request.labels != LayerLabels::deep) {
    throw Refused(prose(R"(
        message passing of several layers is that of `labels = deep`; with a label for each layer
        every one is learned as if it were alone: possible is `layers = 1`)"));
  }
  if (request.layers == 1 && request.prior == PriorKind::wigner) {
    throw Refused(prose(R"(
        message passing of one layer denoises W W^T; possible: `prior = wishart`, and `layers = 2`
        with `prior = wigner`)"));
  }
  model.validate();
  if (model.is_deep() && request.data) {
    throw InvalidArgument("data", prose(R"(
        folders hold data of one layer; allowed with `layers = {}`: leaving it out)",
                                        request.layers));
  }
}

/// A folder's samples at one alpha: the first n = alpha d^2.
void require_samples(double alpha, const DataFiles& data) {
  const std::size_t wanted = samples_of(alpha, data.dim);
  if (wanted <= data.samples) return;
  throw InvalidArgument("alpha", to_text(Value(alpha)) + " means " + std::to_string(wanted) +
                                     " samples at dimension " + std::to_string(data.dim) +
                                     "; allowed with these data: at most " +
                                     to_text(Value(ratio_of(data.samples, data.dim))));
}

}  // namespace

Fields<Amp> problem_fields() {
  Fields<Amp> fields = model_fields<Amp>();
  for (const Parameter& usual : stored_model_fields<Generate>().parameters()) {
    const std::string said = "said by the manifest of `data`.";
    fields.edit(usual.name).text +=
        std::holds_alternative<std::monostate>(usual.fallback)
            ? " May be " + said
            : " " + to_text(usual.fallback) + " unless given or " + said;
  }
  add_layers(fields, prose(R"(
      With several layers: one label of a deep network (two layers of two tokens, softmax without
      noise, `prior = wigner`); the others are refused.)"));
  add_skip(fields);
  fields
      .add("dim", &Amp::dim, dim_rule,
           dim_text + (" " + std::to_string(default_dim)) +
               " unless given or said by the manifest of `data`.")
      .add("runs", &Amp::runs, {.min = 1, .max = 10000},
           "Teachers and data sets for each alpha; 1 with `data`. " + std::to_string(default_runs) +
               " unless given.")
      .add("alpha", &Amp::alpha, {.min = 0.0, .max = max_alpha, .open_min = true, .grid = true},
           prose(R"(
          Sample ratios n/d^2 (samples over dimension squared). With `data`, all samples are
          used unless given.)"))
      .add("data", &Amp::data, {.folder = true}, prose(R"(
          Folder that 'aim generate' wrote (X.npy, Y.npy or logY.npy and, if known,
          truth/S.npy), instead of drawn data.)"));
  return fields;
}

AmpProblem settle_problem(Amp& request) {
  settle_noise(request.noise, request.noise_variance);
  io::FromManifest said;
  if (request.data) {
    said = settle_folder(request);
  } else if (request.alpha.empty()) {
    throw InvalidArgument("alpha", prose(R"(
        required, but not given; allowed: a grid of numbers above 0, or `data = DIR` instead)"));
  } else {
    fill(request.dim, default_dim);
    fill(request.runs, default_runs);
  }
  request.device = device::settle(request.device);
  settle_precision(request);
  AmpProblem problem{said.settled([&] { return settle_given_model(request); }),
                     {},
                     0,
                     request.seed,
                     request.device};
  settle_layers(request, problem.model);
  const std::string why = problem.model.channel->no_output(problem.model);
  if (!why.empty()) throw Refused(why);
  if (request.data) {
    problem.files =
        find_data(problem.model, *request.data, static_cast<std::size_t>(request.dim.value_or(0)));
    const DataFiles& data = *problem.files;
    request.dim = static_cast<int>(data.dim);
    if (request.alpha.empty()) request.alpha = {ratio_of(data.samples, data.dim)};
    for (const double alpha : request.alpha) require_samples(alpha, data);
  }
  problem.dim = static_cast<std::size_t>(*request.dim);
  problem.model = at_size(problem.model, problem.dim);
  return problem;
}

AmpSamples::AmpSamples(const AmpProblem& problem) : problem_(problem) {
  if (problem.files) stored_ = read_data(problem.model, *problem.files);
}

StoredData AmpSamples::at(double alpha, std::uint64_t run, const Context& context) const {
  const auto& [model, files, dim, seed, device] = problem_;
  const std::size_t samples = samples_of(alpha, dim);
  if (stored_) {
    Dataset data = stored_->data.first(samples);
    data.move_to(device);
    return {std::move(data), stored_->truth};
  }
  Teacher teacher = sample_teacher(model, dim, seed, run, context);
  Dataset data = sample_data(model, teacher, samples, {seed, run, device}, context);
  return {std::move(data), std::move(teacher.matrix)};
}

}  // namespace onset::aim
