// Students sigma(u): one number per sample drives the step, so that besides the teacher's fields
// only one normal and one chi-square are needed. [ssi 32, 33]
#include <cmath>

#include "numerics/simd/clones.hpp"
#include "ssi/learners/chain/chain.hpp"

namespace onset::ssi {
namespace {

ONSET_CLONES void tied_field(std::size_t tokens, const StepDraws& draws, const double* m,
                             double* mean, double* u) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(tokens));
  const double* rest = draws.normals + tokens * draws.stride;
  for (std::size_t p = 0; p < lanes; ++p) mean[p] = 0.0;
  for (std::size_t i = 0; i < tokens; ++i) {
    const double* teacher = draws.normals + i * draws.stride;
    for (std::size_t p = 0; p < lanes; ++p) mean[p] += teacher[p];
  }
  for (std::size_t p = 0; p < lanes; ++p) {
    mean[p] *= scale;
    u[p] = m[p] * mean[p] + std::sqrt(std::max(0.0, 1.0 - m[p] * m[p])) * rest[p];
  }
}

ONSET_CLONES void tied_move(double h, const StepDraws& draws, std::size_t tokens,
                            const double* mean, const double* u, const double* delta, double* m) {
  const double* rest = draws.normals + tokens * draws.stride;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double d = delta[p];
    const double length = d * d * (mean[p] * mean[p] + rest[p] * rest[p] + draws.chi_square[p]);
    const double norm = 1.0 / std::sqrt(1.0 - 2.0 * h * d * u[p] + h * h * length);
    m[p] = (m[p] - h * d * mean[p]) * norm;
  }
}

/// What all lanes of untied students need for a step.
struct UntiedLanes {
  std::vector<double> overlaps;  ///< m_i of lane p at [i * lanes + p]
  Lanes norm{};                  ///< M = |m|/sqrt(L)
  Lanes u{};
  Lanes square{};  ///< |z*|^2
  Lanes delta{};   ///< dl/du
};

/// u = L^{-1/2} sum_i m_i z*_i + sqrt(1 - M^2) r, with M^2 = |m|^2/L.
ONSET_CLONES void untied_field(std::size_t tokens, const StepDraws& draws, UntiedLanes& x) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(tokens));
  const double* rest = draws.normals + tokens * draws.stride;
  const double* overlaps = x.overlaps.data();
  for (std::size_t p = 0; p < lanes; ++p) x.u[p] = x.square[p] = 0.0;
  for (std::size_t i = 0; i < tokens; ++i) {
    const double* teacher = draws.normals + i * draws.stride;
    for (std::size_t p = 0; p < lanes; ++p) {
      x.u[p] += overlaps[i * lanes + p] * teacher[p];
      x.square[p] += teacher[p] * teacher[p];
    }
  }
  for (std::size_t p = 0; p < lanes; ++p) {
    x.u[p] = x.u[p] * scale + std::sqrt(std::max(0.0, 1.0 - x.norm[p] * x.norm[p])) * rest[p];
  }
}

ONSET_CLONES void untied_move(double h, std::size_t tokens, const StepDraws& draws,
                              UntiedLanes& x) {
  const auto l = static_cast<double>(tokens);
  const double scale = 1.0 / std::sqrt(l);
  const double* rest = draws.normals + tokens * draws.stride;
  double* overlaps = x.overlaps.data();
  Lanes shrink;
  for (std::size_t p = 0; p < lanes; ++p) {
    const double d = x.delta[p];
    const double length = d * d * (x.square[p] + rest[p] * rest[p] + draws.chi_square[p]) / (l * l);
    shrink[p] = 1.0 / std::sqrt(1.0 - 2.0 * h * d * x.u[p] / l + h * h * length);
    x.norm[p] = 0.0;
  }
  for (std::size_t i = 0; i < tokens; ++i) {
    const double* teacher = draws.normals + i * draws.stride;
    for (std::size_t p = 0; p < lanes; ++p) {
      double& m = overlaps[i * lanes + p];
      m = (m - h * scale * x.delta[p] * teacher[p]) * shrink[p];
      x.norm[p] += m * m;
    }
  }
  for (std::size_t p = 0; p < lanes; ++p) x.norm[p] = std::sqrt(x.norm[p] / l);
}

/// dl/du from the field and the label.
class Slope {
 public:
  explicit Slope(const SequenceModel& model)
      : activation_(*model.student.activation), loss_(model.loss) {}

  void operator()(const double* u, const double* label, Lanes& delta) {
    activation_.gradient(lanes, u, residual_.data(), derivative_.data());
    for (std::size_t p = 0; p < lanes; ++p) residual_[p] -= label[p];
    loss_weights(loss_, 1, lanes, residual_.data());
    for (std::size_t p = 0; p < lanes; ++p) delta[p] = residual_[p] * derivative_[p];
  }

 private:
  const numerics::Expression& activation_;
  SampleLoss loss_;
  Lanes residual_{};
  Lanes derivative_{};
};

class TiedChain final : public Chain {
 public:
  TiedChain(const SequenceModel& model, double dim, double rate)
      : tokens_(model.tokens()), h_(rate / dim), degrees_(dim - 2.0), slope_(model) {}
  [[nodiscard]] std::size_t rows() const override { return tokens_ + 1; }
  [[nodiscard]] std::size_t rows_of_sample() const override { return rows(); }
  [[nodiscard]] double degrees() const override { return degrees_; }
  [[nodiscard]] const Lanes& overlap_e() const override { return e_; }
  [[nodiscard]] const Lanes& overlap_m() const override { return m_; }

  void start(Start start, double dim, std::uint64_t seed, std::size_t block) override {
    m_.fill(start == Start::overlapped ? 1.0 / std::sqrt(dim) : 0.0);
    if (start != Start::random) return;
    std::vector<double> c;
    sphere_coordinates(dim, 1, seed, block, c);
    std::copy_n(c.begin(), lanes, m_.begin());
  }

  void step(const StepDraws& draws) override {
    tied_field(tokens_, draws, m_.data(), mean_.data(), u_.data());
    slope_(u_.data(), draws.labels, delta_);
    tied_move(h_, draws, tokens_, mean_.data(), u_.data(), delta_.data(), m_.data());
  }

 private:
  std::size_t tokens_;
  double h_;
  double degrees_;
  Slope slope_;
  Lanes e_{};
  Lanes m_{};
  Lanes mean_{};
  Lanes u_{};
  Lanes delta_{};
};

class UntiedChain final : public Chain {
 public:
  UntiedChain(const SequenceModel& model, double dim, double rate)
      : tokens_(model.tokens()),
        h_(rate / dim),
        degrees_(static_cast<double>(tokens_) * (dim - 1.0) - 1.0),
        slope_(model) {}
  [[nodiscard]] std::size_t rows() const override { return tokens_ + 1; }
  [[nodiscard]] std::size_t rows_of_sample() const override { return rows(); }
  [[nodiscard]] double degrees() const override { return degrees_; }
  [[nodiscard]] const Lanes& overlap_e() const override { return e_; }
  [[nodiscard]] const Lanes& overlap_m() const override { return x_.norm; }

  void start(Start start, double dim, std::uint64_t seed, std::size_t block) override {
    const auto l = static_cast<double>(tokens_);
    x_.overlaps.assign(tokens_ * lanes, start == Start::overlapped ? 1.0 / std::sqrt(dim) : 0.0);
    if (start == Start::random) {
      // W is uniform on a sphere of radius sqrt(L d) in L d dimensions.
      sphere_coordinates(l * dim, tokens_, seed, block, x_.overlaps);
      for (double& m : x_.overlaps) m *= std::sqrt(l);
    }
    x_.norm.fill(0.0);
    for (std::size_t i = 0; i < tokens_; ++i) {
      for (std::size_t p = 0; p < lanes; ++p) {
        x_.norm[p] += x_.overlaps[i * lanes + p] * x_.overlaps[i * lanes + p];
      }
    }
    for (double& x : x_.norm) x = std::sqrt(x / l);
  }

  void step(const StepDraws& draws) override {
    untied_field(tokens_, draws, x_);
    slope_(x_.u.data(), draws.labels, x_.delta);
    untied_move(h_, tokens_, draws, x_);
  }

 private:
  std::size_t tokens_;
  double h_;
  double degrees_;
  Slope slope_;
  UntiedLanes x_{};
  Lanes e_{};
};

}  // namespace

std::unique_ptr<Chain> tied_chain(const SequenceModel& model, double dim, double rate) {
  return std::make_unique<TiedChain>(model, dim, rate);
}

std::unique_ptr<Chain> untied_chain(const SequenceModel& model, double dim, double rate) {
  return std::make_unique<UntiedChain>(model, dim, rate);
}

}  // namespace onset::ssi
