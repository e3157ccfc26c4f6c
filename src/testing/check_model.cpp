#include "onset/testing/check_model.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "testing/model_samples.hpp"
#include "testing/model_statistics.hpp"
#include "testing/pointwise_checks.hpp"

namespace onset::testing {
namespace {

// For samples far from the law, omega is this many times wider than any field.
constexpr double far_width = 2.0;
// The variance at which signs of blocks are flipped: something is known about every block, but not
// everything.
constexpr double flip_variance = 0.5;

using Setting = std::vector<double>;  // V of every block

std::vector<Setting> settings(std::size_t blocks, const std::vector<double>& variances) {
  std::vector<Setting> out = {Setting(blocks, 1.0)};
  for (const double v : variances) {
    if (v == 1.0) continue;
    out.emplace_back(blocks, v);
    for (std::size_t b = 0; blocks > 1 && b < blocks; ++b) {
      out.emplace_back(blocks, 1.0);
      out.back()[b] = v;
    }
  }
  return out;
}

class Check {
 public:
  Check(const smi::SequenceModel& model, const ModelCheckOptions& options, const Context& context)
      : model_(model),
        options_(options),
        context_(context),
        posterior_(model.posterior(smi::PosteriorOptions{})) {}

  ModelReport run() {
    for (const Setting& setting : settings(model_.shape().blocks(), options_.variances)) {
      const bool usable = values(setting);
      if (!usable) continue;  // statistics of NaNs say nothing more
      if (posterior_->exact()) {
        add(check_derivatives(*posterior_, model_.shape(), draw(setting, options_.differences)));
      }
      statistics(setting);
    }
    judge();
    report_.passed = report_.findings.empty();
    return report_;
  }

 private:
  void add(const std::vector<std::string>& findings) {
    report_.findings.insert(report_.findings.end(), findings.begin(), findings.end());
  }

  [[nodiscard]] ModelSamples draw(const Setting& setting, std::size_t count) const {
    std::vector<double> normals(normals_per_sample(model_) * count);
    numerics::Stream(options_.seed, "check model").normal(normals);
    return make_samples(model_, setting, normals, count);
  }

  // Checks samples of the law, and the same labels with an omega that has nothing to do with them.
  bool values(const Setting& setting) {
    ModelSamples samples = draw(setting, options_.points);
    const std::size_t before = report_.findings.size();
    smi::PosteriorMoments moments(model_.shape(), samples.count);
    posterior_->moments(samples.query(), moments);
    add(check_values(moments, describe(setting)));
    numerics::Stream stream(options_.seed, "check model far");
    for (double& omega : samples.omega) omega = far_width * stream.normal();
    posterior_->moments(samples.query(), moments);
    add(check_values(moments, describe(setting) + ", omega far from the fields"));
    return report_.findings.size() == before;
  }

  void statistics(const Setting& setting) {
    const ModelStatistics found =
        model_statistics(model_, *posterior_, setting, options_, context_);
    deviations_.insert(deviations_.end(), found.deviations.begin(), found.deviations.end());
    if (!report_.blocks.empty()) return;  // only the first setting counts, where nothing is learned
    const ModelSamples samples = draw(Setting(setting.size(), flip_variance), options_.differences);
    for (std::size_t b = 0; b < setting.size(); ++b) {
      const bool symmetric = sign_symmetric(model_, *posterior_, samples, b);
      report_.blocks.push_back({symmetric, found.gain[b], found.growth[b]});
      if (symmetric || !model_.even(b)) continue;
      add({fmt::format("block {} is called even, but its sign changes what a label says", b + 1)});
    }
  }

  // Uses Student's t over all tests together (Bonferroni).
  void judge() {
    report_.statistical_tests = static_cast<int>(deviations_.size());
    if (deviations_.empty()) return;
    const boost::math::students_t law(options_.replicates - 1);
    const double tail = options_.false_alarm / (2.0 * static_cast<double>(deviations_.size()));
    report_.threshold = boost::math::quantile(boost::math::complement(law, tail));
    // An event that all samples missed may change an expectation by its probability, since moments
    // of zeta are of order one. An event of this probability is missed with the chance false_alarm.
    const double samples = static_cast<double>(options_.points) * options_.replicates;
    const double unseen = -std::log(options_.false_alarm) / samples;
    const double allowance = unseen + (posterior_->exact() ? 0.0 : options_.inner_bias);
    for (const Deviation& d : deviations_) {
      const double size = std::fabs(d.value.value);
      if (size <= allowance + report_.threshold * d.value.error) continue;
      report_.findings.push_back(fmt::format("{}: by {:.3g}, {:.1f} standard errors", d.what,
                                             d.value.value, size / d.value.error));
    }
  }

  const smi::SequenceModel& model_;
  const ModelCheckOptions& options_;
  const Context& context_;
  std::unique_ptr<smi::Posterior> posterior_;
  std::vector<Deviation> deviations_;
  ModelReport report_;
};

}  // namespace

void ModelCheckOptions::validate() const {
  for (const double v : variances) {
    if (!(v > 0.0 && v <= 1.0)) {
      throw InvalidArgument("variances", fmt::format("{} is not allowed; allowed: (0, 1]", v));
    }
  }
  if (replicates < 8) {
    throw InvalidArgument("replicates",
                          fmt::format("{} is not allowed; allowed: 8 or more", replicates));
  }
  if (points == 0 || (points & (points - 1)) != 0) {
    throw InvalidArgument("points",
                          fmt::format("{} is not allowed; allowed: a power of two", points));
  }
  if (!(false_alarm > 0.0 && false_alarm < 1.0)) {
    throw InvalidArgument("false_alarm",
                          fmt::format("{} is not allowed; allowed: (0, 1)", false_alarm));
  }
}

ModelReport check_model(const smi::SequenceModel& model, const ModelCheckOptions& options,
                        const Context& context) {
  options.validate();
  return Check(model, options, context).run();
}

}  // namespace onset::testing
