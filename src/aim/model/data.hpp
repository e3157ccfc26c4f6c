#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/device/kind.hpp"

namespace onset::device {
class Tokens;
}

namespace onset::aim {

/// Index of the score (a, b), a <= b, among the T (T + 1) / 2 scores of a sample.
[[nodiscard]] constexpr std::size_t score_index(std::size_t a, std::size_t b, std::size_t tokens) {
  return a * tokens - a * (a + 1) / 2 + b;
}

/// What a learner sees. The channel says what the numbers of `labels` are, n times
/// Channel::label_shape of them.
struct Dataset {
  std::size_t samples = 0;
  std::size_t tokens = 0;
  std::size_t dim = 0;
  std::vector<double> inputs;  ///< n x T x d; empty where the tokens are on a device
  std::vector<double> labels;
  std::shared_ptr<device::Tokens> on_device = {};

  /// The first `count` samples, at least 1 and at most all, of inputs in memory.
  [[nodiscard]] Dataset first(std::size_t count) const;
  /// Moves the inputs to a device of this kind.
  void move_to(device::DeviceKind device);
};

/// The matrix behind the labels.
struct Teacher {
  std::size_t dim = 0;
  std::size_t width = 0;
  std::vector<double> weights;  ///< W, d x r
  std::vector<double> matrix;   ///< S = W W^T / sqrt(r d), d x d
};

/// Width r = round(rho d), at least 1.
[[nodiscard]] std::size_t width_of(double rho, std::size_t dim);
/// n = round(alpha d^2), at least 1.
[[nodiscard]] std::size_t samples_of(double alpha, std::size_t dim);

/// S = W W^T / sqrt(r d) for W of size d x r [aim 1].
[[nodiscard]] std::vector<double> score_matrix(const std::vector<double>& weights, std::size_t dim,
                                               std::size_t width, const Context& context);

/// Draws a teacher with standard normal weights; `index` tells runs apart. It is for Wishart priors
/// only.
[[nodiscard]] Teacher sample_teacher(const AttentionIndexed& model, std::size_t dim,
                                     std::uint64_t seed, std::uint64_t index,
                                     const Context& context);
/// What data are for: those that are trained on and those that predictions are tried on share no
/// random numbers.
enum class DataUse { training, test };

/// Which random numbers a data set is made of, and where its tokens will be. The tokens are the
/// same bits on every device; `index` tells runs apart.
struct DataSource {
  std::uint64_t seed = 1;
  std::uint64_t index = 0;
  device::DeviceKind device = device::DeviceKind::cpu;
  DataUse use = DataUse::training;
};

/// Draws the Gaussian tokens of a data set, without labels.
[[nodiscard]] Dataset sample_tokens(int tokens, std::size_t dim, std::size_t samples,
                                    const DataSource& source, const Context& context);

/// Draws Gaussian tokens and the teacher's labels. It takes 8 n T d bytes, and twice that while it
/// runs; on a device, its own memory instead.
[[nodiscard]] Dataset sample_data(const AttentionIndexed& model, const Teacher& teacher,
                                  std::size_t samples, const DataSource& source,
                                  const Context& context);

/// ||A - B||_F^2 / d.
[[nodiscard]] double squared_distance(const std::vector<double>& a, const std::vector<double>& b,
                                      std::size_t dim);

}  // namespace onset::aim
