#include "device/posteriors.hpp"

#include "device/device.hpp"
#include "onset/core/error.hpp"

namespace onset::device {

Posteriors::Posteriors(const OnsetNetwork& network)
    : plugin_(needed_plugin()), posteriors_(plugin_.make_posteriors(&network)) {
  if (posteriors_ == nullptr) throw IoError("device", plugin_.error());
}

Posteriors::~Posteriors() {
  plugin_.forget_posteriors(posteriors_);
}

void Posteriors::sums(const OnsetSamples& samples, std::span<double> out) const {
  if (plugin_.posterior_sums(posteriors_, &samples, out.data()) != 0) {
    throw IoError("device", plugin_.error());
  }
}

}  // namespace onset::device
