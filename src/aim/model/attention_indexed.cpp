#include "aim/model/attention_indexed.hpp"

#include <cmath>
#include <string>

#include "aim/model/channel.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {
namespace {

void require(bool good, const char* field, const Value& value, const std::string& allowed) {
  if (!good) throw InvalidArgument(field, to_text(value) + " is not possible; allowed: " + allowed);
}

void check_tokens(const AttentionIndexed& model) {
  const TokenRange range = model.channel->tokens();
  if (model.tokens >= range.min && model.tokens <= range.max) return;
  throw InvalidArgument(
      "tokens", std::to_string(model.tokens) + " with a " + std::string(model.channel->name()) +
                    " channel" +
                    (model.tokens < range.min ? ", whose labels would show nothing" : "") +
                    "; allowed: " + std::to_string(range.min) + " to " + std::to_string(range.max));
}

/// Checks the fields that only some channels have.
void check_channel(const AttentionIndexed& model) {
  require(model.noise_variance == 0.0 || model.channel->takes_noise(), "noise_variance",
          model.noise_variance,
          "0 (and no `noise`): " + std::string(model.channel->name()) + " labels have no noise");
  const PublishedHardmax& published = model.published;
  const bool as_published = published.density || published.off_scale != 1.0;
  if (as_published && !model.channel->has_published_form(model.tokens)) {
    throw InvalidArgument(published.density ? "output" : "label_scale",
                          "is for hardmax of two tokens; allowed: leaving it out");
  }
}

/// Several layers behind one label: which of them have a state evolution that closes, and a channel
/// that is computed [aim 42].
void check_deep(const AttentionIndexed& model) {
  if (model.prior != PriorKind::wigner) {
    throw Refused(
        "several layers behind one label: state evolution needs the joint denoiser of the layers' "
        "matrices, which has no closed form when q_hat is not diagonal, and with Wishart matrices "
        "it is not; possible are `prior = wigner` and `labels = separate` (a label for each "
        "layer)");
  }
  if (model.channel != &softmax_channel() || model.noise_variance > 0.0) {
    throw Refused(
        "several layers behind one label are computed for labels that are the softmax of the last "
        "one, without noise; possible: `channel = softmax` without noise, and "
        "`labels = separate`");
  }
  if (model.layers != 2 || model.tokens != 2) {
    throw Refused(
        "what one label tells of L layers of T tokens is an integral over (L - 1) (T (T + 1)/2 - "
        "1) numbers for every label; it is done for two layers of two tokens (2 numbers), and "
        "there are " +
        std::to_string((model.layers - 1) * (static_cast<int>(model.scores()) - 1)) +
        "; possible: `layers = 2` with `tokens = 2`, and `labels = separate`");
  }
}

void check_layers(const AttentionIndexed& model) {
  require(model.layers >= 1 && model.layers <= max_layers, "layers", std::int64_t{model.layers},
          "1 to " + std::to_string(max_layers));
  require(model.skip >= 0.0 && model.skip <= max_skip, "skip", model.skip, "0 to 1000");
  if (model.is_deep()) return check_deep(model);
  if (model.skip != AttentionIndexed{}.skip) {
    throw InvalidArgument("skip",
                          "is the connection between layers behind one label (`layers = 2`, "
                          "`labels = deep`), and has no effect here; allowed: leaving it out");
  }
  if (model.layers == 1 || model.labels == LayerLabels::separate) return;
  if (model.prior != PriorKind::wigner) {
    throw Refused(
        "a label of the sum of several layers' scores makes q_hat a full matrix, and with Wishart "
        "priors the joint denoiser has no closed form; possible are `prior = wigner` and "
        "`labels = separate`");
  }
}

}  // namespace

void AttentionIndexed::validate() const {
  check_tokens(*this);
  require(rho == 0.0 || (rho >= min_rho && rho <= max_rho), "rho", rho,
          "1e-6 to 1e6, or 0 (the limit of small widths)");
  require(beta >= min_beta && beta <= max_beta, "beta", beta, "1e-6 to 1e6");
  require(std::isfinite(noise_variance) && noise_variance >= 0.0, "noise_variance", noise_variance,
          "0 or more");
  require(published.off_scale > 0.0 && published.off_scale <= 2.0, "label_scale",
          published.off_scale, "above 0, at most 2");
  check_channel(*this);
  check_layers(*this);
}

}  // namespace onset::aim
