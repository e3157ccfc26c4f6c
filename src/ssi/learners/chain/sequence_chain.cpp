#include <cmath>

#include "numerics/simd/clones.hpp"
#include "ssi/learners/chain/chain.hpp"

namespace onset::ssi {
namespace {

/// Components of the encodings along the teacher, tau_i, and along P, pi_i.
struct Shifts {
  const double* teacher;
  const double* own;
};

/// z_i = m (z*_i + tau_i) + q zeta_i + e pi_i, q = sqrt(1 - m^2). [ssi 41]
ONSET_CLONES void fields(std::size_t tokens, const Shifts& shifts, const StepDraws& draws,
                         const double* e, const double* m, double* q, double* z) {
  for (std::size_t p = 0; p < lanes; ++p) q[p] = std::sqrt(std::max(0.0, 1.0 - m[p] * m[p]));
  for (std::size_t i = 0; i < tokens; ++i) {
    const double* teacher = draws.normals + i * draws.stride;
    const double* zeta = draws.normals + (tokens + i) * draws.stride;
    for (std::size_t p = 0; p < lanes; ++p) {
      z[i * lanes + p] =
          m[p] * (teacher[p] + shifts.teacher[i]) + q[p] * zeta[p] + e[p] * shifts.own[i];
    }
  }
}

/// The sums over tokens that a step needs: of delta times z* + tau, zeta, z and pi, and |delta|^2.
struct Sums {
  Lanes teacher, zeta, radial, square, shift;
};

/// Adds those of one sample.
ONSET_CLONES void add_token_sums(std::size_t tokens, const Shifts& shifts, const StepDraws& draws,
                                 const double* z, const double* delta, Sums& sums) {
  for (std::size_t i = 0; i < tokens; ++i) {
    const double* teacher = draws.normals + i * draws.stride;
    const double* zeta = draws.normals + (tokens + i) * draws.stride;
    for (std::size_t p = 0; p < lanes; ++p) {
      const double d = delta[i * lanes + p];
      sums.teacher[p] += d * (teacher[p] + shifts.teacher[i]);
      sums.zeta[p] += d * zeta[p];
      sums.radial[p] += d * z[i * lanes + p];
      sums.square[p] += d * d;
      sums.shift[p] += d * shifts.own[i];
    }
  }
}

/// One step with a positional encoding [ssi 31]: the gradient's component along P, and along the
/// rest of w, share zeta and one more normal.
ONSET_CLONES void move_both(double h, const Sums& sums, const double* extra, const double* chi,
                            const double* q, double* e, double* m) {
  for (std::size_t p = 0; p < lanes; ++p) {
    const double s = std::sqrt(std::max(0.0, q[p] * q[p] - e[p] * e[p]));
    const double inverse = q[p] > 0.0 ? 1.0 / q[p] : 0.0;
    const double across = std::sqrt(sums.square[p]) * extra[p];
    const double a = sums.teacher[p];
    const double b = (e[p] * sums.zeta[p] + s * across) * inverse + sums.shift[p];
    const double c = (s * sums.zeta[p] - e[p] * across) * inverse;
    const double length = a * a + b * b + c * c + sums.square[p] * chi[p];
    const double norm = 1.0 / std::sqrt(1.0 - 2.0 * h * sums.radial[p] + h * h * length);
    m[p] = (m[p] - h * a) * norm;
    e[p] = (e[p] - h * b) * norm;
  }
}

/// One step without a positional encoding. [ssi 30]
ONSET_CLONES void move_one(double h, const Sums& sums, const double* chi, double* m) {
  for (std::size_t p = 0; p < lanes; ++p) {
    const double a = sums.teacher[p];
    const double c = sums.zeta[p];
    const double length = a * a + c * c + sums.square[p] * chi[p];
    const double norm = 1.0 / std::sqrt(1.0 - 2.0 * h * sums.radial[p] + h * h * length);
    m[p] = (m[p] - h * a) * norm;
  }
}

class SequenceChain final : public SequenceState {
 public:
  SequenceChain(const SequenceModel& model, double dim, double rate, std::size_t batch)
      : SequenceState(model, dim, rate, batch),
        model_(model),
        batch_(batch),
        tokens_(model.tokens()),
        outputs_(model.target->outputs()),
        teacher_shifts_(model.teacher_shifts()),
        own_shifts_(model.shifts()),
        z_(tokens_ * lanes),
        delta_(tokens_ * lanes),
        f_(outputs_ * lanes),
        residual_(outputs_ * lanes) {}

  void step(const StepDraws& draws) override {
    sums_ = {};
    for (std::size_t b = 0; b < batch_; ++b) {
      StepDraws sample = draws;
      sample.normals += b * rows_of_sample() * draws.stride;
      sample.labels += b * outputs_ * draws.stride;
      add_sample(sample);
    }
    if (positional_) {
      move_both(h_, sums_, draws.normals + (rows() - 1) * draws.stride, draws.chi_square, q_.data(),
                e_.data(), m_.data());
    } else {
      move_one(h_, sums_, draws.chi_square, m_.data());
    }
  }

 private:
  void add_sample(const StepDraws& draws) {
    const Shifts shifts{teacher_shifts_.data(), own_shifts_.data()};
    fields(tokens_, shifts, draws, e_.data(), m_.data(), q_.data(), z_.data());
    model_.student.link->values(lanes, z_.data(), f_.data());
    for (std::size_t k = 0; k < outputs_; ++k) {
      const double* y = draws.labels + k * draws.stride;
      for (std::size_t p = 0; p < lanes; ++p) {
        residual_[k * lanes + p] = f_[k * lanes + p] - y[p];
      }
    }
    loss_weights(model_.loss, outputs_, lanes, residual_.data());
    model_.student.link->pullback(lanes, z_.data(), f_.data(), residual_.data(), delta_.data());
    if (batch_ > 1) {
      for (double& slope : delta_) slope /= static_cast<double>(batch_);
    }
    add_token_sums(tokens_, shifts, draws, z_.data(), delta_.data(), sums_);
  }

  const SequenceModel& model_;
  std::size_t batch_;
  std::size_t tokens_;
  std::size_t outputs_;
  std::vector<double> teacher_shifts_;
  std::vector<double> own_shifts_;
  std::vector<double> z_;
  std::vector<double> delta_;
  std::vector<double> f_;
  std::vector<double> residual_;
  Sums sums_{};
  Lanes q_{};
};

}  // namespace

SequenceState::SequenceState(const SequenceModel& model, double dim, double rate, std::size_t batch)
    : positional_(model.positional),
      rows_of_sample_(2 * model.tokens()),
      rows_(batch * rows_of_sample_ + (positional_ ? 1 : 0)),
      h_(rate / dim),
      degrees_(dim - (positional_ ? 3.0 : 2.0)) {}

void SequenceState::start(Start start, double dim, std::uint64_t seed, std::size_t block) {
  e_.fill(0.0);
  m_.fill(start == Start::overlapped ? 1.0 / std::sqrt(dim) : 0.0);
  if (start != Start::random) return;
  std::vector<double> c;
  sphere_coordinates(dim, positional_ ? 2 : 1, seed, block, c);
  std::copy_n(c.begin(), lanes, m_.begin());
  if (positional_) std::copy_n(c.begin() + lanes, lanes, e_.begin());
}

std::unique_ptr<Chain> sequence_chain(const SequenceModel& model, double dim, double rate,
                                      std::size_t batch) {
  return std::make_unique<SequenceChain>(model, dim, rate, batch);
}

}  // namespace onset::ssi
