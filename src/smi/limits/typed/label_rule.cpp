#include "smi/limits/typed/label_rule.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {
namespace {

/// Labels that tell where the law of the label lies, and how much of it lies in a panel.
constexpr std::size_t sampled_labels = 65536;
/// How far that may be from the mass of the panel: in standard deviations of the number of sampled
/// labels, and relative to it, since lines are accurate to that.
constexpr double count_deviations = 6.0;
constexpr double count_part = 0.02;
/// Panels between the sampled extremes, to begin with.
constexpr int first_panels = 24;
constexpr int max_tail_panels = 90;
/// Towards 0, panels beyond the sampled extremes are laid by factors: the law of exp(-3 z^2) has
/// labels of every size there.
constexpr double towards_zero = 1.0 / 16.0;
/// Widths of the first and the widest panels beyond the sampled extremes, in units of asinh: each
/// is twice the one before, so that the end of a bounded law is seen wherever it is.
constexpr double first_tail_width = 1e-8;
constexpr double max_tail_width = 0.5;
constexpr int max_halvings = 150;
/// A law that comes this close to 0, in units of its width, is measured from there: floating point
/// numbers resolve the labels next to 0 and next to no other one.
constexpr double near_zero = 1e-2;
constexpr std::size_t max_panels = 700;
/// Mass, pull and growth of a panel are integrated to this.
double panel_tolerance(std::size_t normals) {
  return normals == 2 ? 2e-6 : 3e-5;
}
/// The same of panels of a single field, which cost next to nothing.
constexpr int first_field_panels = 64;
constexpr std::size_t max_field_panels = 6000;
constexpr double field_tolerance = 1e-9;
constexpr int max_field_halvings = 60;
/// Panels that contain less than this part of that are left out.
constexpr double negligible_part = 1e-2;
/// Lines of a posterior at overlap 0: they are scanned once for all labels, of which a discrete
/// link has few.
double fine_spacing(const TypedLink& link) {
  // The corners of the regions of a discrete link make the rule one of second order.
  if (link.fields().size() <= 2) return link.is_discrete() ? 0.125 / 32.0 : 0.125;
  return link.is_discrete() ? 0.125 : 0.5;
}

/// A level set that lines meet less often is asked for around the extreme values of the link too.
constexpr std::size_t plenty_of_roots = 64;
/// Steps of the search for such a value.
constexpr double first_step = 0.25;
constexpr double last_step = 1e-5;
/// An extreme value closer than this to the end of what lines cover may be none.
constexpr double from_rim = 1.0;

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
  std::vector<double> integral = {};  ///< of every content; empty where no label was met
  bool is_cut = false;                ///< whether some of its labels were met and others not
  bool is_calm = false;               ///< whether the halving that made it changed nothing
  [[nodiscard]] double content() const {
    return integral.empty() ? 0.0 : *std::max_element(integral.begin(), integral.end());
  }
};

/// Calls visit(u, weight) for the points of a panel.
template <class Visit>
void for_points(const Panel& panel, const Visit& visit) {
  const auto& x = Gauss::abscissa();
  const auto& w = Gauss::weights();
  const double middle = 0.5 * (panel.begin + panel.end);
  const double reach = 0.5 * (panel.end - panel.begin);
  for (std::size_t k = 0; k < x.size(); ++k) {
    visit(middle + reach * x[k], w[k] * reach);
    if (x[k] > 0.0) visit(middle - reach * x[k], w[k] * reach);
  }
}

/// Adds `factor` times the contents of a label.
void add_contents(const std::vector<double>& contents, double factor, std::vector<double>& to) {
  to.resize(std::max(to.size(), contents.size()), 0.0);
  for (std::size_t k = 0; k < contents.size(); ++k) to[k] += factor * contents[k];
}

std::vector<Panel> halves_of(const std::vector<Panel>& panels) {
  std::vector<Panel> halves;
  for (const Panel& panel : panels) {
    const double middle = 0.5 * (panel.begin + panel.end);
    halves.push_back({panel.begin, middle});
    halves.push_back({middle, panel.end});
  }
  return halves;
}

/// How far the contents of two halves are from those of the whole, in size.
std::vector<double> change_by_halving(const Panel& first, const Panel& second, const Panel& whole) {
  const auto at = [](const Panel& panel, std::size_t i) {
    return i < panel.integral.size() ? panel.integral[i] : 0.0;
  };
  std::vector<double> out(
      std::max({first.integral.size(), second.integral.size(), whole.integral.size()}));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::abs(at(first, i) + at(second, i) - at(whole, i));
  }
  return out;
}

double largest_of(const std::vector<double>& changes) {
  return changes.empty() ? 0.0 : *std::max_element(changes.begin(), changes.end());
}

/// The rule for labels of a single field: panels of the field, halved until nothing changes. A
/// label of which the density is infinite, at a fold of the link, is nothing special there, and
/// the mass is that of the field [links 18].
class FieldPanels {
 public:
  FieldPanels(const TypedLink& link, const LabelContents& contents, const Context& context)
      : link_(&link), contents_(&contents), context_(&context) {
    const double reach = covering_radius(1);
    std::vector<Panel> open;
    for (int k = 0; k < first_field_panels; ++k) {
      const double width = 2.0 * reach / first_field_panels;
      open.push_back({-reach + k * width, -reach + (k + 1) * width});
    }
    integrate(open);
    for (int level = 0; level < max_field_halvings && !open.empty(); ++level) open = refine(open);
    for (const Panel& panel : open) close(panel, panel.integral);
  }

  [[nodiscard]] const std::vector<LabelNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<double>& error() const { return error_; }

 private:
  /// The label of a field with the weight that it has per unit of its own density, and what it
  /// contributes; nothing on a flat piece, whose label is an atom.
  struct Point {
    LabelNode node;
    std::vector<double> contents;
  };
  [[nodiscard]] std::optional<Point> point(double z, double weight) const {
    double value = 0.0;
    double slope = 0.0;
    link_->gradient(1, &z, &value, &slope);
    if (TypedLink::is_flat(&slope, 1)) return std::nullopt;
    Point out{{{value, false}, 0.0}, (*contents_)({value, false})};
    if (out.contents.empty()) return std::nullopt;
    out.node.weight = weight * normal_density(z * z, 1) / out.contents.front();
    return out;
  }

  void integrate(std::vector<Panel>& panels) const {
    numerics::parallel_for(*context_, panels.size(), [&](std::size_t k) {
      for_points(panels[k], [&](double z, double weight) {
        const auto own = point(z, weight);
        if (own) add_contents(own->contents, own->node.weight, panels[k].integral);
      });
    });
  }

  /// Halves every panel; keeps those that this changed. By accident a change may be missed twice,
  /// but hardly three times.
  std::vector<Panel> refine(const std::vector<Panel>& open) {
    std::vector<Panel> halves = halves_of(open);
    integrate(halves);
    std::vector<Panel> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::vector<double> changes =
          change_by_halving(halves[2 * k], halves[2 * k + 1], open[k]);
      const bool is_accurate = largest_of(changes) < field_tolerance;
      const bool is_sure = is_accurate && open[k].is_calm;
      const bool is_last = closed_ + left.size() > max_field_panels;
      for (std::size_t h : {2 * k, 2 * k + 1}) {
        halves[h].is_calm = is_accurate;
        if (!is_sure && !is_last) left.push_back(halves[h]);
      }
      if (!is_sure && !is_last) continue;
      close(halves[2 * k], changes);
      close(halves[2 * k + 1], {});
    }
    return left;
  }

  void close(const Panel& panel, const std::vector<double>& error) {
    ++closed_;
    add_contents(error, 1.0, error_);
    for_points(panel, [&](double z, double weight) {
      const auto own = point(z, weight);
      if (own) nodes_.push_back(own->node);
    });
  }

  const TypedLink* link_;
  const LabelContents* contents_;
  const Context* context_;
  std::size_t closed_ = 0;
  std::vector<double> error_;
  std::vector<LabelNode> nodes_;
};

/// The rule for labels of several fields: panels of the label, halved until nothing changes.
class LabelPanels {
 public:
  LabelPanels(const TypedLink& link, const LabelContents& contents, const Context& context)
      : contents_(&contents),
        context_(&context),
        normals_(link.fields().size()),
        tolerance_(panel_tolerance(normals_)) {
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

  [[nodiscard]] const std::vector<LabelNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<double>& error() const { return error_; }

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
    sampled_ = labels;
    const std::size_t size = labels.size();
    scale_.centre = labels[size / 2];
    scale_.width = 0.5 * (labels[3 * size / 4] - labels[size / 4]);
    const double closest =
        std::abs(*std::min_element(labels.begin(), labels.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    if (closest < near_zero * scale_.width) scale_.centre = 0.0;
    if (!(scale_.width > 0.0)) scale_.width = std::max(1e-12, std::abs(scale_.centre));
    first_ = scale_.coordinate(labels.front());
    last_ = scale_.coordinate(labels.back());
  }

  [[nodiscard]] Panel measured(Panel panel) const {
    panel.integral.clear();
    if (is_unresolved(panel)) return panel;
    std::size_t met = 0;
    for_points(panel, [&](double u, double weight) {
      const std::vector<double> contents = (*contents_)({scale_.label(u), false});
      met += contents.empty() ? 0 : 1;
      add_contents(contents, weight * scale_.slope(u), panel.integral);
    });
    panel.is_cut = met > 0 && met < Gauss::weights().size() * 2;
    return panel;
  }

  /// Whether the labels of a panel differ by little more than rounding, as happens when it has been
  /// halved towards the end of a law: their roots would not be told apart.
  [[nodiscard]] bool is_unresolved(const Panel& panel) const {
    constexpr double roundings = 32.0 * std::numeric_limits<double>::epsilon();
    const double begin = scale_.label(panel.begin);
    const double end = scale_.label(panel.end);
    const double lost = scale_.centre == 0.0 ? 0.0 : scale_.width;
    return end - begin < roundings * (std::max(std::abs(begin), std::abs(end)) + lost);
  }

  void integrate(std::vector<Panel>& panels) const {
    numerics::parallel_for(*context_, panels.size(),
                           [&](std::size_t k) { panels[k] = measured(panels[k]); });
  }

  /// Whether a panel has about as many of the sampled labels as its mass says. A peak at the edge
  /// of a panel may be missed by all points of its own and of its halves, which then agree.
  [[nodiscard]] bool has_its_labels(const Panel& panel) const {
    const auto begin =
        std::lower_bound(sampled_.begin(), sampled_.end(), scale_.label(panel.begin));
    const auto end = std::lower_bound(begin, sampled_.end(), scale_.label(panel.end));
    const auto found = static_cast<double>(end - begin);
    const double expected =
        panel.integral.empty() ? 0.0 : panel.integral.front() * static_cast<double>(sampled_labels);
    return std::abs(found - expected) <=
           1.0 + count_deviations * std::sqrt(std::max(found, expected)) + count_part * expected;
  }

  /// Whether the rule is accurate on a half: one that the end of a law cuts is until it holds next
  /// to nothing.
  [[nodiscard]] bool is_settled(const Panel& half) const {
    if (is_unresolved(half)) return true;
    return has_its_labels(half) && !(half.is_cut && half.content() > negligible_part * tolerance_);
  }

  /// Panels outwards from `from` until they are empty.
  void add_tail(std::vector<Panel>& open, double from, double sign) const {
    if (scale_.centre == 0.0 && sign * from < 0.0) from = add_tail_to_zero(open, from);
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

  /// Panels from there towards 0 until they hold next to nothing; returns where they end.
  double add_tail_to_zero(std::vector<Panel>& open, double from) const {
    for (int k = 0; k < max_tail_panels; ++k) {
      const double to = towards_zero * from;
      const Panel panel = measured({std::min(from, to), std::max(from, to)});
      if (panel.content() == 0.0) return from;
      open.push_back(panel);
      from = to;
      if (panel.content() < 0.1 * negligible_part * tolerance_) return from;
      context_->check();
    }
    return from;
  }

  /// Halves every panel; keeps those that this changed.
  std::vector<Panel> refine(const std::vector<Panel>& open) {
    std::vector<Panel> halves = halves_of(open);
    integrate(halves);
    std::vector<Panel> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::vector<double> changes =
          change_by_halving(halves[2 * k], halves[2 * k + 1], open[k]);
      const bool is_accurate = largest_of(changes) < tolerance_ && is_settled(halves[2 * k]) &&
                               is_settled(halves[2 * k + 1]);
      if (is_accurate || closed_ + left.size() > max_panels) {
        add_contents(changes, 1.0, error_);
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
    if (panel.integral.empty()) return;
    // What nobody would notice is not worth the posteriors of all replicates.
    if (panel.content() < negligible_part * tolerance_) {
      add_contents(panel.integral, 1.0, error_);
      return;
    }
    for_points(panel, [&](double u, double weight) {
      nodes_.push_back({{scale_.label(u), false}, weight * scale_.slope(u)});
    });
  }

  const LabelContents* contents_;
  const Context* context_;
  std::size_t normals_;
  double tolerance_;
  LabelScale scale_;
  double first_ = 0.0;
  double last_ = 0.0;
  std::vector<double> sampled_;  ///< labels in order, without those on flat pieces
  std::size_t closed_ = 0;
  std::vector<double> error_;
  std::vector<LabelNode> nodes_;
};

}  // namespace

bool has_label_integral(const TypedLink& link) {
  return link.outputs() == 1 || link.is_discrete();
}

LabelLines::LabelLines(const TypedLink& link, const SampleForm& form,
                       const TypedChannelOptions& options, std::uint64_t replicate)
    : link_(&link) {
  form_.matrix = form.matrix();
  form_.origin = FieldVector::Zero(form_.matrix.rows());
  const std::size_t n = form.normals();
  TypedNodes nodes;
  nodes.seed = options.seed;
  nodes.replicate = replicate;
  nodes.spacing = options.spacing > 0.0 ? options.spacing : fine_spacing(link);
  nodes.spacing /= options.refinement;
  for (std::uint64_t h = 0; h < 2; ++h) {
    const double radius = options.radius > 0.0 ? options.radius : covering_radius(n);
    half_[h].options = line_options(n, radius, nodes, h);
    half_[h].lines = std::make_unique<LevelLines>(link, form_, half_[h].options);
    half_[h].lines->file_cells();
  }
  // One normal has one line, which is its own image.
  if (n == 1) return;
  for (const Eigen::MatrixXd& map : field_symmetries(link)) {
    // Where nothing is known the matrix is orthogonal.
    symmetries_.push_back(form_.matrix.transpose() * map * form_.matrix);
  }
}

FieldVector LabelLines::bottom(FieldVector at, double sign) const {
  const auto value = [&](const FieldVector& xi) {
    const FieldVector fields = form_.matrix * xi;
    std::vector<double> out(link_->outputs());
    link_->values(1, fields.data(), out.data());
    return sign * out[half_[0].options.output];
  };
  double least = value(at);
  for (double step = first_step; step > last_step; step *= 0.5) {
    for (bool moved = true; moved && at.norm() < half_[0].options.radius;) {
      moved = false;
      for (Eigen::Index k = 0; k < at.size(); ++k) {
        for (const double side : {-step, step}) {
          FieldVector next = at;
          next(k) += side;
          const double there = value(next);
          if (!(there < least)) continue;
          at = next;
          least = there;
          moved = true;
        }
      }
    }
  }
  return at;
}

const LevelLines* LabelLines::around(Extreme& extreme, double sign, const Half& half) const {
  std::call_once(extreme.asked, [&] {
    const FieldVector centre = bottom(half.lines->lowest(sign), sign);
    if (!(centre.norm() < half.options.radius - from_rim)) return;
    extreme.lines = std::make_unique<LevelLines>(*link_, form_, centred_at(centre, half.options));
    extreme.lines->file_cells();
  });
  return extreme.lines.get();
}

template <class Ask>
auto LabelLines::best(const TypedLabel& label, const Half& half, const Ask& ask) const {
  auto found = ask(*half.lines);
  const std::size_t n = form_.normals();
  if (label.is_atom() || n == 1 || n > 3 || found.roots >= plenty_of_roots) return found;
  for (const double sign : {1.0, -1.0}) {
    const LevelLines* lines = around(sign > 0.0 ? half.lowest : half.highest, sign, half);
    if (!lines) continue;
    auto other = ask(*lines);
    if (other.roots > found.roots) found = std::move(other);
  }
  return found;
}

LevelMoments LabelLines::half(const TypedLabel& label, std::size_t h) const {
  LevelMoments found =
      best(label, half_[h], [&](const LevelLines& lines) { return lines.moments(label); });
  if (found.roots < min_level_roots) {
    found = resolved(*link_, form_, *half_[h].lines, label, half_[h].options);
  }
  if (symmetries_.size() < 2) return found;
  LevelMoments mean = found;
  mean.mean.setZero();
  mean.second.setZero();
  for (const FieldMatrix& map : symmetries_) {
    mean.mean += map * found.mean;
    mean.second += map * found.second * map.transpose();
  }
  mean.mean /= static_cast<double>(symmetries_.size());
  mean.second /= static_cast<double>(symmetries_.size());
  return mean;
}

LevelHermite LabelLines::hermite(const TypedLabel& label, std::size_t h,
                                 const HermiteIndices& indices) const {
  LevelHermite found =
      best(label, half_[h], [&](const LevelLines& lines) { return lines.hermite(label, indices); });
  if (found.roots >= min_level_roots) return found;
  return resolved_hermite(*link_, form_, *half_[h].lines, label, half_[h].options, indices);
}

double LabelRule::missed(double mass) const {
  const double rounding = 1e-14;
  const double of_rule = error.empty() ? 0.0 : error.front();
  return std::max(0.0, std::abs(mass - 1.0) - 3.0 * of_rule - rounding);
}

LabelRule label_rule(const TypedLink& link, const LabelContents& contents,
                     const std::vector<TypedLabel>& atoms, const Context& context) {
  LabelRule rule;
  const auto take = [&rule](const auto& panels) {
    rule.nodes = panels.nodes();
    rule.error = panels.error();
  };
  if (!link.is_discrete() && link.fields().size() == 1) {
    take(FieldPanels(link, contents, context));
  } else if (!link.is_discrete()) {
    take(LabelPanels(link, contents, context));
  }
  for (const TypedLabel& atom : atoms) rule.nodes.push_back({atom, 1.0});
  return rule;
}

}  // namespace onset::smi
