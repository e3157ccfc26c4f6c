#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onset/ssi/learners/sgd.hpp"

namespace onset::ssi {

/// The number of runs that advance together.
inline constexpr std::size_t lanes = 64;
using Lanes = std::array<double, lanes>;

/// The random numbers of one step: rows of standard normals and one chi-square row.
struct StepDraws {
  const double* normals;  ///< row r at normals + r * stride
  std::size_t stride;
  const double* chi_square;  ///< one per lane
  const double* labels;      ///< y, output k of sample b at labels + (b * outputs + k) * stride
};

/// The chain of one student, for 64 runs. The draws of many steps are made at once, and their
/// labels are evaluated together, since they do not depend on the state.
class Chain {
 public:
  virtual ~Chain() = default;
  /// How many rows of normals a step needs besides that of the chi-square.
  [[nodiscard]] virtual std::size_t rows() const = 0;
  /// How many of them belong to each sample of the batch, one sample after the other; the first L
  /// of a sample are its z*.
  [[nodiscard]] virtual std::size_t rows_of_sample() const = 0;
  [[nodiscard]] virtual double degrees() const = 0;  ///< degrees of freedom of the chi-square
  virtual void start(Start start, double dim, std::uint64_t seed, std::size_t block) = 0;
  virtual void step(const StepDraws& draws) = 0;
  [[nodiscard]] virtual const Lanes& overlap_e() const = 0;
  [[nodiscard]] virtual const Lanes& overlap_m() const = 0;  ///< for untied students its norm
};

/// What the chains of students with one weight vector and fields z share: overlaps, their start,
/// and what a step draws. [ssi 29-31]
class SequenceState : public Chain {
 public:
  SequenceState(const SequenceModel& model, double dim, double rate, std::size_t batch);
  [[nodiscard]] std::size_t rows() const override { return rows_; }
  [[nodiscard]] std::size_t rows_of_sample() const override { return rows_of_sample_; }
  [[nodiscard]] double degrees() const override { return degrees_; }
  [[nodiscard]] const Lanes& overlap_e() const override { return e_; }
  [[nodiscard]] const Lanes& overlap_m() const override { return m_; }
  void start(Start start, double dim, std::uint64_t seed, std::size_t block) override;

 protected:
  bool positional_;
  std::size_t rows_of_sample_;
  std::size_t rows_;
  double h_;
  double degrees_;
  Lanes e_{};
  Lanes m_{};
};

/// The chain of any student of this kind, with any number of samples in a step: these are so many
/// more tokens, whose slopes are divided by their number.
[[nodiscard]] std::unique_ptr<Chain> sequence_chain(const SequenceModel& model, double dim,
                                                    double rate, std::size_t batch);
/// The same with encodings along several directions; e is then the length of their overlaps.
/// [ssi 42]
[[nodiscard]] std::unique_ptr<Chain> encoded_chain(const SequenceModel& model, double dim,
                                                   double rate, std::size_t batch);
/// The same as sequence_chain for attention of two tokens without a reduction, with a positional
/// encoding; faster.
[[nodiscard]] std::unique_ptr<Chain> two_token_chain(const SequenceModel& model, double dim,
                                                     double rate);
[[nodiscard]] std::unique_ptr<Chain> tied_chain(const SequenceModel& model, double dim,
                                                double rate);
[[nodiscard]] std::unique_ptr<Chain> untied_chain(const SequenceModel& model, double dim,
                                                  double rate);

/// `count` coordinates of a uniform unit vector in `dimensions` dimensions, per lane:
/// out[i * lanes + p].
void sphere_coordinates(double dimensions, std::size_t count, std::uint64_t seed, std::size_t block,
                        std::vector<double>& out);

}  // namespace onset::ssi
