#include "onset/numerics/interpolation.hpp"

#include <boost/math/interpolators/barycentric_rational.hpp>

#include "onset/core/error.hpp"

namespace onset::numerics {

struct Interpolant::Rational {
  boost::math::barycentric_rational<double> function;
};

Interpolant::Interpolant(std::vector<double> nodes, std::vector<double> values) {
  if (nodes.size() < 4 || nodes.size() != values.size()) {
    throw InvalidArgument("nodes", "allowed: 4 or more, as many as values");
  }
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (!(nodes[i] > nodes[i - 1])) throw InvalidArgument("nodes", "must increase strictly");
  }
  front_ = nodes.front();
  back_ = nodes.back();
  rational_ = std::make_shared<const Rational>(
      Rational{boost::math::barycentric_rational<double>(std::move(nodes), std::move(values))});
}

double Interpolant::operator()(double x) const {
  return rational_->function(x);
}

}  // namespace onset::numerics
