#include "smi/limits/evolution.hpp"

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "onset/smi/limits/channel.hpp"
#include "smi/limits/prediction_error.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Points per replicate to begin with, and how fast errors fall with their number, at least.
constexpr std::size_t least_points = 256;
constexpr double least_error_rate = 0.6;

/// Where inner integrals are noisy, an even block below this overlap grows by its growth rate F_b
/// [smi 16], which is known far better than a small gain. What the gain has of second order is
/// below `second_order` times the overlap (about 4 for attention), and is stated as a bias.
constexpr double small_overlap = 1e-4;
constexpr double second_order = 10.0;

/// Where all V are below this the label is linear around the truth, and gains depend on the ratios
/// of V alone [smi 21]: they are computed at V multiplied up to it.
constexpr double linear_variance = 1e-7;

/// Q_b / V_b of every block and replicate, which state evolution gives as alpha E|g_b|^2.
using Precision = std::vector<Replicates>;

double overlap_of_precision(double precision) {
  return precision / (1.0 + precision);
}

std::vector<Replicates> variances(const Precision& precision) {
  std::vector<Replicates> out;
  for (const Replicates& values : precision) {
    out.push_back(numerics::map(values, [](double x) { return 1.0 / (1.0 + x); }));
  }
  return out;
}

/// One path through time for every replicate. `push` is the share of the bounds on bias that is
/// added to every gain.
class Path {
 public:
  Path(const SequenceModel& model, const EvolutionOptions& options, int replicates, double push)
      : model_(&model),
        exact_(model.posterior({options.nodes, options.seed})->exact()),
        floor_(options.chance / (1.0 - options.chance)),
        push_(push) {
    for (const double q : options.start) {
      precision_.emplace_back(static_cast<std::size_t>(replicates), q / (1.0 - q));
    }
  }

  void step(const Channel& channel, double alpha, const Context& context) {
    std::vector<Replicates> at = variances(precision_);
    const std::vector<Replicates> variance = at;
    std::vector<bool> open;
    for (std::size_t b = 0; b < at.size(); ++b) {
      const bool small = 1.0 - numerics::mean(at[b]) < small_overlap;
      open.push_back(!exact_ && model_->even(b) && small);
      if (open[b]) at[b].assign(at[b].size(), 1.0);
    }
    magnify(at);
    const ChannelInformation info = channel.at(at, context);
    for (std::size_t b = 0; b < at.size(); ++b) {
      for (std::size_t r = 0; r < at[b].size(); ++r) {
        const double overlap = 1.0 - variance[b][r];
        const double growth_bias =
            open[b] ? info.growth_bias[b] + second_order * overlap * info.growth[b][r] : 0.0;
        const double gain = open[b] ? overlap * (info.growth[b][r] + push_ * growth_bias)
                                    : info.gain[b][r] + push_ * info.gain_bias[b];
        precision_[b][r] = std::max(floor_, alpha * gain / variance[b][r]);
      }
    }
  }

  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Precision& precision() const { return precision_; }
  [[nodiscard]] Replicates overlap(std::size_t b) const {
    return numerics::map(precision_[b], overlap_of_precision);
  }
  [[nodiscard]] Replicates cosine(std::size_t b) const {
    return numerics::map(precision_[b],
                         [](double x) { return std::sqrt(overlap_of_precision(x)); });
  }

 private:
  static void magnify(std::vector<Replicates>& variance) {
    double largest = 0.0;
    for (const Replicates& values : variance) {
      largest = std::max(largest, *std::max_element(values.begin(), values.end()));
    }
    if (largest >= linear_variance) return;
    for (Replicates& values : variance) {
      for (double& v : values) v *= linear_variance / largest;
    }
  }

  const SequenceModel* model_;
  bool exact_;
  double floor_;
  double push_;
  Precision precision_;
};

/// The mean over replicates; its error has the scatter, and how far the pushed path is off.
Estimate between(const Replicates& values, const Replicates& pushed) {
  return numerics::reduce(values, std::abs(numerics::mean(pushed) - numerics::mean(values)));
}

EvolutionPoint point_of(const SequenceModel& model, const EvolutionOptions& options, int iteration,
                        const Path& path, const Path& pushed, const Context& context) {
  EvolutionPoint p;
  p.iteration = iteration;
  for (std::size_t b = 0; b < model.shape().blocks(); ++b) {
    p.overlap.push_back(between(path.overlap(b), pushed.overlap(b)));
    p.cosine.push_back(between(path.cosine(b), pushed.cosine(b)));
  }
  const auto errors = [&](const Path& of) {
    return prediction_errors(model, variances(of.precision()), options.error_points, options.seed,
                             context);
  };
  const PredictionErrors here = errors(path);
  const PredictionErrors there = errors(pushed);
  p.error_plugin = between(here.plugin, there.plugin);
  p.error_bayes = between(here.bayes, there.bayes);
  return p;
}

/// The whole evolution with this many outer points.
std::vector<EvolutionPoint> follow(const SequenceModel& model, double alpha,
                                   const EvolutionOptions& options, std::size_t points,
                                   const Context& context) {
  ChannelOptions rule;
  rule.points = points;
  rule.nodes = options.nodes;
  rule.seed = options.seed;
  const Channel channel(model, rule);
  Path path(model, options, rule.replicates, 0.0);
  Path pushed(model, options, rule.replicates, 1.0);
  std::vector<EvolutionPoint> out{point_of(model, options, 0, path, pushed, context)};
  for (int t = 1; t <= options.iterations; ++t) {
    context.check();
    path.step(channel, alpha, context);
    if (path.exact()) {
      pushed = path;
    } else {
      pushed.step(channel, alpha, context);
    }
    out.push_back(point_of(model, options, t, path, pushed, context));
    context.report(static_cast<double>(t) / options.iterations, "iterations");
  }
  return out;
}

}  // namespace

void EvolutionOptions::validate(std::size_t blocks) const {
  const auto check = [](bool good, const char* field, const char* allowed) {
    if (!good) throw InvalidArgument(field, std::string("is not allowed; allowed: ") + allowed);
  };
  check(iterations >= 1, "iterations", "1 or more");
  check(start.size() == blocks, "start", "one overlap per block");
  for (const double q : start) check(q > 0.0 && q < 1.0, "start", "overlaps in (0, 1)");
  check(chance > 0.0 && chance < 1.0, "chance", "a number in (0, 1)");
  check(tolerance > 0.0, "tolerance", "a number above 0");
  check(max_points >= least_points, "max_points", "256 or more");
}

EvolvedOverlaps evolve(const SequenceModel& model, double alpha, const EvolutionOptions& options,
                       const Context& context) {
  options.validate(model.shape().blocks());
  if (!(alpha > 0.0 && std::isfinite(alpha))) {
    throw InvalidArgument("alpha", "allowed: finite numbers above 0");
  }
  EvolvedOverlaps evolution;
  for (std::size_t points = least_points;;) {
    evolution.points = follow(model, alpha, options, points, context);
    double worst = 0.0;
    for (const EvolutionPoint& p : evolution.points) {
      for (const Estimate& q : p.overlap) worst = std::max(worst, q.error);
    }
    evolution.met_tolerance = worst <= options.tolerance;
    if (evolution.met_tolerance || points >= options.max_points) return evolution;
    const double factor = std::pow(worst / options.tolerance, 1.0 / least_error_rate);
    const double wanted = static_cast<double>(points) * factor;
    do points *= 2;
    while (static_cast<double>(points) < wanted && points < options.max_points);
  }
}

}  // namespace onset::smi
