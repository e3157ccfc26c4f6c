#pragma once

#include "aim/model/channel.hpp"

namespace onset::aim {

/// Labels that fix some combinations of the scores exactly tell as much as their number, whatever q
/// and V.
class ExactInformation : public Information {
 public:
  explicit ExactInformation(double shown) : shown_(shown) {}
  [[nodiscard]] Estimate operator()(double /*q*/, double /*v*/) const override {
    return {shown_, 0.0};
  }

 private:
  double shown_;
};

}  // namespace onset::aim
