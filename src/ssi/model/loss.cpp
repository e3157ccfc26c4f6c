#include "onset/ssi/model/loss.hpp"

#include <cmath>
#include <vector>

#include "numerics/simd/clones.hpp"

namespace onset::ssi {
namespace {

ONSET_CLONES void squares(std::size_t outputs, std::size_t count, const double* residual,
                          double* out) {
  for (std::size_t p = 0; p < count; ++p) out[p] = residual[p] * residual[p];
  for (std::size_t k = 1; k < outputs; ++k) {
    for (std::size_t p = 0; p < count; ++p) {
      out[p] += residual[k * count + p] * residual[k * count + p];
    }
  }
}

/// At a perfect fit the norm has no gradient; 0 is its subgradient that leaves the weights alone.
ONSET_CLONES void divide_by_norm(std::size_t outputs, std::size_t count, double* square,
                                 double* residual) {
  for (std::size_t p = 0; p < count; ++p) {
    square[p] = square[p] > 0.0 ? 1.0 / std::sqrt(square[p]) : 0.0;
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    for (std::size_t p = 0; p < count; ++p) residual[k * count + p] *= square[p];
  }
}

}  // namespace

std::string_view to_string(SampleLoss loss) {
  switch (loss) {
    case SampleLoss::half_squared: return "half-squared";
    case SampleLoss::squared: return "squared";
    case SampleLoss::frobenius: return "frobenius";
  }
  return "";
}

void loss_weights(SampleLoss loss, std::size_t outputs, std::size_t count, double* residual) {
  if (loss == SampleLoss::squared) {
    for (std::size_t i = 0; i < outputs * count; ++i) residual[i] *= 2.0;
  } else if (loss == SampleLoss::frobenius) {
    thread_local std::vector<double> square;
    square.resize(count);
    squares(outputs, count, residual, square.data());
    divide_by_norm(outputs, count, square.data(), residual);
  }
}

void loss_values(SampleLoss loss, std::size_t outputs, std::size_t count, const double* residual,
                 double* out) {
  squares(outputs, count, residual, out);
  for (std::size_t p = 0; p < count; ++p) {
    if (loss == SampleLoss::half_squared) out[p] *= 0.5;
    if (loss == SampleLoss::frobenius) out[p] = std::sqrt(out[p]);
  }
}

}  // namespace onset::ssi
