#include <algorithm>
#include <cmath>

#include "ssi/learners/chain/chain.hpp"

namespace onset::ssi {
namespace {

/// The sums over tokens and samples that a step of one run needs.
struct EncodedSums {
  double teacher = 0.0;  ///< of delta (z* + tau)
  double zeta = 0.0;     ///< of delta zeta
  double radial = 0.0;   ///< of delta z
  double square = 0.0;   ///< of delta^2
};

/// The chain of a student whose tokens have encodings along several directions: one overlap for
/// each. [ssi 42]
class EncodedChain final : public Chain {
 public:
  EncodedChain(const SequenceModel& model, double dim, double rate, std::size_t batch)
      : model_(model),
        encodings_(model.all_encodings()),
        batch_(batch),
        tokens_(model.tokens()),
        outputs_(model.target->outputs()),
        directions_(encodings_.own.size()),
        h_(rate / dim),
        degrees_(dim - 2.0 - static_cast<double>(directions_)),
        overlaps_(directions_ * lanes),
        sums_(lanes),
        shift_sums_(directions_ * lanes),
        z_(tokens_ * lanes),
        delta_(tokens_ * lanes),
        f_(outputs_ * lanes),
        residual_(outputs_ * lanes) {}

  /// Each sample has z* and zeta; a step has one more normal for each direction and for the rest.
  [[nodiscard]] std::size_t rows() const override {
    return batch_ * rows_of_sample() + directions_ + 1;
  }
  [[nodiscard]] std::size_t rows_of_sample() const override { return 2 * tokens_; }
  [[nodiscard]] double degrees() const override { return degrees_; }
  [[nodiscard]] const Lanes& overlap_e() const override { return length_; }
  [[nodiscard]] const Lanes& overlap_m() const override { return m_; }

  void start(Start start, double dim, std::uint64_t seed, std::size_t block) override {
    std::fill(overlaps_.begin(), overlaps_.end(), 0.0);
    m_.fill(start == Start::overlapped ? 1.0 / std::sqrt(dim) : 0.0);
    if (start == Start::random) {
      std::vector<double> c;
      sphere_coordinates(dim, 1 + directions_, seed, block, c);
      std::copy_n(c.begin(), lanes, m_.begin());
      std::copy(c.begin() + lanes, c.end(), overlaps_.begin());
    }
    set_lengths();
  }

  void step(const StepDraws& draws) override {
    std::fill(sums_.begin(), sums_.end(), EncodedSums{});
    std::fill(shift_sums_.begin(), shift_sums_.end(), 0.0);
    for (std::size_t b = 0; b < batch_; ++b) {
      StepDraws sample = draws;
      sample.normals += b * rows_of_sample() * draws.stride;
      sample.labels += b * outputs_ * draws.stride;
      add_sample(sample);
    }
    for (std::size_t p = 0; p < lanes; ++p) move(p, draws);
    set_lengths();
  }

 private:
  void add_sample(const StepDraws& draws) {
    set_fields(draws);
    model_.student.link->values(lanes, z_.data(), f_.data());
    for (std::size_t k = 0; k < outputs_; ++k) {
      const double* y = draws.labels + k * draws.stride;
      for (std::size_t p = 0; p < lanes; ++p) residual_[k * lanes + p] = f_[k * lanes + p] - y[p];
    }
    loss_weights(model_.loss, outputs_, lanes, residual_.data());
    model_.student.link->pullback(lanes, z_.data(), f_.data(), residual_.data(), delta_.data());
    for (double& slope : delta_) slope /= static_cast<double>(batch_);
    add_sums(draws);
  }

  void set_fields(const StepDraws& draws) {
    for (std::size_t i = 0; i < tokens_; ++i) {
      const double* teacher = draws.normals + i * draws.stride;
      const double* zeta = draws.normals + (tokens_ + i) * draws.stride;
      for (std::size_t p = 0; p < lanes; ++p) {
        double z = m_[p] * (teacher[p] + encodings_.teacher[i]) + across(p) * zeta[p];
        for (std::size_t k = 0; k < directions_; ++k) {
          z += overlaps_[k * lanes + p] * encodings_.own[k][i];
        }
        z_[i * lanes + p] = z;
      }
    }
  }

  void add_sums(const StepDraws& draws) {
    for (std::size_t i = 0; i < tokens_; ++i) {
      const double* teacher = draws.normals + i * draws.stride;
      const double* zeta = draws.normals + (tokens_ + i) * draws.stride;
      for (std::size_t p = 0; p < lanes; ++p) {
        const double d = delta_[i * lanes + p];
        sums_[p].teacher += d * (teacher[p] + encodings_.teacher[i]);
        sums_[p].zeta += d * zeta[p];
        sums_[p].radial += d * z_[i * lanes + p];
        sums_[p].square += d * d;
        for (std::size_t k = 0; k < directions_; ++k) {
          shift_sums_[k * lanes + p] += d * encodings_.own[k][i];
        }
      }
    }
  }

  /// sqrt(1 - m^2): the length of w across the teacher.
  [[nodiscard]] double across(std::size_t p) const {
    return std::sqrt(std::max(0.0, 1.0 - m_[p] * m_[p]));
  }

  /// Moves one run. Across the teacher w has the direction n = (e_1, .., e_r, s)/q; the sum of
  /// delta x is zeta's along n, and |delta| times independent normals in the other directions.
  void move(std::size_t p, const StepDraws& draws) {
    const EncodedSums& sums = sums_[p];
    const double q = across(p);
    double square = q * q;
    for (std::size_t k = 0; k < directions_; ++k) square -= std::pow(overlap(k, p), 2);
    const double inverse = q > 0.0 ? 1.0 / q : 0.0;
    const double rest = std::sqrt(std::max(0.0, square)) * inverse;
    const double* extra = draws.normals + batch_ * rows_of_sample() * draws.stride;
    double along = rest * extra[directions_ * draws.stride + p];
    for (std::size_t k = 0; k < directions_; ++k) {
      along += overlap(k, p) * inverse * extra[k * draws.stride + p];
    }
    const double size = std::sqrt(sums.square);
    const double turn = sums.zeta - size * along;
    const double c = turn * rest + size * extra[directions_ * draws.stride + p];
    double length = sums.teacher * sums.teacher + c * c + sums.square * draws.chi_square[p];
    for (std::size_t k = 0; k < directions_; ++k) {
      double& b = shift_sums_[k * lanes + p];
      b += turn * overlap(k, p) * inverse + size * extra[k * draws.stride + p];
      length += b * b;
    }
    const double norm = 1.0 / std::sqrt(1.0 - 2.0 * h_ * sums.radial + h_ * h_ * length);
    m_[p] = (m_[p] - h_ * sums.teacher) * norm;
    for (std::size_t k = 0; k < directions_; ++k) {
      double& e = overlaps_[k * lanes + p];
      e = (e - h_ * shift_sums_[k * lanes + p]) * norm;
    }
  }

  [[nodiscard]] double overlap(std::size_t k, std::size_t p) const {
    return overlaps_[k * lanes + p];
  }

  void set_lengths() {
    for (std::size_t p = 0; p < lanes; ++p) {
      double square = 0.0;
      for (std::size_t k = 0; k < directions_; ++k) square += std::pow(overlap(k, p), 2);
      length_[p] = std::sqrt(square);
    }
  }

  const SequenceModel& model_;
  Encodings encodings_;
  std::size_t batch_;
  std::size_t tokens_;
  std::size_t outputs_;
  std::size_t directions_;
  double h_;
  double degrees_;
  Lanes m_{};
  Lanes length_{};
  std::vector<double> overlaps_;  ///< e_k of every run
  std::vector<EncodedSums> sums_;
  std::vector<double> shift_sums_;  ///< of delta times the components along each direction
  std::vector<double> z_;
  std::vector<double> delta_;
  std::vector<double> f_;
  std::vector<double> residual_;
};

}  // namespace

std::unique_ptr<Chain> encoded_chain(const SequenceModel& model, double dim, double rate,
                                     std::size_t batch) {
  return std::make_unique<EncodedChain>(model, dim, rate, batch);
}

}  // namespace onset::ssi
