#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/limits/origin_parts.hpp"

namespace onset::ssi {
namespace {

using numerics::HermiteSeries;

/// E |f|^2 as a function of the shift has the Hermite coefficients of |f|^2.
numerics::BatchFunction squared_norm(const Link& link) {
  return {link.tokens(), 1, [&link](std::size_t count, const double* x, double* out) {
            std::vector<double> f(link.outputs() * count);
            link.values(count, x, f.data());
            for (std::size_t p = 0; p < count; ++p) out[p] = 0.0;
            for (std::size_t k = 0; k < link.outputs(); ++k) {
              for (std::size_t p = 0; p < count; ++p) out[p] += f[k * count + p] * f[k * count + p];
            }
          }};
}

double product(const HermiteCoefficients& g, const HermiteSeries& f, std::size_t s) {
  double total = 0.0;
  f.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
    const auto found = g.values.find(std::vector<std::size_t>(k.begin(), k.end()));
    if (found == g.values.end()) return;
    for (std::size_t o = 0; o < g.outputs; ++o) total += found->second[o] * f.at(o, place);
  });
  return total;
}

/// taylor[j][s] by one rule: -c_s^(j)(0)/j!, and F^(j)(0)/(2 j!) for s = 0. [ssi 12]
std::vector<std::vector<double>> taylor_by(const SequenceModel& model, const Spectrum& spectrum,
                                           const numerics::Rule& rule, std::size_t degree) {
  const Link& link = *model.student.link;
  const auto signs = model.signs();
  HermiteSeries f = numerics::hermite_series(function_of(link), rule, degree).series;
  HermiteSeries square = numerics::hermite_series(squared_norm(link), rule, degree).series;
  std::vector<std::vector<double>> taylor;
  double factorial = 1.0;
  for (std::size_t j = 0; j <= (model.positional ? degree : 0); ++j) {
    if (j > 0) {
      factorial *= static_cast<double>(j);
      f = f.derivative(signs);
      square = square.derivative(signs);
    }
    std::vector<double> row(degree + 1 - j);
    for (std::size_t s = 0; s < row.size(); ++s) {
      row[s] = -product(spectrum.coefficients, f, s) / factorial;
    }
    row[0] += 0.5 * square.at(0, 0) / factorial;
    taylor.push_back(std::move(row));
  }
  return taylor;
}

}  // namespace

OriginExpansion quadrature_origin(const SequenceModel& model, const Spectrum& spectrum) {
  const std::size_t degree = spectrum.degrees.size() - 1;
  const bool three = model.tokens() > 2;
  const auto coarse =
      taylor_by(model, spectrum, numerics::normal_trapezoid(three ? 0.3 : 0.2, 9.0), degree);
  const auto fine =
      taylor_by(model, spectrum, numerics::normal_trapezoid(three ? 0.22 : 0.1, 9.5), degree);
  OriginExpansion origin = blank_origin(degree, model.positional);
  for (std::size_t j = 0; j < fine.size(); ++j) {
    for (std::size_t s = 0; s < fine[j].size(); ++s) {
      if (!std::isfinite(fine[j][s])) {
        throw Refused("the student has no finite second moment under Gaussian fields");
      }
      origin.taylor[j][s] = {fine[j][s], std::abs(fine[j][s] - coarse[j][s])};
    }
  }
  origin.taylor[0][0] = {};
  for (std::size_t s = 1; s <= degree; ++s) {
    origin.visible[s] = {-origin.taylor[0][s].value, origin.taylor[0][s].error};
  }
  return origin;
}

}  // namespace onset::ssi
