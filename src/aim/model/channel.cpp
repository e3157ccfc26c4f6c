#include "aim/model/channel.hpp"

#include "onset/core/error.hpp"

namespace onset::aim {

std::size_t Channel::label_size(std::size_t tokens) const {
  std::size_t size = 1;
  for (const std::size_t n : label_shape(tokens)) size *= n;
  return size;
}

std::string Channel::why_never_perfect(const AttentionIndexed& /*model*/) const {
  return "noise leaves an error at every alpha";
}

InformationPlan Channel::information_plan(const AttentionIndexed& /*model*/) const {
  return {};
}

std::string Channel::no_output(const AttentionIndexed& /*model*/) const {
  return {};
}

double Channel::squared_error(const AttentionIndexed& /*model*/, std::span<const double> /*y*/,
                              std::span<const double> /*scores*/,
                              std::span<double> /*slope*/) const {
  throw Refused(no_gradient());
}

}  // namespace onset::aim
