#include "text/adamw.hpp"

#include <cmath>

namespace onset::text {
namespace {

constexpr double keep_first = 0.9;
constexpr double keep_second = 0.999;
constexpr float floor_of_root = 1e-8F;

/// The numbers of one step, which are the same for all that is trained.
struct Factors {
  float shrink;        ///< the factor of weight decay
  float rate;          ///< the rate over the bias correction of the first moment
  float root_of_bias;  ///< square root of the bias correction of the second
};

void update(const Trained& trained, float* first, float* second, const Factors& f) {
  constexpr auto b1 = static_cast<float>(keep_first);
  constexpr auto b2 = static_cast<float>(keep_second);
  float* x = trained.values.data();
  const float* gradient = trained.gradient.data();
  for (std::size_t i = 0; i < trained.values.size(); ++i) {
    first[i] = b1 * first[i] + (1.0F - b1) * gradient[i];
    second[i] = b2 * second[i] + (1.0F - b2) * gradient[i] * gradient[i];
    const float root = std::sqrt(second[i]) / f.root_of_bias + floor_of_root;
    x[i] = f.shrink * x[i] - f.rate * first[i] / root;
  }
}

}  // namespace

void AdamW::step(std::span<const Trained> all) {
  ++steps_;
  const double t = static_cast<double>(steps_);
  const Factors factors{static_cast<float>(1.0 - rate_ * decay_),
                        static_cast<float>(rate_ / (1.0 - std::pow(keep_first, t))),
                        static_cast<float>(std::sqrt(1.0 - std::pow(keep_second, t)))};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t size = all[k].values.size();
    if (k == moments_.size()) moments_.push_back({{}, {}});
    moments_[k].first.resize(size);
    moments_[k].second.resize(size);
    update(all[k], moments_[k].first.data(), moments_[k].second.data(), factors);
  }
}

}  // namespace onset::text
