#include "ssi/limits/landscape/cross_series.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/quadrature/chebyshev.hpp"
#include "onset/core/error.hpp"
#include "ssi/limits/spectrum/link_projection.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

struct Bent {
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
};

Bent along_e(const double* a, const numerics::ChebyshevBasis& basis) {
  Bent sum;
  for (std::size_t j = 0; j < basis.value.size(); ++j) {
    sum.value += a[j] * basis.value[j];
    sum.slope += a[j] * basis.slope[j];
    sum.curvature += a[j] * basis.curvature[j];
  }
  return sum;
}

void require_small(const Link& link) {
  constexpr std::size_t max_grid_tokens = 3;
  if (link.tokens() > max_grid_tokens) {
    throw InvalidArgument("tokens", "a grid serves up to 3 tokens");
  }
}

}  // namespace

Jet CrossSeries::cross(double e, double m) const {
  return cross(e, m, degree_);
}

Jet CrossSeries::cross(double e, double m, std::size_t last) const {
  const auto basis = numerics::chebyshev_basis(e, nodes_);
  Jet x;
  double before = 0.0;    // m^(s-1)
  double before_2 = 0.0;  // m^(s-2)
  double power = 1.0;
  for (std::size_t s = 0; s <= std::min(last, degree_); ++s) {
    const Bent c = along_e(coefficients_.data() + s * nodes_, basis);
    const auto order = static_cast<double>(s);
    x.value += c.value * power;
    x.e += c.slope * power;
    x.ee += c.curvature * power;
    x.m += c.value * order * before;
    x.em += c.slope * order * before;
    x.mm += c.value * order * (order - 1.0) * before_2;
    before_2 = before;
    before = power;
    power *= m;
  }
  return x;
}

Jet CrossSeries::square(double e) const {
  const Bent f = along_e(square_.data(), numerics::chebyshev_basis(e, nodes_));
  Jet x;
  x.value = f.value;
  x.e = f.slope;
  x.ee = f.curvature;
  return x;
}

CrossSeries cross_series(const Link& target, const Link& student, const std::vector<double>& shifts,
                         bool positional, const SeriesAccuracy& accuracy, const Context& context) {
  require_small(target);
  const std::size_t degree = accuracy.degree;
  const std::size_t nodes = positional ? accuracy.nodes : 1;
  const auto rule = numerics::normal_trapezoid(accuracy.step, accuracy.width);
  const LinkProjection how{rule, degree, accuracy.fine};
  CrossSeries series(degree, nodes);
  const auto g = project_link(target, how, context);
  series.target_square_ = g.square;
  const auto points = positional ? numerics::chebyshev_points(nodes) : std::vector<double>{0.0};
  std::vector<double> values((degree + 2) * nodes);  // c_s and F at every point
  std::vector<double> rests(nodes);
  numerics::parallel_for(context, nodes, [&](std::size_t i) {
    std::vector<double> shift = shifts;
    for (double& x : shift) x *= points[i];
    const auto f = project_shifted(student, how, shift, context);
    for (std::size_t s = 0; s <= degree; ++s) values[s * nodes + i] = g.series.product(f.series, s);
    values[(degree + 1) * nodes + i] = f.square;
    rests[i] = f.rest();
  });
  for (std::size_t s = 0; s <= degree + 1; ++s) {
    const auto a = numerics::chebyshev_coefficients(std::span(values).subspan(s * nodes, nodes));
    double* row = s <= degree ? series.coefficients_.data() + s * nodes : series.square_.data();
    std::copy(a.begin(), a.end(), row);
  }
  for (const double rest : rests) {
    series.tail_ = std::max(series.tail_, std::sqrt(g.rest() * rest));
  }
  return series;
}

CrossSeries activation_series(const SequenceModel& model, std::size_t degree, bool fine,
                              const Context& context) {
  const auto sigma = project_exactly(activation_part(*model.student.activation), degree, context);
  const auto& f = fine ? sigma->fine : sigma->coarse;
  HermiteCoefficients g;
  g.tokens = model.tokens();
  g.outputs = 1;
  double rest = 0.0;
  for (const TokenPart& part : token_parts(*model.target)) {
    const auto bracket = project_exactly(part, degree, context);
    if (!bracket) {
      throw Refused(
          "the risk of a tied student is computed for targets that are sums of functions "
          "of at most two tokens");
    }
    const auto& projected = fine ? bracket->fine : bracket->coarse;
    rest += projected.rest();
    add_projection(part, projected, g);
  }
  CrossSeries series(degree, 1);
  const std::vector<double> mean(model.tokens(),
                                 1.0 / std::sqrt(static_cast<double>(model.tokens())));
  series.target_square_ = rest;
  for (const auto& entry : g.values) series.target_square_ += entry.second[0] * entry.second[0];
  for (std::size_t s = 0; s <= degree; ++s) {
    series.coefficients_[s] = f.series.at(0, s) * g.along(mean, s);
  }
  series.square_[0] = f.square;
  series.tail_ = std::sqrt(rest * f.rest());
  return series;
}

}  // namespace onset::ssi
