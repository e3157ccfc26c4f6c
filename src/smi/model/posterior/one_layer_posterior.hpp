#pragma once

#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// The posterior of one layer. The label fixes z up to a global sign, so the posterior has two
/// points and <z> = h tanh(h . omega / V) [smi 7].
class OneLayerPosterior final : public Posterior {
 public:
  explicit OneLayerPosterior(int tokens) : tokens_(tokens) {}
  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override;
  [[nodiscard]] bool exact() const override { return true; }

 private:
  int tokens_;
};

}  // namespace onset::smi
