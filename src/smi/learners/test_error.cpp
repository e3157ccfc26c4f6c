#include "smi/learners/test_error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "smi/learners/semidefinite_root.hpp"

namespace onset::smi {
namespace {

/// Predictions that are asked for at once.
constexpr std::size_t batch_size = 256;

/// Covariance of (z*, omega) of one token: [[T, C^T], [C, S]].
std::vector<double> joint_root(const Overlaps& o) {
  const std::size_t p = o.directions;
  const std::size_t size = 2 * p;
  std::vector<double> joint(size * size);
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) {
      joint[i * size + j] = o.teacher[i * p + j];
      joint[(p + i) * size + p + j] = o.student[i * p + j];
      joint[(p + i) * size + j] = o.cross[i * p + j];
      joint[j * size + p + i] = o.cross[i * p + j];
    }
  }
  std::vector<double> root(size * size);
  semidefinite_root(joint.data(), size, root.data());
  return root;
}

}  // namespace

TestErrors test_errors(const SequenceModel& model, const Overlaps& o,
                       std::span<const double> covariance, std::size_t points, std::uint64_t seed,
                       std::uint64_t run) {
  const FieldShape& shape = model.shape();
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const std::size_t p = o.directions;
  const std::size_t fields = shape.fields();
  const std::vector<double> root = joint_root(o);
  std::vector<double> spread(p * p);  // a root of V
  semidefinite_root(covariance.data(), p, spread.data());
  // These are z*, omega, and two draws of z given omega, whose product of errors has the variance
  // of neither.
  std::vector<double> z[4], y[4], normals(4 * fields);
  numerics::Stream stream(seed, "smi test error", run);
  TestErrors sum;
  for (std::size_t done = 0; done < points; done += batch_size) {
    const std::size_t count = std::min(batch_size, points - done);
    for (auto& v : z) v.resize(fields * count);
    for (auto& v : y) v.resize(static_cast<std::size_t>(model.prediction_size()) * count);
    for (std::size_t i = 0; i < count; ++i) {
      stream.normal(normals);
      for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t row = 0; row < 2 * p; ++row) {
          double x = 0.0;
          for (std::size_t k = 0; k <= row; ++k)
            x += root[row * 2 * p + k] * normals[k * tokens + t];
          z[row / p][((row % p) * tokens + t) * count + i] = x;
        }
        for (std::size_t row = 0; row < p; ++row) {
          const std::size_t at = (row * tokens + t) * count + i;
          z[2][at] = z[3][at] = z[1][at];
          for (std::size_t k = 0; k <= row; ++k) {
            z[2][at] += spread[row * p + k] * normals[2 * fields + k * tokens + t];
            z[3][at] += spread[row * p + k] * normals[3 * fields + k * tokens + t];
          }
        }
      }
    }
    for (std::size_t k = 0; k < 4; ++k) model.predictions(count, z[k], y[k]);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = i; k < y[0].size(); k += count) {
        const double miss = y[0][k] - y[1][k];
        sum.plugin += miss * miss;
        sum.bayes += (y[0][k] - y[2][k]) * (y[0][k] - y[3][k]);
      }
    }
  }
  const auto n = static_cast<double>(points);
  return {sum.plugin / n, sum.bayes / n};
}

}  // namespace onset::smi
