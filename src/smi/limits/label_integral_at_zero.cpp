#include "smi/limits/label_integral_at_zero.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

/// Labels that tell where their law lies, and which of its values are atoms.
constexpr std::size_t sampled_labels = 4096;
constexpr int first_panels = 24;
/// Widths of panels beyond the sampled labels, in units of asinh: each is twice the one before, so
/// that the end of a bounded law is seen wherever it is.
constexpr double first_tail_width = 1e-10;
constexpr double max_tail_width = 0.25;
constexpr int max_tail_panels = 120;
/// A panel is done when halving it changes no integral by more than this.
constexpr double panel_tolerance = 1e-12;
constexpr int max_halvings = 48;
/// Probabilities must sum to 1 up to this: otherwise log Z is not the density of this description.
constexpr double mass_tolerance = 1e-7;

constexpr double infinity = std::numeric_limits<double>::infinity();

using Gauss = boost::math::quadrature::gauss<double, 15>;

/// Mass, log evidence, and pull and growth of every block.
using Sums = std::vector<double>;

class LabelIntegral {
 public:
  LabelIntegral(const SequenceModel& model, const Posterior& posterior, const Context& context)
      : shape_(model.shape()), posterior_(posterior), context_(context) {
    sample(model);
    total_ = Sums(2 + 2 * shape_.blocks(), 0.0);
  }

  void integrate() {
    if (!atoms_.empty()) {
      for (const Sums& s : integrands(atoms_)) add(1.0, s, total_);
    }
    if (labels_.empty()) return;
    std::sort(labels_.begin(), labels_.end());
    const std::size_t size = labels_.size();
    centre_ = labels_[size / 2];
    width_ = std::max(0.5 * (labels_[3 * size / 4] - labels_[size / 4]), 1e-12);
    const double first = std::asinh((labels_.front() - centre_) / width_);
    const double last = std::asinh((labels_.back() - centre_) / width_);
    const double step = (last - first) / first_panels;
    for (int k = 0; k < first_panels; ++k) refine(first + k * step, first + (k + 1) * step);
    // Some links describe a label by a size, and answer for its negative as well.
    const double zero = std::asinh(-centre_ / width_);
    add_tail(first, labels_.front() >= 0.0 ? zero : -infinity);
    add_tail(last, infinity);
  }

  [[nodiscard]] const Sums& total() const { return total_; }
  [[nodiscard]] double error() const { return error_; }

 private:
  static void add(double weight, const Sums& from, Sums& to) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += weight * from[k];
  }

  void sample(const SequenceModel& model) {
    std::vector<double> fields(shape_.fields());
    numerics::Stream stream(1, "smi labels at zero");
    std::multiset<double> all;
    for (std::size_t i = 0; i < sampled_labels; ++i) {
      stream.normal(fields);
      double label = 0.0;
      model.label(fields, {}, {&label, 1});
      all.insert(label);
    }
    for (auto at = all.begin(); at != all.end(); at = all.upper_bound(*at)) {
      (all.count(*at) > 1 ? atoms_ : labels_).push_back(*at);
    }
  }

  /// Density times mass 1, log Z, pull and growth at every label.
  [[nodiscard]] std::vector<Sums> integrands(const std::vector<double>& labels) const {
    const std::size_t count = labels.size();
    const std::vector<double> omega(shape_.fields() * count, 0.0);
    const std::vector<double> variance(shape_.blocks(), 1.0);
    PosteriorMoments moments(shape_, count);
    posterior_.moments({count, labels, omega, variance}, moments);
    const PosteriorMoments::Half& half = moments.half[0];
    std::vector<Sums> out;
    for (std::size_t i = 0; i < count; ++i) {
      Sums sums(2 + 2 * shape_.blocks(), 0.0);
      const double density = std::exp(half.log_z[i]);
      if (density > 0.0 && std::isfinite(density)) {
        sums[0] = density;
        sums[1] = density * half.log_z[i];
        for (std::size_t b = 0; b < shape_.blocks(); ++b) {
          const double scale = density / shape_.rank[b];
          sums[2 + 2 * b] = scale * squared_mean(half, b, count, i);
          sums[3 + 2 * b] = scale * squared_excess(half, b, count, i);
        }
      }
      out.push_back(std::move(sums));
    }
    return out;
  }

  [[nodiscard]] double squared_mean(const PosteriorMoments::Half& half, std::size_t b,
                                    std::size_t count, std::size_t i) const {
    double sum = 0.0;
    for (std::size_t f = shape_.first(b); f < shape_.first(b + 1); ++f) {
      sum += half.mean[f * count + i] * half.mean[f * count + i];
    }
    return sum;
  }

  /// ||<z z^T> - I||^2 of a block, from its lower triangle.
  [[nodiscard]] double squared_excess(const PosteriorMoments::Half& half, std::size_t b,
                                      std::size_t count, std::size_t i) const {
    double sum = 0.0;
    std::size_t pair = shape_.first_pair(b);
    for (std::size_t p = 0; p < shape_.size(b); ++p) {
      for (std::size_t q = 0; q <= p; ++q, ++pair) {
        const double x = half.second[pair * count + i] - (p == q ? 1.0 : 0.0);
        sum += (p == q ? 1.0 : 2.0) * x * x;
      }
    }
    return sum;
  }

  [[nodiscard]] Sums panel(double begin, double end) const {
    const auto& x = Gauss::abscissa();
    const auto& w = Gauss::weights();
    const double middle = 0.5 * (begin + end);
    const double reach = 0.5 * (end - begin);
    std::vector<double> labels;
    std::vector<double> weights;
    const auto place = [&](double u, double weight) {
      labels.push_back(centre_ + width_ * std::sinh(u));
      weights.push_back(weight * reach * width_ * std::cosh(u));
    };
    for (std::size_t k = 0; k < x.size(); ++k) {
      place(middle + reach * x[k], w[k]);
      if (x[k] > 0.0) place(middle - reach * x[k], w[k]);
    }
    Sums sums(total_.size(), 0.0);
    const std::vector<Sums> at = integrands(labels);
    for (std::size_t k = 0; k < at.size(); ++k) add(weights[k], at[k], sums);
    return sums;
  }

  static double largest(const Sums& sums) {
    double out = 0.0;
    for (const double s : sums) out = std::max(out, std::abs(s));
    return out;
  }

  void refine(double begin, double end) { refine(begin, end, panel(begin, end), 0); }
  void refine(double begin, double end, const Sums& whole, int level) {
    context_.check();
    const double middle = 0.5 * (begin + end);
    const Sums left = panel(begin, middle);
    const Sums right = panel(middle, end);
    Sums change = whole;
    add(-1.0, left, change);
    add(-1.0, right, change);
    if (largest(change) > panel_tolerance && level < max_halvings) {
      refine(begin, middle, left, level + 1);
      refine(middle, end, right, level + 1);
      return;
    }
    error_ += largest(change);
    add(1.0, left, total_);
    add(1.0, right, total_);
  }

  /// Panels outwards from the sampled labels until they are empty, and no further than `end`.
  void add_tail(double from, double end) {
    const bool upwards = end > from;
    double width = first_tail_width;
    for (int k = 0; k < max_tail_panels && from != end; ++k) {
      const double to = upwards ? std::min(end, from + width) : std::max(end, from - width);
      const double content = largest(panel(std::min(from, to), std::max(from, to)));
      if (content > 0.0) refine(std::min(from, to), std::max(from, to));
      const bool widest = width >= max_tail_width;
      if (content == 0.0 || (widest && content < panel_tolerance)) return;
      from = to;
      width = std::min(2.0 * width, max_tail_width);
    }
  }

  const FieldShape& shape_;
  const Posterior& posterior_;
  const Context& context_;
  std::vector<double> atoms_, labels_;
  double centre_ = 0.0;
  double width_ = 1.0;
  Sums total_;
  double error_ = 0.0;
};

}  // namespace

std::optional<ChannelAtZero> label_integral_at_zero(const SequenceModel& model,
                                                    const Context& context) {
  if (model.label_size() != 1 || model.noise_size() != 0) return std::nullopt;
  const auto posterior = model.posterior({});
  if (!posterior->exact()) return std::nullopt;
  LabelIntegral integral(model, *posterior, context);
  integral.integrate();
  const Sums& sums = integral.total();
  const double missing = std::abs(sums[0] - 1.0);
  if (!(missing < mass_tolerance)) return std::nullopt;
  const double bias = integral.error() + missing;
  const auto same = [](double x) { return numerics::Replicates(numerics::default_replicates, x); };
  ChannelAtZero out;
  out.log_evidence = same(sums[1]);
  out.log_evidence_bias = bias;
  for (std::size_t b = 0; b < model.shape().blocks(); ++b) {
    // Moments that vanish do so to rounding, and then nothing grows.
    const auto above_rounding = [&](double x) { return x > bias ? x : 0.0; };
    out.pull.push_back(same(above_rounding(sums[2 + 2 * b])));
    const double growth = above_rounding(sums[3 + 2 * b]);
    out.growth.push_back(same(growth));
    out.relative_bias.push_back(growth > 0.0 ? bias / growth : 0.0);
  }
  return out;
}

}  // namespace onset::smi
