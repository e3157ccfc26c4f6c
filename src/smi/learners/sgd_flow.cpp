#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/parallel.hpp"
#include "onset/numerics/quasi_monte_carlo.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/numerics/simd/vector_math.hpp"
#include "onset/smi/learners/attention_loss.hpp"
#include "onset/smi/learners/sgd.hpp"
#include "smi/learners/semidefinite_root.hpp"
#include "smi/learners/sgd_start.hpp"

namespace onset::smi {
namespace {

/// Most layers: every point is used with all signs of the teacher's fields.
constexpr std::size_t most_layers = 6;
/// Runge-Kutta steps in all, at least, of the coarser of two solutions.
constexpr std::size_t least_steps = 100;

using State = std::vector<double>;  // cross (P x P), then student (P x P)

/// The right-hand side by a fixed set of fields, so that it is a smooth function [smi 54].
class Drift {
 public:
  Drift(const DeepAttention& model, const SgdOptions& options, std::size_t points,
        std::uint64_t replicate)
      : loss_(model),
        p_(model.shape().directions()),
        tokens_(static_cast<std::size_t>(model.tokens)),
        speed_(options.rate / static_cast<double>(options.batch)),
        decay_(options.decay),
        points_(points),
        normals_(2 * p_ * tokens_ * points) {
    const auto sobol =
        numerics::scrambled_sobol(static_cast<int>(2 * p_ * tokens_), options.seed, replicate);
    sobol->points(0, points, normals_);
    numerics::simd::normal_quantile(normals_, normals_);
  }

  State operator()(const State& x) {
    const double* cross = x.data();
    const double* student = x.data() + p_ * p_;
    std::vector<double> left(p_ * p_), root(p_ * p_);
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        left[i * p_ + j] = student[i * p_ + j];
        for (std::size_t k = 0; k < p_; ++k) {
          left[i * p_ + j] -= cross[i * p_ + k] * cross[j * p_ + k];
        }
      }
    }
    semidefinite_root(left.data(), p_, root.data());
    to_teacher_.assign(p_ * p_, 0.0);
    to_student_.assign(p_ * p_, 0.0);
    noise_.assign(p_ * p_, 0.0);
    for (std::size_t i = 0; i < points_; ++i) {
      for (std::size_t signs = 0; signs < (std::size_t{1} << p_); ++signs)
        add(i, signs, cross, root);
    }
    const double share = 1.0 / static_cast<double>(points_ << p_);
    State rate(x.size());
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        const std::size_t at = i * p_ + j, mirrored = j * p_ + i;
        rate[at] = -speed_ * (share * to_teacher_[at] + decay_ * cross[at]);
        rate[p_ * p_ + at] = -speed_ * (share * (to_student_[at] + to_student_[mirrored]) +
                                        2.0 * decay_ * student[at]) +
                             speed_ * speed_ * share * noise_[at];
      }
    }
    return rate;
  }

 private:
  /// Adds one point with the teacher's fields of the layers in `signs` turned: the label stays the
  /// same, and what is odd in them cancels exactly.
  void add(std::size_t i, std::size_t signs, const double* cross, const std::vector<double>& root) {
    const auto normal = [&](std::size_t row, std::size_t t) {
      return normals_[(row * tokens_ + t) * points_ + i];
    };
    z_star_.resize(p_ * tokens_);
    z_.assign(p_ * tokens_, 0.0);
    gradient_.resize(p_ * tokens_);
    target_.resize(tokens_ * tokens_);
    for (std::size_t l = 0; l < p_; ++l) {
      const double sign = (signs >> l) & 1u ? -1.0 : 1.0;
      for (std::size_t t = 0; t < tokens_; ++t) z_star_[l * tokens_ + t] = sign * normal(l, t);
    }
    for (std::size_t l = 0; l < p_; ++l) {
      for (std::size_t k = 0; k < p_; ++k) {
        for (std::size_t t = 0; t < tokens_; ++t) {
          z_[l * tokens_ + t] +=
              cross[l * p_ + k] * z_star_[k * tokens_ + t] + root[l * p_ + k] * normal(p_ + k, t);
        }
      }
    }
    if (signs == 0) loss_.predict(z_star_, target_);
    loss_(target_, z_, gradient_);
    for (std::size_t l = 0; l < p_; ++l) {
      for (std::size_t k = 0; k < p_; ++k) {
        for (std::size_t t = 0; t < tokens_; ++t) {
          const double g = gradient_[l * tokens_ + t];
          to_teacher_[l * p_ + k] += g * z_star_[k * tokens_ + t];
          to_student_[l * p_ + k] += g * z_[k * tokens_ + t];
          noise_[l * p_ + k] += g * gradient_[k * tokens_ + t];
        }
      }
    }
  }

  AttentionLoss loss_;
  std::size_t p_, tokens_;
  double speed_, decay_;
  std::size_t points_;
  std::vector<double> normals_;  // (row * tokens + token) * points + i
  std::vector<double> to_teacher_, to_student_, noise_, z_star_, z_, gradient_, target_;
};

State moved(const State& x, double by, const State& along) {
  State out(x);
  for (std::size_t k = 0; k < x.size(); ++k) out[k] += by * along[k];
  return out;
}

/// A classical Runge-Kutta step.
State runge_kutta(Drift& drift, const State& x, double h) {
  const State k1 = drift(x);
  const State k2 = drift(moved(x, 0.5 * h, k1));
  const State k3 = drift(moved(x, 0.5 * h, k2));
  const State k4 = drift(moved(x, h, k3));
  State out(x);
  for (std::size_t k = 0; k < x.size(); ++k) {
    out[k] += h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]);
  }
  return out;
}

/// Cosines of every record, record * layers + layer, up to a divergence.
std::vector<double> solve(Drift& drift, const SgdOptions& options, std::size_t p,
                          std::size_t steps_per_record, const Context& context) {
  const double start = options.start_cosine > 0.0
                           ? options.start_cosine
                           : 1.0 / std::sqrt(static_cast<double>(options.dimension));
  State x(2 * p * p, 0.0);
  for (std::size_t l = 0; l < p; ++l) {
    x[l * p + l] = options.init * start;
    x[p * p + l * p + l] = options.init * options.init;
  }
  const double h = options.time / static_cast<double>(options.records * steps_per_record);
  std::vector<double> cosines;
  for (std::size_t record = 0; record <= options.records; ++record) {
    for (std::size_t l = 0; l < p; ++l) {
      if (!(x[p * p + l * p + l] < useless_norm)) return cosines;
    }
    for (std::size_t l = 0; l < p; ++l) {
      cosines.push_back(std::abs(x[l * p + l]) / std::sqrt(x[p * p + l * p + l]));
    }
    for (std::size_t s = 0; record < options.records && s < steps_per_record; ++s) {
      if (context.stop.stop_requested()) throw Interrupted();
      x = runge_kutta(drift, x, h);
    }
  }
  return cosines;
}

}  // namespace

SgdFlow sgd_flow(const DeepAttention& model, const SgdOptions& options, std::size_t points,
                 const Context& context) {
  options.validate();
  const std::size_t p = model.shape().directions();
  if (p > most_layers) {
    throw InvalidArgument("layers", std::to_string(p) + " are too many; allowed: up to " +
                                        std::to_string(most_layers));
  }
  const std::size_t steps =
      std::max<std::size_t>(1, (least_steps + options.records - 1) / options.records);
  constexpr std::size_t replicates = numerics::default_replicates;
  // The last one has the points of the first and half of the steps: the error of the steps.
  std::vector<std::vector<double>> cosines(replicates + 1);
  numerics::parallel_for(context, replicates + 1, [&](std::size_t r) {
    Drift drift(model, options, points, r % replicates);
    cosines[r] = solve(drift, options, p, r < replicates ? 2 * steps : steps, context);
  });
  std::size_t common = (options.records + 1) * p;
  for (const auto& c : cosines) common = std::min(common, c.size());
  SgdFlow out{{}, common < (options.records + 1) * p};
  for (std::size_t record = 0; record < common / p; ++record) {
    SgdFlowPoint point{
        options.time * static_cast<double>(record) / static_cast<double>(options.records), {}};
    for (std::size_t l = 0; l < p; ++l) {
      const std::size_t at = record * p + l;
      numerics::Replicates values;
      for (std::size_t r = 0; r < replicates; ++r) values.push_back(cosines[r][at]);
      point.cosine.push_back(
          numerics::reduce(values, std::abs(cosines[replicates][at] - cosines[0][at])));
    }
    out.points.push_back(std::move(point));
  }
  return out;
}

}  // namespace onset::smi
