#include <cmath>

#include "onset/ssi/model/link.hpp"
#include "ssi/model/attention_matrix.hpp"

namespace onset::ssi {
namespace {

class MixtureLink final : public Link {
 public:
  MixtureLink(double a, double omega)
      : omega_(omega), alpha_(1.0 / (1.0 + std::exp(-2.0 * a * a))) {}
  [[nodiscard]] std::size_t tokens() const override { return 2; }
  [[nodiscard]] std::size_t outputs() const override { return 4; }
  [[nodiscard]] double value_ns() const override { return attention_ns(2); }
  void values(std::size_t count, const double* z, double* out) const override {
    two_token_attention(count, z, 1.0 - omega_, omega_ * alpha_, omega_ * (1.0 - alpha_), out);
  }
  void pullback(std::size_t count, const double* z, const double*, const double* weight,
                double* delta) const override {
    std::vector<double> f(4 * count);
    attention_matrix(2, count, z, f.data());
    attention_pullback(2, count, z, f.data(), weight, delta);
    for (std::size_t p = 0; p < 2 * count; ++p) delta[p] *= 1.0 - omega_;
  }

 private:
  double omega_;
  double alpha_;
};

}  // namespace

LinkPointer mixture_link(double a, double omega) {
  return std::make_shared<MixtureLink>(a, omega);
}

}  // namespace onset::ssi
