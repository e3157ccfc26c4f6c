#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "numerics/parallel.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "numerics/solvers/ode.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/learners/semidefinite_root.hpp"
#include "smi/learners/sgd.hpp"

namespace onset::smi {
namespace {

/// The tolerance of the solver's steps, and that of a second solution whose distance gives their
/// error.
constexpr double step_tolerance = 1e-4;
constexpr double coarse_tolerance = 1e-3;
/// The squared norm over dimension beyond which the weights are useless: scores near 100 make every
/// softmax a hard maximum, and the right-hand side jumps.
constexpr double max_norm = 100.0;
/// The records are solved for in this many stretches, each of which may take at most this many
/// steps.
constexpr std::size_t stretches = 10;
constexpr int max_steps = 2000;

using State = numerics::OdeState;  // cross (P x P), then student (P x P)

/// The right-hand side by a fixed set of fields, so that it is a smooth function [smi 54].
class Drift {
 public:
  Drift(const SgdModel& model, const SgdOptions& options, std::size_t points,
        std::uint64_t replicate)
      : loss_(model.loss()),
        p_(model.shape().directions()),
        tokens_(static_cast<std::size_t>(model.shape().tokens)),
        labels_(model.label_size()),
        signs_(model.signs()),
        speed_(options.rate / static_cast<double>(options.batch)),
        decay_(options.decay),
        points_(points),
        noise_size_(model.noise_size()),
        normals_((2 * p_ * tokens_ + noise_size_) * points) {
    const auto dimensions = static_cast<int>(2 * p_ * tokens_ + noise_size_);
    const auto sobol = numerics::scrambled_sobol(dimensions, options.seed, replicate);
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
    // Noise of both signs: what is odd in it, such as the drift of additive noise, cancels exactly.
    const std::size_t copies = noise_size_ > 0 ? 2 : 1;
    for (std::size_t i = 0; i < points_; ++i) {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        for (const std::size_t signs : signs_) {
          add(i, signs, copy == 0 ? 1.0 : -1.0, cross, root);
        }
      }
    }
    const double share = 1.0 / static_cast<double>(points_ * copies * signs_.size());
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
  /// Adds one point with the teacher's fields negated in the directions of `signs`: the label stays
  /// the same, and what is odd in these fields cancels exactly. The label's noise is multiplied
  /// with `noise_sign`.
  void add(std::size_t i, std::size_t signs, double noise_sign, const double* cross,
           const std::vector<double>& root) {
    const auto normal = [&](std::size_t row, std::size_t t) {
      return normals_[(row * tokens_ + t) * points_ + i];
    };
    z_star_.resize(p_ * tokens_);
    z_.assign(p_ * tokens_, 0.0);
    gradient_.resize(p_ * tokens_);
    target_.resize(labels_);
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
    if (signs == 0) {
      label_noise_.resize(noise_size_);
      for (std::size_t k = 0; k < noise_size_; ++k) {
        label_noise_[k] = noise_sign * normals_[(2 * p_ * tokens_ + k) * points_ + i];
      }
      loss_->label(z_star_, label_noise_, target_);
    }
    (*loss_)(target_, z_, gradient_);
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

  std::unique_ptr<SampleLoss> loss_;
  std::size_t p_, tokens_, labels_;
  std::vector<std::size_t> signs_;
  double speed_, decay_;
  std::size_t points_;
  std::size_t noise_size_;
  std::vector<double> normals_;  // (row * tokens + token) * points + i, then noise of the labels
  std::vector<double> to_teacher_, to_student_, noise_, z_star_, z_, gradient_, target_;
  std::vector<double> label_noise_;
};

/// One solution, followed from record to record.
class Path {
 public:
  Path(const SgdModel& model, const SgdOptions& options, std::size_t points,
       std::uint64_t replicate, double tolerance)
      : drift_(model, options, points, replicate), shape_(model.shape()), p_(shape_.directions()) {
    ode_.relative_tolerance = tolerance;
    ode_.absolute_tolerance = 0.1 * tolerance;
    ode_.max_steps = max_steps;
    const double start = options.start_cosine > 0.0
                             ? options.start_cosine
                             : 1.0 / std::sqrt(static_cast<double>(options.dimension));
    state_.assign(2 * p_ * p_, 0.0);
    for (std::size_t l = 0; l < p_; ++l) {
      state_[l * p_ + l] = options.init * start;
      state_[p_ * p_ + l * p_ + l] = options.init * options.init;
    }
  }

  /// Solves for the next times, counted from the last one.
  void advance(const std::vector<double>& times, const Context& context) {
    // Weights that are useless stay where they are: nothing needs to be resolved there.
    const auto field = [this](const State& x) {
      return is_useless(x) ? State(x.size(), 0.0) : drift_(x);
    };
    solution_ = numerics::solve_ode(field, state_, times, ode_, context);
    if (!solution_.states.empty()) state_ = solution_.states.back();
  }

  /// How the k-th of those times was reached.
  [[nodiscard]] StopReason end(std::size_t k) const {
    if (k >= solution_.states.size()) return StopReason::inaccurate;
    return is_useless(solution_.states[k]) ? StopReason::diverged : StopReason::converged;
  }

  /// The cosine at that time; 0 for weights that have shrunk to nothing.
  [[nodiscard]] double cosine(std::size_t k, std::size_t l) const {
    return cosine_of(solution_.states.at(k), l);
  }
  [[nodiscard]] double first_cosine(std::size_t l) const { return cosine_of(state_, l); }

 private:
  [[nodiscard]] bool is_useless(const State& x) const {
    for (std::size_t l = 0; l < p_; ++l) {
      if (!(x[p_ * p_ + l * p_ + l] < max_norm)) return true;
    }
    return false;
  }

  /// That of a layer [smi 41]. Directions of a layer stay apart by their signs, and start alike.
  [[nodiscard]] double cosine_of(const State& x, std::size_t layer) const {
    const auto tokens = static_cast<std::size_t>(shape_.tokens);
    double norm = 0.0, overlap = 0.0;
    for (std::size_t l = shape_.first(layer) / tokens; l < shape_.first(layer + 1) / tokens; ++l) {
      norm += x[p_ * p_ + l * p_ + l];
      overlap += std::abs(x[l * p_ + l]);
    }
    norm *= shape_.rank[layer];
    return norm > ode_.absolute_tolerance ? overlap / std::sqrt(norm) : 0.0;
  }

  Drift drift_;
  FieldShape shape_;
  std::size_t p_;
  State state_;
  numerics::OdeSolution solution_;
  numerics::OdeOptions ode_;
};

/// The mean and its error over all solutions but the last, which has the points of the first and
/// coarser steps.
SgdFlowPoint summary_of(const std::vector<Path>& paths, double time, std::size_t layers,
                        const std::function<double(const Path&, std::size_t)>& cosine) {
  SgdFlowPoint point{time, {}};
  for (std::size_t l = 0; l < layers; ++l) {
    numerics::Replicates values;
    for (std::size_t r = 0; r + 1 < paths.size(); ++r) values.push_back(cosine(paths[r], l));
    const double step_error = std::abs(cosine(paths.back(), l) - cosine(paths.front(), l));
    point.cosine.push_back(numerics::reduce(values, step_error));
  }
  return point;
}

/// Takes over the records that a stretch has solved for, up to a divergence; returns false if there
/// is one.
bool take_records(const std::vector<Path>& paths, std::size_t layers, std::size_t count,
                  double spacing, SgdFlow& flow) {
  for (std::size_t k = 0; k < count; ++k) {
    for (const Path& path : paths) {
      flow.diverged = flow.diverged || path.end(k) == StopReason::diverged;
      flow.unresolved = flow.unresolved || path.end(k) == StopReason::inaccurate;
    }
    if (flow.diverged || flow.unresolved) return false;
    const double time = spacing * static_cast<double>(flow.points.size());
    flow.points.push_back(summary_of(
        paths, time, layers, [k](const Path& path, std::size_t l) { return path.cosine(k, l); }));
  }
  return true;
}

}  // namespace

SgdFlow sgd_flow(const SgdModel& model, const SgdOptions& options, std::size_t points,
                 const Context& context) {
  options.validate();
  const std::size_t p = model.shape().directions();
  if (p > static_cast<std::size_t>(max_flow_layers)) {
    throw InvalidArgument("layers", std::to_string(p) + " are too many; allowed: up to " +
                                        std::to_string(max_flow_layers));
  }
  const std::size_t layers = model.shape().blocks();
  constexpr std::size_t replicates = numerics::default_replicates;
  std::vector<Path> paths;
  for (std::size_t r = 0; r < replicates; ++r) {
    paths.emplace_back(model, options, points, r, step_tolerance);
  }
  paths.emplace_back(model, options, points, 0, coarse_tolerance);
  SgdFlow out;
  out.points.push_back(summary_of(
      paths, 0.0, layers, [](const Path& path, std::size_t l) { return path.first_cosine(l); }));
  const double spacing = options.time / static_cast<double>(options.records);
  const std::size_t stretch = (options.records + stretches - 1) / stretches;
  try {
    for (std::size_t done = 0; done < options.records; done += stretch) {
      std::vector<double> times;
      for (std::size_t k = 1; k <= std::min(stretch, options.records - done); ++k) {
        times.push_back(spacing * static_cast<double>(k));
      }
      numerics::parallel_for(context, paths.size(),
                             [&](std::size_t r) { paths[r].advance(times, context); });
      if (!take_records(paths, layers, times.size(), spacing, out)) break;
    }
  } catch (const Interrupted&) {
    out.interrupted = true;
  }
  return out;
}

}  // namespace onset::smi
