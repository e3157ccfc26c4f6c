#include "aim/verbs/model_options.hpp"

#include <utility>

#include "onset/aim/limits/spectrum.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

/// Beyond this a softmax is a hardmax to rounding, or flat.
constexpr double largest_beta = 1e6;

AttentionIndexed read_fields(const Parameters& p) {
  AttentionIndexed model;
  const std::string& channel = p.text("channel");
  model.channel = channel == "softmax"   ? ChannelKind::softmax
                  : channel == "hardmax" ? ChannelKind::hardmax
                                         : ChannelKind::linear;
  model.tokens = static_cast<int>(p.integer("tokens"));
  model.rho = p.real("rho");
  model.beta = p.real("beta");
  model.noise = p.real("noise");
  model.noise_kind = p.text("noise-kind") == "equal" ? NoiseKind::equal : NoiseKind::scaled;
  if (!p.values().contains("prior")) return model;
  model.prior = p.text("prior") == "wigner" ? PriorKind::wigner : PriorKind::wishart;
  model.layers = static_cast<int>(p.integer("layers"));
  const std::string& labels = p.text("labels");
  model.labels = labels == "separate" ? LayerLabels::separate
                 : labels == "sum"    ? LayerLabels::sum
                                      : LayerLabels::deep;
  model.published.density = p.text("output") == "density";
  model.published.off_scale = p.real("label-scale");
  return model;
}

}  // namespace

Parameter alpha_parameter() {
  Parameter alpha =
      make_parameter("alpha", ParameterKind::grid, {}, 0.0, 1e9,
                     "Sample ratios n/d^2 (samples over dimension squared); n/(d r) with --rho 0.");
  alpha.required = true;
  return alpha;
}

std::vector<Parameter> model_parameters() {
  std::vector<Parameter> list;
  list.push_back(make_word("channel", {"softmax", "hardmax", "linear"},
                           "What a label shows of the scores: softmax of each row, its largest "
                           "entry, or the scores themselves."));
  list.push_back(make_parameter("tokens", ParameterKind::integer, std::int64_t{2}, 1, max_tokens,
                                "Tokens T of a sample: 1 or more with linear, 2 or more with "
                                "softmax, 2 to 12 with hardmax."));
  list.push_back(make_parameter("rho", ParameterKind::real, 0.5, Spectrum::min_rho,
                                Spectrum::max_rho, "Width ratio rho = r/d of the matrix W."));
  list.push_back(make_parameter("beta", ParameterKind::real, 1.0, 0.0, largest_beta,
                                "Inverse temperature of softmax labels; no limit depends on it."));
  list.back().open_min = true;
  list.push_back(make_parameter("noise", ParameterKind::real, 0.0, 0.0, 1e6,
                                "Variance s of Gaussian noise on linear labels."));
  list.push_back(make_word("noise-kind", {"scaled", "equal"},
                           "scaled: variance s (1 + delta_ab), in proportion to the score's own; "
                           "equal: s on every entry a <= b."));
  return list;
}

std::vector<Parameter> limit_parameters() {
  std::vector<Parameter> list = model_parameters();
  for (Parameter& p : list) {
    if (p.name == "rho") {
      p.min = 0.0;
      p.text =
          "Width ratio rho = r/d of the matrix W; 0: the limit of small widths, alpha meaning "
          "n/(d r).";
    }
  }
  list.push_back(make_word("prior", {"wishart", "wigner"},
                           "Law of S: W W^T of width ratio rho, or a Gaussian symmetric matrix "
                           "(the limit of large widths without its mean; rho has no effect)."));
  list.push_back(make_parameter("layers", ParameterKind::integer, std::int64_t{1}, 1, max_layers,
                                "Layers, each with a matrix of its own."));
  list.push_back(make_word("labels", {"deep", "separate", "sum"},
                           "With several layers: one label of a deep network (refused: no closed "
                           "form), one for each layer, or one of the sum of their scores (needs "
                           "--prior wigner). With one layer all three are the same."));
  list.push_back(make_word("output", {"exact", "density"},
                           "Hardmax of two tokens: the Bayes-optimal output function, or the one "
                           "behind the published curves, for comparison."));
  list.push_back(make_parameter("label-scale", ParameterKind::real, 1.0, 0.01, 2.0,
                                "Hardmax of two tokens: variance of off-diagonal scores in labels "
                                "(2 in a published program)."));
  return list;
}

AttentionIndexed read_model(const Parameters& p) {
  const AttentionIndexed model = read_fields(p);
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
  return model;
}

}  // namespace onset::aim
