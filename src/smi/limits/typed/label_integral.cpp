#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <memory>

#include "numerics/parallel.hpp"
#include "numerics/random.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/typed/sample_form.hpp"
#include "smi/limits/typed/typed_channel.hpp"

namespace onset::smi {
namespace {

/// Labels that tell where the law of the label lies.
constexpr std::size_t sampled_labels = 4096;
/// Panels between the sampled extremes, to begin with.
constexpr int first_panels = 24;
constexpr int max_tail_panels = 90;
/// Widths of the first and the widest panels beyond the sampled extremes, in units of asinh: each
/// is twice the one before, so that the end of a bounded law is seen wherever it is.
constexpr double first_tail_width = 1e-8;
constexpr double max_tail_width = 0.5;
constexpr int max_halvings = 44;
constexpr std::size_t max_panels = 700;
/// Mass, pull and growth of a panel are integrated to this.
double panel_tolerance(std::size_t normals) {
  return normals == 1 ? 1e-9 : (normals == 2 ? 2e-6 : 3e-5);
}
/// Panels that contain less than this part of that are left out.
constexpr double negligible_part = 1e-2;
/// Lines of a posterior at overlap 0: they are scanned once for all labels, of which a discrete
/// link has few.
double fine_spacing(const TypedLink& link) {
  // The corners of the regions of a discrete link make the rule one of second order.
  if (link.fields().size() <= 2) return link.is_discrete() ? 0.125 / 32.0 : 0.125;
  return link.is_discrete() ? 0.125 : 0.5;
}

using Gauss = boost::math::quadrature::gauss<double, 10>;

/// y = centre + width sinh(u): tails of any weight become short.
struct LabelScale {
  double centre = 0.0;
  double width = 1.0;
  [[nodiscard]] double label(double u) const { return centre + width * std::sinh(u); }
  [[nodiscard]] double slope(double u) const { return width * std::cosh(u); }
  [[nodiscard]] double coordinate(double y) const { return std::asinh((y - centre) / width); }
};

struct Panel {
  double begin, end;
  /// Integrals of mass, pull and growth; how far to trust the panel.
  double integral[3] = {0.0, 0.0, 0.0};
  [[nodiscard]] double content() const { return *std::max_element(integral, integral + 3); }
};

/// A label with the weight dy of the rule.
struct Node {
  TypedLabel label;
  double weight;
};

/// The lines of both halves of one replicate.
class Replicate {
 public:
  Replicate(const TypedLink& link, const SampleForm& form, const TypedChannelOptions& options,
            std::uint64_t replicate)
      : link_(&link) {
    form_.matrix = form.matrix();
    form_.origin = FieldVector::Zero(form_.matrix.rows());
    const std::size_t n = form.normals();
    TypedNodes nodes;
    nodes.seed = options.seed;
    nodes.replicate = replicate;
    nodes.spacing = options.spacing > 0.0 ? options.spacing : fine_spacing(link);
    for (std::uint64_t h = 0; h < 2; ++h) {
      options_[h] = line_options(n, covering_radius(n), nodes, h);
      lines_[h] = std::make_unique<LevelLines>(link, form_, options_[h]);
    }
  }

  [[nodiscard]] LevelMoments half(const TypedLabel& label, std::size_t h) const {
    return resolved(*link_, form_, *lines_[h], label, options_[h]);
  }
  [[nodiscard]] std::vector<double> atoms() const { return lines_[0]->atoms(); }

 private:
  const TypedLink* link_;
  NormalForm form_;
  LineOptions options_[2];
  std::unique_ptr<LevelLines> lines_[2];
};

/// The rule for the density's part: panels are halved until nothing changes.
class LabelRule {
 public:
  LabelRule(const TypedLink& link, const Replicate& guide, const Context& context)
      : guide_(&guide), context_(&context), tolerance_(panel_tolerance(link.fields().size())) {
    find_scale(link);
    std::vector<Panel> open;
    const double width = (last_ - first_) / first_panels;
    for (int k = 0; k < first_panels; ++k) {
      open.push_back({first_ + k * width, first_ + (k + 1) * width});
    }
    integrate(open);
    add_tail(open, first_, -1.0);
    add_tail(open, last_, 1.0);
    for (int level = 0; level < max_halvings && !open.empty(); ++level) open = refine(open);
    for (const Panel& panel : open) close(panel);
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// What the last halvings changed altogether: a bound on the error of the rule.
  [[nodiscard]] double error() const { return error_; }

 private:
  void find_scale(const TypedLink& link) {
    const std::size_t rows = link.fields().size();
    std::vector<double> inputs(rows * sampled_labels);
    numerics::Stream(1, "labels").normal(inputs);
    std::vector<double> value(sampled_labels);
    std::vector<double> slopes(rows * sampled_labels);
    link.gradient(sampled_labels, inputs.data(), value.data(), slopes.data());
    std::vector<double> labels;
    std::vector<double> one(rows);
    for (std::size_t i = 0; i < sampled_labels; ++i) {
      for (std::size_t f = 0; f < rows; ++f) one[f] = slopes[f * sampled_labels + i];
      if (!TypedLink::is_flat(one.data(), rows)) labels.push_back(value[i]);
    }
    std::sort(labels.begin(), labels.end());
    const std::size_t size = labels.size();
    scale_.centre = labels[size / 2];
    scale_.width = 0.5 * (labels[3 * size / 4] - labels[size / 4]);
    if (!(scale_.width > 0.0)) scale_.width = std::max(1e-12, std::abs(scale_.centre));
    first_ = scale_.coordinate(labels.front());
    last_ = scale_.coordinate(labels.back());
  }

  [[nodiscard]] Panel measured(Panel panel) const {
    const auto& x = Gauss::abscissa();
    const auto& w = Gauss::weights();
    const double middle = 0.5 * (panel.begin + panel.end);
    const double reach = 0.5 * (panel.end - panel.begin);
    for (double& sum : panel.integral) sum = 0.0;
    const auto add = [&](double u, double weight) {
      const LevelMoments m = guide_->half({scale_.label(u), false}, 0);
      if (!(m.z > 0.0)) return;
      const double measure = weight * reach * scale_.slope(u);
      const auto n = m.mean.size();
      const FieldMatrix excess = m.second - m.z * FieldMatrix::Identity(n, n);
      panel.integral[0] += measure * m.z;
      panel.integral[1] += measure * m.mean.squaredNorm() / m.z;
      panel.integral[2] += measure * excess.squaredNorm() / m.z;
    };
    for (std::size_t k = 0; k < x.size(); ++k) {
      add(middle + reach * x[k], w[k]);
      if (x[k] > 0.0) add(middle - reach * x[k], w[k]);
    }
    return panel;
  }

  void integrate(std::vector<Panel>& panels) const {
    numerics::parallel_for(*context_, panels.size(),
                           [&](std::size_t k) { panels[k] = measured(panels[k]); });
  }

  /// Panels outwards from `from` until they are empty.
  void add_tail(std::vector<Panel>& open, double from, double sign) const {
    double width = first_tail_width;
    for (int k = 0; k < max_tail_panels; ++k) {
      const double to = from + sign * width;
      width = std::min(2.0 * width, max_tail_width);
      Panel panel = measured({std::min(from, to), std::max(from, to)});
      open.push_back(panel);
      from = to;
      const double content = panel.content();
      if (content == 0.0 || (width == max_tail_width && content < 1e-10)) return;
      context_->check();
    }
  }

  /// Halves every panel; keeps those that this changed.
  std::vector<Panel> refine(const std::vector<Panel>& open) {
    std::vector<Panel> halves;
    for (const Panel& panel : open) {
      const double middle = 0.5 * (panel.begin + panel.end);
      halves.push_back({panel.begin, middle});
      halves.push_back({middle, panel.end});
    }
    integrate(halves);
    std::vector<Panel> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      double change = 0.0;
      for (int i = 0; i < 3; ++i) {
        change = std::max(change, std::abs(halves[2 * k].integral[i] +
                                           halves[2 * k + 1].integral[i] - open[k].integral[i]));
      }
      if (change < tolerance_ || closed_ + left.size() > max_panels) {
        error_ += change;
        close(halves[2 * k]);
        close(halves[2 * k + 1]);
      } else {
        left.push_back(halves[2 * k]);
        left.push_back(halves[2 * k + 1]);
      }
    }
    return left;
  }

  void close(const Panel& panel) {
    ++closed_;
    // What nobody would notice is not worth the posteriors of all replicates.
    if (panel.content() < negligible_part * tolerance_) {
      error_ += panel.content();
      return;
    }
    const auto& x = Gauss::abscissa();
    const auto& w = Gauss::weights();
    const double middle = 0.5 * (panel.begin + panel.end);
    const double reach = 0.5 * (panel.end - panel.begin);
    const auto add = [&](double u, double weight) {
      nodes_.push_back({{scale_.label(u), false}, weight * reach * scale_.slope(u)});
    };
    for (std::size_t k = 0; k < x.size(); ++k) {
      add(middle + reach * x[k], w[k]);
      if (x[k] > 0.0) add(middle - reach * x[k], w[k]);
    }
  }

  const Replicate* guide_;
  const Context* context_;
  double tolerance_;
  LabelScale scale_;
  double first_ = 0.0;
  double last_ = 0.0;
  std::size_t closed_ = 0;
  double error_ = 0.0;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<TypedAverages> typed_channel_at_zero(const TypedLink& link,
                                                 const TypedChannelOptions& options,
                                                 const Context& context) {
  const SampleForm form(link, KnownDirections::none(link.directions()));
  // One normal has one line: no rotation, no shift, and so no scatter.
  const std::size_t replicates = form.normals() == 1 ? 1 : options.replicates;
  std::vector<std::unique_ptr<Replicate>> lines(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    lines[r] = std::make_unique<Replicate>(link, form, options, r);
  });
  std::vector<Node> nodes;
  double rule_error = 0.0;
  if (!link.is_discrete()) {
    const LabelRule rule(link, *lines[0], context);
    nodes = rule.nodes();
    rule_error = rule.error();
  }
  for (const double value : lines[0]->atoms()) nodes.push_back({{value, true}, 1.0});
  constexpr std::size_t chunk = 64;
  const std::size_t chunks = (nodes.size() + chunk - 1) / chunk;
  std::vector<TypedAverages> parts(replicates * chunks);
  numerics::parallel_for(context, parts.size(), [&](std::size_t task) {
    const Replicate& replicate = *lines[task / chunks];
    const std::size_t first = (task % chunks) * chunk;
    TypedAverages sum = form.zero();
    for (std::size_t k = first; k < std::min(nodes.size(), first + chunk); ++k) {
      const LevelMoments a = replicate.half(nodes[k].label, 0);
      const LevelMoments b = replicate.half(nodes[k].label, 1);
      const TypedMoments moments = normalised(a, b);
      if (moments.found) form.add(moments, 0.5 * (a.z + b.z) * nodes[k].weight, sum);
    }
    parts[task] = std::move(sum);
  });
  std::vector<TypedAverages> out;
  for (std::size_t r = 0; r < replicates; ++r) {
    TypedAverages sum = form.zero();
    for (std::size_t c = 0; c < chunks; ++c) sum += parts[r * chunks + c];
    sum.rule_error = rule_error;
    out.push_back(std::move(sum));
  }
  return out;
}

}  // namespace onset::smi
