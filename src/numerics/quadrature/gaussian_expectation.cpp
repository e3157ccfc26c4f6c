#include "numerics/quadrature/gaussian_expectation.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/point_sets/sobol.hpp"
#include "numerics/shared_map.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

// A replicate is cut into at most this many pieces: plenty for any machine, and few enough to keep
// the moments of every piece until they are summed in order.
constexpr std::size_t max_pieces = 64;
constexpr std::size_t max_points = std::size_t{1} << 40;
// Directions of the controls with less than this share of the variance count as noise.
constexpr double control_rank_tolerance = 1e-10;
// A control of a smaller mean square is zero but for rounding. Its mean is as large as its scatter
// then, so that to regress on it would add to a target what rounding happens to go along with.
constexpr double zero_control = 1e-12;

// The sum runs in eight strands, which compilers turn into vector code without changing its order.
double dot(const double* a, const double* b, std::size_t count) {
  constexpr std::size_t strands = 8;
  double sums[strands] = {};
  std::size_t i = 0;
  for (; i + strands <= count; i += strands) {
    for (std::size_t j = 0; j < strands; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (std::size_t j = 0; i + j < count; ++j) sums[j] += a[i + j] * b[i + j];
  return ordered_sum(sums, strands);
}

// Sums over the points of one piece: each output, then each output times each control.
using PieceMoments = std::vector<double>;

class Integration {
 public:
  Integration(const ExpectationOptions& options, int targets, const BatchIntegrand& integrand)
      : integrand_(integrand),
        points_(options.points),
        outputs_(static_cast<std::size_t>(options.outputs)),
        targets_(static_cast<std::size_t>(targets)),
        batch_(std::min(options.points, batch_size)),
        pieces_(std::min(options.points / batch_, max_pieces)) {
    for (int r = 0; r < options.replicates; ++r) {
      point_sets_.push_back(scrambled_sobol_prefix(options.dimensions, options.seed,
                                                   static_cast<std::uint64_t>(r),
                                                   std::countr_zero(options.points)));
    }
  }

  // The moments of every replicate, divided by the number of points.
  [[nodiscard]] std::vector<PieceMoments> run(const Context& context) const {
    const std::vector<PieceMoments> pieces = shared_map(
        context, point_sets_.size() * pieces_,
        [&](std::size_t index) { return piece(index / pieces_, index % pieces_, context); });
    std::vector<PieceMoments> result(point_sets_.size(), PieceMoments(pieces.front().size()));
    std::vector<double> terms(pieces_);
    for (std::size_t r = 0; r < result.size(); ++r) {
      for (std::size_t k = 0; k < result[r].size(); ++k) {
        for (std::size_t p = 0; p < pieces_; ++p) terms[p] = pieces[r * pieces_ + p][k];
        result[r][k] = ordered_sum(terms.data(), pieces_) / static_cast<double>(points_);
      }
    }
    return result;
  }

 private:
  [[nodiscard]] PieceMoments piece(std::size_t replicate, std::size_t number,
                                   const Context& context) const {
    const std::size_t size = points_ / pieces_;
    const auto dimensions = static_cast<std::size_t>(point_sets_[replicate]->dimensions());
    std::vector<double> normals(dimensions * batch_);
    std::vector<double> values(outputs_ * batch_);
    PieceMoments moments(outputs_ * (1 + outputs_ - targets_));
    for (std::size_t first = number * size; first < (number + 1) * size; first += batch_) {
      if (context.stop.stop_requested()) throw Interrupted();
      point_sets_[replicate]->points(first, batch_, normals);
      simd::normal_quantile(normals, normals);
      integrand_({batch_, replicate, first, normals}, values);
      add(values, moments);
    }
    return moments;
  }

  void add(const std::vector<double>& values, PieceMoments& moments) const {
    std::size_t slot = 0;
    for (std::size_t k = 0; k < outputs_; ++k) {
      moments[slot++] += ordered_sum(values.data() + k * batch_, batch_);
    }
    for (std::size_t k = 0; k < outputs_; ++k) {
      for (std::size_t c = targets_; c < outputs_; ++c) {
        moments[slot++] += dot(values.data() + k * batch_, values.data() + c * batch_, batch_);
      }
    }
  }

  const BatchIntegrand& integrand_;
  std::size_t points_, outputs_, targets_, batch_, pieces_;
  std::vector<std::unique_ptr<PointSet>> point_sets_;
};

// Least-squares coefficients (controls x targets) from the covariances over all points together. A
// control that is constant, or a combination of others, gets no weight of its own.
Eigen::MatrixXd control_coefficients(const std::vector<PieceMoments>& replicates,
                                     Eigen::Index outputs, Eigen::Index targets) {
  const Eigen::Index controls = outputs - targets;
  Eigen::VectorXd means = Eigen::VectorXd::Zero(outputs);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(controls, outputs);
  for (const PieceMoments& moments : replicates) {
    means += Eigen::Map<const Eigen::VectorXd>(moments.data(), outputs);
    covariance += Eigen::Map<const Eigen::MatrixXd>(moments.data() + outputs, controls, outputs);
  }
  means /= static_cast<double>(replicates.size());
  covariance /= static_cast<double>(replicates.size());
  // The variance that a constant control seems to have is rounding.
  const Eigen::VectorXd raw = covariance.rightCols(controls).diagonal();
  covariance -= means.tail(controls) * means.transpose();
  Eigen::VectorXd scale = covariance.rightCols(controls).diagonal();
  for (Eigen::Index c = 0; c < controls; ++c) {
    const bool varies = raw[c] > zero_control && !(scale[c] <= control_rank_tolerance * raw[c]);
    scale[c] = varies ? 1.0 / std::sqrt(scale[c]) : 0.0;
  }
  const Eigen::MatrixXd scaled = scale.asDiagonal() * covariance;
  const Eigen::MatrixXd square = scaled.rightCols(controls) * scale.asDiagonal();
  return scale.asDiagonal() *
         least_norm_solution(square, scaled.leftCols(targets), control_rank_tolerance);
}

std::vector<Replicates> target_means(const std::vector<PieceMoments>& replicates,
                                     std::size_t targets) {
  std::vector<Replicates> result(targets, Replicates(replicates.size()));
  for (std::size_t k = 0; k < targets; ++k) {
    for (std::size_t r = 0; r < replicates.size(); ++r) result[k][r] = replicates[r][k];
  }
  return result;
}

void require(bool allowed, const char* field, const std::string& value, const std::string& range) {
  if (!allowed) throw InvalidArgument(field, "is " + value + "; allowed: " + range);
}

}  // namespace

void ExpectationOptions::validate() const {
  require(dimensions >= 1 && dimensions <= max_sobol_dimensions, "dimensions",
          std::to_string(dimensions), "1 to " + std::to_string(max_sobol_dimensions));
  require(outputs >= 1, "outputs", std::to_string(outputs), "1 or more");
  require(std::has_single_bit(points) && points <= max_points, "points", std::to_string(points),
          "a power of two up to 2^40");
  require(replicates >= 1, "replicates", std::to_string(replicates), "1 or more");
}

std::vector<Replicates> gaussian_expectation(const ExpectationOptions& options,
                                             const BatchIntegrand& integrand,
                                             const Context& context) {
  return gaussian_expectation_with_controls(options, options.outputs, integrand, context).target;
}

ControlledExpectation gaussian_expectation_with_controls(const ExpectationOptions& options,
                                                         int targets,
                                                         const BatchIntegrand& integrand,
                                                         const Context& context) {
  options.validate();
  require(targets >= 1 && targets <= options.outputs, "targets", std::to_string(targets),
          "1 to outputs (" + std::to_string(options.outputs) + ")");
  const std::vector<PieceMoments> moments = Integration(options, targets, integrand).run(context);
  ControlledExpectation result{target_means(moments, static_cast<std::size_t>(targets)),
                               std::vector<std::vector<double>>(static_cast<std::size_t>(targets))};
  if (targets == options.outputs) return result;

  const Eigen::Index controls = options.outputs - targets;
  const Eigen::MatrixXd coefficients = control_coefficients(moments, options.outputs, targets);
  for (std::size_t k = 0; k < result.target.size(); ++k) {
    const Eigen::VectorXd of_target = coefficients.col(static_cast<Eigen::Index>(k));
    result.coefficient[k].assign(of_target.begin(), of_target.end());
    for (std::size_t r = 0; r < moments.size(); ++r) {
      const Eigen::Map<const Eigen::VectorXd> of_replicate(moments[r].data() + targets, controls);
      result.target[k][r] -= of_target.dot(of_replicate);
    }
  }
  return result;
}

}  // namespace onset::numerics
