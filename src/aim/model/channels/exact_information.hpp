#pragma once

#include "aim/model/channel.hpp"

namespace onset::aim {

/// The information of labels that fix some combinations of the scores exactly: it is their number,
/// whatever q and V are.
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
