#include <cmath>
#include <numbers>

#include "ssi/limits/landscape/cross_series.hpp"
#include "ssi/limits/phase/universal.hpp"

namespace onset::ssi {
namespace {

/// P(e) = E p = 1 - exp(-e^2/2) / (2 sqrt 2). [ssi 23]
Jet mean_diagonal(double e) {
  const double scale = std::exp(-0.5 * e * e) / (2.0 * std::numbers::sqrt2);
  Jet p;
  p.value = 1.0 - scale;
  p.e = e * scale;
  p.ee = (1.0 - e * e) * scale;
  return p;
}

class TwoTokenUniversal final : public Universal {
 public:
  explicit TwoTokenUniversal(CrossSeries series) : series_(std::move(series)) {}

  [[nodiscard]] std::size_t tokens() const override { return 2; }
  [[nodiscard]] Jet own_attention(bool, double e) const override { return mean_diagonal(e); }

  [[nodiscard]] Jet cross(double e, double m) const override {
    const Jet q = series_.cross(e, m);
    const Jet p = mean_diagonal(e);
    const double p0 = mean_diagonal(0.0).value;
    return {2.0 - 2.0 * p0 - 2.0 * p.value + 4.0 * q.value,
            4.0 * q.e - 2.0 * p.e,
            4.0 * q.m,
            4.0 * q.ee - 2.0 * p.ee,
            4.0 * q.em,
            4.0 * q.mm};
  }

  [[nodiscard]] Jet square(double e) const override {
    const Jet square = series_.square(e);
    const Jet p = mean_diagonal(e);
    return {2.0 * (2.0 * square.value - 2.0 * p.value + 1.0),
            4.0 * (square.e - p.e),
            0.0,
            4.0 * (square.ee - p.ee),
            0.0,
            0.0};
  }

 private:
  CrossSeries series_;
};

}  // namespace

std::shared_ptr<const Universal> two_token_universal(bool fine, const Context& context) {
  const auto p = attention_link({2, Reduction::projection, {}, {}});
  const SeriesAccuracy accuracy =
      fine ? SeriesAccuracy{} : SeriesAccuracy{0.2, 7.0, 110, 36, false};
  return std::make_shared<const TwoTokenUniversal>(
      cross_series(*p, *p, {1.0, -1.0}, true, accuracy, context));
}

}  // namespace onset::ssi
