#include "ssi/limits/sampled_landscape.hpp"

#include <algorithm>
#include <cmath>

#include "onset/numerics/gaussian_expectation.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t points = 1024;

class SampledLandscape final : public Landscape {
 public:
  SampledLandscape(const SequenceModel& model, std::uint64_t seed, const Context& context)
      : model_(model), seed_(seed), context_(context) {}

  /// With z = m z* + sqrt(1 - m^2) zeta + e pi, the slopes are E of delta times dz/de and dz/dm.
  [[nodiscard]] RiskPoint at(double e, double m) const override {
    numerics::ExpectationOptions options;
    options.dimensions = static_cast<int>(2 * model_.tokens());
    options.outputs = 3;
    options.points = points;
    options.seed = seed_;
    const auto rows = numerics::gaussian_expectation(
        options,
        [&](const numerics::NormalBatch& batch, std::span<double> out) {
          evaluate(e, m, batch, out);
        },
        context_);
    return {numerics::reduce(rows[0]), numerics::reduce(rows[1]), numerics::reduce(rows[2])};
  }

 private:
  void evaluate(double e, double m, const numerics::NormalBatch& batch,
                std::span<double> out) const {
    const std::size_t count = batch.count;
    const std::size_t tokens = model_.tokens();
    const std::size_t outputs = model_.target->outputs();
    const auto signs = model_.signs();
    const double q = std::sqrt(std::max(0.0, 1.0 - m * m));
    const double turn = q > 0.0 ? m / q : 0.0;
    const double* teacher = batch.normals.data();
    const double* zeta = teacher + tokens * count;
    std::vector<double> z(tokens * count);
    std::vector<double> delta(tokens * count);
    std::vector<double> y(outputs * count);
    std::vector<double> f(outputs * count);
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t p = i * count; p < (i + 1) * count; ++p) {
        z[p] = m * teacher[p] + q * zeta[p] + e * signs[i];
      }
    }
    model_.target->values(count, teacher, y.data());
    model_.student.link->values(count, z.data(), f.data());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = f[k] - y[k];
    loss_values(model_.loss, outputs, count, y.data(), out.data());
    loss_weights(model_.loss, outputs, count, y.data());
    model_.student.link->pullback(count, z.data(), f.data(), y.data(), delta.data());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), 0.0);
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t p = 0; p < count; ++p) {
        const double d = delta[i * count + p];
        out[count + p] += d * signs[i];
        out[2 * count + p] += d * (teacher[i * count + p] - turn * zeta[i * count + p]);
      }
    }
  }

  SequenceModel model_;
  std::uint64_t seed_;
  Context context_;
};

}  // namespace

std::unique_ptr<Landscape> sampled_landscape(const SequenceModel& model, std::uint64_t seed,
                                             const Context& context) {
  Context own = context;
  own.progress = nullptr;
  return std::make_unique<SampledLandscape>(model, seed, own);
}

}  // namespace onset::ssi
