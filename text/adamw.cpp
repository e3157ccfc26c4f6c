#include "text/adamw.hpp"

#include <cmath>
#include <utility>

namespace onset::text {
namespace {

constexpr double keep_first = 0.9;
constexpr double keep_second = 0.999;
constexpr float floor_of_root = 1e-8F;

/// One step's numbers, the same for every parameter.
struct Factors {
  float shrink;        ///< of a parameter, by weight decay
  float rate;          ///< over the bias correction of the first moment
  float root_of_bias;  ///< square root of the bias correction of the second
};

void update(float* x, const float* gradient, std::vector<float>& first, std::vector<float>& second,
            const Factors& f) {
  constexpr auto b1 = static_cast<float>(keep_first);
  constexpr auto b2 = static_cast<float>(keep_second);
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = b1 * first[i] + (1.0F - b1) * gradient[i];
    second[i] = b2 * second[i] + (1.0F - b2) * gradient[i] * gradient[i];
    const float root = std::sqrt(second[i]) / f.root_of_bias + floor_of_root;
    x[i] = f.shrink * x[i] - f.rate * first[i] / root;
  }
}

}  // namespace

AdamW::AdamW(std::vector<torch::Tensor> parameters, double rate, double decay)
    : rate_(rate), decay_(decay), parameters_(std::move(parameters)) {
  for (const torch::Tensor& parameter : parameters_) {
    const auto size = static_cast<std::size_t>(parameter.numel());
    first_.emplace_back(size, 0.0F);
    second_.emplace_back(size, 0.0F);
  }
}

void AdamW::zero_gradients() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

void AdamW::step() {
  ++steps_;
  const double t = static_cast<double>(steps_);
  const Factors factors{static_cast<float>(1.0 - rate_ * decay_),
                        static_cast<float>(rate_ / (1.0 - std::pow(keep_first, t))),
                        static_cast<float>(std::sqrt(1.0 - std::pow(keep_second, t)))};
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const torch::Tensor gradient = parameters_[k].grad().contiguous();
    update(parameters_[k].data_ptr<float>(), gradient.data_ptr<float>(), first_[k], second_[k],
           factors);
  }
}

}  // namespace onset::text
