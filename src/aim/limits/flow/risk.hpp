#pragma once

#include <cstdint>
#include <memory>

#include "aim/limits/flow/flow_model.hpp"

namespace onset::aim {

/// Second moments of a student's scores in large dimension.
struct ScoreMoments {
  double p = 0.0;     ///< Tr S^2/d of the symmetric part
  double anti = 0.0;  ///< Tr A A^T/d of the antisymmetric part A
  double q = 0.0;     ///< Tr S S*/d
  /// p - 2 q + Q_0 = Tr (S - S*)^2/d, which keeps its digits next to the teacher.
  double error = 0.0;
};

/// The risk and its gradient (1/d)(symmetric S + antisymmetric A - teacher S*) [aim 62].
struct Drift {
  double risk = 0.0;
  double symmetric = 0.0;
  double antisymmetric = 0.0;
  double teacher = 0.0;
};

/// Variances v of one gradient's fluctuation, symmetric and antisymmetric [aim 68].
struct GradientNoise {
  double symmetric = 0.0;
  double antisymmetric = 0.0;
};

/// Every number is computed by two rules; their difference is the error.
enum class Precision { coarse, fine };

/// What a loss and a channel say in large dimension, as functions of the moments.
class Risk {
 public:
  virtual ~Risk() = default;
  [[nodiscard]] virtual Drift drift(const ScoreMoments& moments) const = 0;
  [[nodiscard]] virtual GradientNoise noise(const ScoreMoments& moments) const = 0;
  /// How v grows with the squared error next to the teacher: v = S mse_s + C anti and v_a = C mse_s
  /// + D anti [aim 70]. All 0 for hardmax labels, whose students have no end.
  struct NoiseGrowth {
    double symmetric = 0.0;
    double mixed = 0.0;
    double antisymmetric = 0.0;
  };
  [[nodiscard]] virtual NoiseGrowth noise_growth() const = 0;
};

/// The largest beta times standard deviation of a score that rules of integration resolve in
/// reasonable time: steeper softmax labels are those of hardmax nearly everywhere.
[[nodiscard]] double max_steepness(SgdLoss loss, int tokens);

/// The channel's risk for linear labels of any number of tokens, softmax of two or more and hardmax
/// of two to twelve. The antisymmetric part of softmax and hardmax is for two tokens only; with
/// more, `anti` must be 0.
[[nodiscard]] std::unique_ptr<const Risk> make_risk(const FlowModel& model, Precision precision,
                                                    std::uint64_t seed);

}  // namespace onset::aim
