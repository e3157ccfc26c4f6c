#include <cmath>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/core/error.hpp"
#include "ssi/limits/origin/origin_methods.hpp"
#include "ssi/limits/origin/pair_kernels.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t origin_points = 1 << 13;

/// The degree-s part of the target at a batch of points, all outputs: G_s = sum_{|k|=s} g_k h_k.
class DegreeParts {
 public:
  DegreeParts(const HermiteCoefficients& g, std::size_t degree) : g_(g), degree_(degree) {}

  /// parts[(s * outputs + o) * count + p]
  void evaluate(std::size_t count, const double* z, std::vector<double>& parts) const {
    std::vector<double> h(g_.tokens * (degree_ + 1));
    parts.assign((degree_ + 1) * g_.outputs * count, 0.0);
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t i = 0; i < g_.tokens; ++i) {
        numerics::hermite_polynomials(z[i * count + p],
                                      std::span(h).subspan(i * (degree_ + 1), degree_ + 1));
      }
      for (const auto& [k, value] : g_.values) {
        double product = 1.0;
        std::size_t s = 0;
        for (std::size_t i = 0; i < k.size(); ++i) {
          if (k[i] > 0) product *= h[i * (degree_ + 1) + k[i]];
          s += k[i];
        }
        for (std::size_t o = 0; o < g_.outputs; ++o) {
          parts[(s * g_.outputs + o) * count + p] += product * value[o];
        }
      }
    }
  }

 private:
  const HermiteCoefficients& g_;
  std::size_t degree_;
};

/// Rows of the expectation: |f|^2; for every s >= 1 the part that m^s sees; then R_ee.
void rows_from_coefficients(const SequenceModel& model, const DegreeParts& target,
                            std::size_t degree, const numerics::NormalBatch& batch,
                            std::span<double> out) {
  const std::size_t count = batch.count;
  const std::size_t outputs = model.target->outputs();
  const auto shifts = model.shifts();
  std::vector<double> f(outputs * count);
  std::vector<double> parts;
  model.student.link->values(count, batch.normals.data(), f.data());
  target.evaluate(count, batch.normals.data(), parts);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t p = 0; p < count; ++p) {
    double along = 0.0;
    double length = 0.0;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      along += shifts[i] * batch.normals[i * count + p];
      length += shifts[i] * shifts[i];
    }
    const double second = along * along - length;  // d^2/de^2 acting to the left
    for (std::size_t o = 0; o < outputs; ++o) {
      const double value = f[o * count + p];
      out[p] += value * value;
      for (std::size_t s = 1; s <= degree; ++s) {
        out[s * count + p] -= value * parts[(s * outputs + o) * count + p];
      }
      out[(degree + 1) * count + p] +=
          (0.5 * value * value - value * parts[o * count + p]) * second;
    }
  }
}

/// Rows for a target without coefficients: pairs (z*, z) of independent fields and the kernels of
/// degrees 1 and 2, sum_{|k|=s} h_k(z*) h_k(z). [ssi 14]
void rows_from_pairs(const SequenceModel& model, std::size_t degree,
                     const numerics::NormalBatch& batch, std::span<double> out) {
  const std::size_t count = batch.count;
  const std::size_t tokens = model.tokens();
  const std::size_t outputs = model.target->outputs();
  const auto shifts = model.shifts();
  const EncodingShifts both{model.teacher_shifts(), shifts};
  const double* teacher = batch.normals.data();
  const double* z = teacher + tokens * count;
  std::vector<double> g(outputs * count);
  std::vector<double> f(outputs * count);
  model.target->values(count, teacher, g.data());
  model.student.link->values(count, z, f.data());
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t p = 0; p < count; ++p) {
    const PairKernels kernels = pair_kernels(both, count, p, teacher, z);
    double product = 0.0;
    double square = 0.0;
    for (std::size_t o = 0; o < outputs; ++o) {
      product += g[o * count + p] * f[o * count + p];
      square += f[o * count + p] * f[o * count + p];
    }
    out[p] = square;
    out[count + p] = -product * kernels.along_m;
    out[2 * count + p] = -0.5 * product * kernels.second_along_m;
    out[(degree + 1) * count + p] = (0.5 * square - product) * kernels.second_along_e;
  }
}

/// The norm of the difference of the target's two sets of coefficients, of one degree.
double coefficient_error(const Spectrum& spectrum, std::size_t s) {
  double square = 0.0;
  for (const auto& [k, values] : spectrum.coefficients.values) {
    std::size_t degree = 0;
    for (const std::size_t order : k) degree += order;
    const auto other = spectrum.coarse.values.find(k);
    if (degree != s || other == spectrum.coarse.values.end()) continue;
    for (std::size_t o = 0; o < values.size(); ++o) {
      square += (values[o] - other->second[o]) * (values[o] - other->second[o]);
    }
  }
  return std::sqrt(square);
}

}  // namespace

OriginExpansion sampled_origin(const SequenceModel& model, const Spectrum& spectrum,
                               std::uint64_t seed, const Context& context) {
  const std::size_t degree = spectrum.degrees.size() - 1;
  const DegreeParts target(spectrum.coefficients, degree);
  numerics::ExpectationOptions options;
  options.dimensions = static_cast<int>(model.tokens() * (spectrum.exact ? 1 : 2));
  options.outputs = static_cast<int>(degree + 2);
  options.points = origin_points;
  options.seed = seed;
  const auto rows = numerics::gaussian_expectation(
      options,
      [&](const numerics::NormalBatch& batch, std::span<double> out) {
        if (spectrum.exact) {
          rows_from_coefficients(model, target, degree, batch, out);
        } else {
          rows_from_pairs(model, degree, batch, out);
        }
      },
      context);
  OriginExpansion origin = blank_origin(degree, model.positional);
  const double unknown = std::sqrt(spectrum.square);
  const double student = std::sqrt(std::max(0.0, numerics::reduce(rows[0]).value));
  for (std::size_t s = 1; s <= degree; ++s) {
    Estimate row = numerics::reduce(rows[s]);
    // By Cauchy and Schwarz the errors of the target's coefficients cannot contribute more.
    row.error += student * coefficient_error(spectrum, s);
    const bool computed = spectrum.exact || s <= 2;
    origin.taylor[0][s] = computed ? row : Estimate{0.0, unknown};
    origin.visible[s] = {-origin.taylor[0][s].value, origin.taylor[0][s].error};
  }
  if (!model.positional) return origin;
  // Beyond the curvature nothing about e was computed, and the errors say so.
  for (std::size_t j = 1; j <= degree; ++j) {
    for (Estimate& x : origin.taylor[j]) x = {0.0, unknown};
  }
  Estimate second = numerics::reduce(rows[degree + 1]);
  // E of the squared second derivative of the density's logarithm along pi is 2 |pi|^4.
  double length = 0.0;
  for (const double shift : model.shifts()) length += shift * shift;
  second.error += student * coefficient_error(spectrum, 0) * std::sqrt(2.0) * length;
  origin.taylor[2][0] = {0.5 * second.value, 0.5 * second.error};
  return origin;
}

}  // namespace onset::ssi
