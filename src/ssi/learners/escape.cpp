#include "ssi/learners/escape.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/random/normal_stream.hpp"
#include "onset/core/error.hpp"
#include "onset/ssi/limits/exponent.hpp"
#include "ssi/model/sample_slopes.hpp"

namespace onset::ssi {
namespace {

/// The mean of |delta|^2 at the start, where fields of teacher and student are independent.
constexpr std::size_t variance_samples = 1 << 14;
double sampled_variance(const SequenceModel& model) {
  constexpr std::size_t samples = variance_samples;
  constexpr std::size_t batch = 256;  // so that matrices of many tokens take little memory
  const std::size_t tokens = model.tokens();
  std::vector<double> z(2 * tokens * samples);
  numerics::NormalStream(0, "ssi escape").fill(z);
  std::vector<double> fields(2 * tokens * batch);
  std::vector<double> delta(tokens * samples);
  const auto column = [](auto& values, std::size_t at) {
    return values.begin() + static_cast<std::ptrdiff_t>(at);
  };
  for (std::size_t first = 0; first < samples; first += batch) {
    for (std::size_t i = 0; i < 2 * tokens; ++i) {
      std::copy_n(column(z, i * samples + first), batch, column(fields, i * batch));
    }
    const double* student = fields.data() + tokens * batch;
    const SampleSlopes slopes = sample_slopes(model, batch, fields.data(), student);
    for (std::size_t i = 0; i < tokens; ++i) {
      std::copy_n(column(slopes.delta, i * batch), batch, column(delta, i * samples + first));
    }
  }
  double sum = 0.0;
  for (const double d : delta) sum += d * d;
  return sum / static_cast<double>(samples);
}

/// The part of this order in the expansion of the risk, along a direction of (e, m).
double form_along(const OriginExpansion& origin, std::size_t order, double e, double m) {
  double form = 0.0;
  for (std::size_t j = 0; j <= order && j < origin.taylor.size(); ++j) {
    form += origin.taylor[j][order - j].value * std::pow(e, static_cast<double>(j)) *
            std::pow(m, static_cast<double>(order - j));
  }
  return form;
}

/// -min of the form of this order over the directions along which all lower ones vanish.
double steepest_fall(const OriginExpansion& origin, std::size_t order) {
  constexpr std::size_t directions = 720;
  constexpr double vanishing = 1e-8;
  double fall = 0.0;
  for (std::size_t i = 0; i < directions; ++i) {
    const double angle = 2.0 * M_PI * static_cast<double>(i) / static_cast<double>(directions);
    const double e = origin.taylor.size() > 1 ? std::sin(angle) : 0.0;
    const double m = origin.taylor.size() > 1 ? std::cos(angle) : (i % 2 == 0 ? 1.0 : -1.0);
    bool flat = true;
    for (std::size_t k = 1; k < order; ++k) {
      flat = flat && std::abs(form_along(origin, k, e, m)) < vanishing;
    }
    if (flat) fall = std::max(fall, -form_along(origin, order, e, m));
  }
  return fall;
}

}  // namespace

Escape escape_of(const SequenceModel& model, const Context& context) {
  if (model.student.vector_per_token) {
    throw Refused(
        "an untied student has one overlap per token; its time beside that of a tied one is what "
        "ssi gain measures");
  }
  const Exponents exponents = information_exponents(model, {}, context);
  if (!exponents.resolved || !exponents.sie_descending) throw Refused(exponents.meaning);
  Escape escape;
  escape.order = *exponents.sie_descending;
  escape.coefficient = steepest_fall(exponents.origin, static_cast<std::size_t>(escape.order));
  escape.variance = sampled_variance(model);
  escape.law = exponents.samples;
  return escape;
}

double escape_seconds(const SequenceModel& model) {
  constexpr double ns_per_token = 12.0;  // measured: what a token takes besides the links
  const Link& student = *model.student.link;
  const double sample = model.target->value_ns() + student.value_ns() + student.pullback_ns() +
                        ns_per_token * static_cast<double>(model.tokens());
  return exponents_seconds(model, {}) + 1e-9 * static_cast<double>(variance_samples) * sample;
}

double usual_rate(const Escape& escape, double dim, double level) {
  const double overlap = escape.order == 1 ? level : 2.0 / std::sqrt(dim);
  return escape.order * escape.coefficient * std::pow(overlap, escape.order - 2) / escape.variance;
}

double typical_steps(const Escape& escape, double dim, double rate, double level) {
  const double slope = escape.order * escape.coefficient;
  const double start = 1.0 / std::sqrt(dim);
  const double pull = 0.5 * rate * escape.variance;
  double time = 0.0;
  if (escape.order == 1) {
    time = level / slope;
  } else if (escape.order == 2) {
    time = (1.0 + std::log(std::max(1.0, level / start))) / std::max(slope - pull, 1e-3 * slope);
  } else {
    // Noise enlarges the start to several times its size; unlucky runs are many times slower.
    constexpr double unlucky = 16.0;
    constexpr double enlarged = 4.0;
    time = unlucky * std::pow(enlarged * start, 2 - escape.order) / (slope * (escape.order - 2));
  }
  return time * dim / rate;
}

}  // namespace onset::ssi
