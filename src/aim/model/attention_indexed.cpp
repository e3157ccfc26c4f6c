#include "onset/aim/model/attention_indexed.hpp"

#include <cmath>
#include <string>

#include "onset/aim/limits/spectrum.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {
namespace {

void require(bool good, const char* field, const Value& value, const std::string& allowed) {
  if (!good) throw InvalidArgument(field, to_text(value) + " is not possible; allowed: " + allowed);
}

void check_tokens(const AttentionIndexed& model) {
  const bool linear = model.channel == ChannelKind::linear;
  const int least = linear ? 1 : 2;
  const int most = model.channel == ChannelKind::hardmax ? max_hardmax_tokens : max_tokens;
  if (model.tokens >= least && model.tokens <= most) return;
  const std::string why =
      model.tokens < 2 && !linear ? " shows nothing: a row of one score has no choice" : "";
  throw InvalidArgument("tokens", std::to_string(model.tokens) + " with a " +
                                      std::string(to_string(model.channel)) + " channel" + why +
                                      "; allowed: " + std::to_string(least) + " to " +
                                      std::to_string(most));
}

void check_layers(const AttentionIndexed& model) {
  require(model.layers >= 1 && model.layers <= max_layers, "layers", std::int64_t{model.layers},
          "1 to " + std::to_string(max_layers));
  if (model.layers == 1 || model.labels == LayerLabels::separate) return;
  if (model.labels == LayerLabels::deep) {
    throw Refused(
        "several layers behind one label: state evolution needs the joint denoiser of the layers' "
        "matrices, which has no closed form when q_hat is not diagonal; possible are --labels "
        "separate (a label for each layer) and --labels sum with --prior wigner");
  }
  if (model.prior != PriorKind::wigner) {
    throw Refused(
        "a label of the sum of several layers' scores makes q_hat a full matrix, and with Wishart "
        "priors the joint denoiser has no closed form; possible are --prior wigner and --labels "
        "separate");
  }
}

}  // namespace

std::string_view to_string(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::softmax: return "softmax";
    case ChannelKind::hardmax: return "hardmax";
    case ChannelKind::linear: break;
  }
  return "linear";
}

void AttentionIndexed::validate() const {
  check_tokens(*this);
  require(std::isfinite(rho) && rho >= 0.0 && rho <= Spectrum::max_rho, "rho", rho,
          "0 (the limit of small widths) to 1e6");
  require(std::isfinite(beta) && beta > 0.0, "beta", beta, "a number above 0");
  require(std::isfinite(noise) && noise >= 0.0, "noise", noise, "0 or more");
  require(noise == 0.0 || channel == ChannelKind::linear, "noise", noise,
          "0; only --channel linear has noise");
  const bool as_published = published.density || published.off_scale != 1.0;
  if (as_published && (channel != ChannelKind::hardmax || tokens != 2)) {
    throw InvalidArgument(published.density ? "output" : "label-scale",
                          "is for hardmax of two tokens; allowed: leaving it out");
  }
  require(published.off_scale > 0.0 && published.off_scale <= 2.0, "label-scale",
          published.off_scale, "above 0, at most 2");
  check_layers(*this);
}

}  // namespace onset::aim
