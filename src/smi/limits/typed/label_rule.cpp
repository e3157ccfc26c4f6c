#include "smi/limits/typed/label_rule.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"

namespace onset::smi {
namespace {

/// Labels that tell where the law of the label lies, and how much of it lies in a panel.
constexpr std::size_t sampled_labels = 65536;
/// How far that may be from the mass of the panel: in standard deviations of the number of sampled
/// labels, and relative to it, since lines are accurate to that.
constexpr double count_deviations = 6.0;
constexpr double count_part = 0.02;
/// Panels between the sampled extremes, to begin with.
constexpr std::size_t first_label_panels = 24;
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
constexpr std::size_t max_label_panels = 700;
/// Mass, pull and growth of a panel are integrated to this.
double panel_tolerance(std::size_t normals) {
  return normals == 2 ? 2e-6 : 3e-5;
}
/// Panels that contain less than this part of that are left out.
constexpr double negligible_part = 1e-2;
/// The same of panels of a single field, which cost next to nothing.
constexpr std::size_t first_field_panels = 64;
constexpr std::size_t max_field_panels = 6000;
constexpr double field_tolerance = 1e-9;
constexpr int max_field_halvings = 60;

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

/// When a panel has been halved often enough.
struct HalvingLimits {
  double tolerance;    ///< what the last halving may change
  double negligible;   ///< a panel that holds less than this gets no labels
  bool asks_again;     ///< whether the halving before it must have changed nothing either
  int halvings;        ///< of one first panel
  std::size_t panels;  ///< in all
};

/// The rule of panels that are halved until nothing changes. A way to lay them says where the
/// first ones are, what one holds, whether that can be trusted, and which labels it has.
template <class Way>
LabelRule halved_panels(const Way& way, const HalvingLimits& limits, const Context& context) {
  LabelRule rule;
  std::size_t closed = 0;
  const auto close = [&](const Panel& panel) {
    ++closed;
    // What nobody would notice is not worth the posteriors of all replicates.
    if (panel.content() < limits.negligible) {
      add_contents(panel.integral, 1.0, rule.error);
    } else {
      way.add_nodes(panel, rule.nodes);
    }
  };
  std::vector<Panel> open = way.first_panels();
  for (int level = 0; level < limits.halvings && !open.empty(); ++level) {
    std::vector<Panel> halves(2 * open.size());
    numerics::parallel_for(context, halves.size(), [&](std::size_t k) {
      const Panel& whole = open[k / 2];
      const double middle = 0.5 * (whole.begin + whole.end);
      halves[k] = k % 2 == 0 ? way.measured(whole.begin, middle) : way.measured(middle, whole.end);
    });
    std::vector<Panel> left;
    for (std::size_t k = 0; k < open.size(); ++k) {
      Panel& first = halves[2 * k];
      Panel& second = halves[2 * k + 1];
      const std::vector<double> changes = change_by_halving(first, second, open[k]);
      const bool is_calm =
          largest_of(changes) < limits.tolerance && way.is_settled(first) && way.is_settled(second);
      first.is_calm = second.is_calm = is_calm;
      const bool is_sure = is_calm && (open[k].is_calm || !limits.asks_again);
      if (is_sure || closed + left.size() > limits.panels) {
        add_contents(changes, 1.0, rule.error);
        close(first);
        close(second);
      } else {
        left.push_back(first);
        left.push_back(second);
      }
    }
    open = std::move(left);
  }
  for (const Panel& panel : open) {
    add_contents(panel.integral, 1.0, rule.error);
    close(panel);
  }
  return rule;
}

/// Panels of one width.
template <class Way>
std::vector<Panel> even_panels(const Way& way, double begin, double end, std::size_t count,
                               const Context& context) {
  std::vector<Panel> out(count);
  const double width = (end - begin) / static_cast<double>(count);
  numerics::parallel_for(context, count, [&](std::size_t k) {
    out[k] = way.measured(begin + static_cast<double>(k) * width,
                          begin + static_cast<double>(k + 1) * width);
  });
  return out;
}

/// Panels of the field, for labels of a single one. A label of which the density is infinite, at a
/// fold of the link, is nothing special there, and the mass is that of the field [links 18].
class FieldPanels {
 public:
  FieldPanels(const TypedLink& link, const LabelContents& contents, const Context& context)
      : link_(&link), contents_(&contents), context_(&context) {}

  /// By accident a halving may miss a change, but hardly twice.
  [[nodiscard]] static HalvingLimits limits() {
    return {field_tolerance, 0.0, true, max_field_halvings, max_field_panels};
  }

  [[nodiscard]] std::vector<Panel> first_panels() const {
    const double reach = covering_radius(1);
    return even_panels(*this, -reach, reach, first_field_panels, *context_);
  }

  [[nodiscard]] Panel measured(double begin, double end) const {
    Panel out{begin, end};
    for_points(out, [&](double z, double weight) {
      const auto own = point(z, weight);
      if (own) add_contents(own->contents, own->node.weight, out.integral);
    });
    return out;
  }

  [[nodiscard]] static bool is_settled(const Panel& /*half*/) { return true; }

  void add_nodes(const Panel& panel, std::vector<LabelNode>& to) const {
    for_points(panel, [&](double z, double weight) {
      const auto own = point(z, weight);
      if (own) to.push_back(own->node);
    });
  }

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

  const TypedLink* link_;
  const LabelContents* contents_;
  const Context* context_;
};

/// Panels of the label, for labels of several fields.
class LabelPanels {
 public:
  LabelPanels(const TypedLink& link, const LabelContents& contents, const Context& context)
      : contents_(&contents),
        context_(&context),
        normals_(link.fields().size()),
        tolerance_(panel_tolerance(normals_)) {
    find_scale(link);
  }

  [[nodiscard]] HalvingLimits limits() const {
    return {tolerance_, negligible_part * tolerance_, false, max_halvings, max_label_panels};
  }

  [[nodiscard]] std::vector<Panel> first_panels() const {
    std::vector<Panel> out = even_panels(*this, first_, last_, first_label_panels, *context_);
    add_tail(out, first_, -1.0);
    add_tail(out, last_, 1.0);
    return out;
  }

  [[nodiscard]] Panel measured(double begin, double end) const {
    Panel out{begin, end};
    if (is_unresolved(out)) return out;
    std::size_t met = 0;
    for_points(out, [&](double u, double weight) {
      const std::vector<double> contents = (*contents_)({scale_.label(u), false});
      met += contents.empty() ? 0 : 1;
      add_contents(contents, weight * scale_.slope(u), out.integral);
    });
    out.is_cut = met > 0 && met < Gauss::weights().size() * 2;
    return out;
  }

  /// Whether the rule is accurate on a half: one that the end of a law cuts is until it holds next
  /// to nothing.
  [[nodiscard]] bool is_settled(const Panel& half) const {
    if (is_unresolved(half)) return true;
    return has_its_labels(half) && !(half.is_cut && half.content() > negligible_part * tolerance_);
  }

  void add_nodes(const Panel& panel, std::vector<LabelNode>& to) const {
    if (panel.integral.empty()) return;
    for_points(panel, [&](double u, double weight) {
      to.push_back({{scale_.label(u), false}, weight * scale_.slope(u)});
    });
  }

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

  /// Whether the labels of a panel differ by little more than rounding, as happens when it has been
  /// halved towards the end of a law: their roots would not be told apart.
  [[nodiscard]] bool is_unresolved(const Panel& panel) const {
    constexpr double roundings = 32.0 * std::numeric_limits<double>::epsilon();
    const double begin = scale_.label(panel.begin);
    const double end = scale_.label(panel.end);
    const double lost = scale_.centre == 0.0 ? 0.0 : scale_.width;
    return end - begin < roundings * (std::max(std::abs(begin), std::abs(end)) + lost);
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

  /// Panels outwards from `from` until they are empty.
  void add_tail(std::vector<Panel>& open, double from, double sign) const {
    if (scale_.centre == 0.0 && sign * from < 0.0) from = add_tail_to_zero(open, from);
    double width = first_tail_width;
    for (int k = 0; k < max_tail_panels; ++k) {
      const double to = from + sign * width;
      width = std::min(2.0 * width, max_tail_width);
      Panel panel = measured(std::min(from, to), std::max(from, to));
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
      const Panel panel = measured(std::min(from, to), std::max(from, to));
      if (panel.content() == 0.0) return from;
      open.push_back(panel);
      from = to;
      if (panel.content() < 0.1 * negligible_part * tolerance_) return from;
      context_->check();
    }
    return from;
  }

  const LabelContents* contents_;
  const Context* context_;
  std::size_t normals_;
  double tolerance_;
  LabelScale scale_;
  double first_ = 0.0;
  double last_ = 0.0;
  std::vector<double> sampled_;  ///< labels in order, without those on flat pieces
};

}  // namespace

bool has_label_integral(const TypedLink& link) {
  return link.outputs() == 1 || link.is_discrete();
}

double turns_along_lines(const TypedLink& link) {
  constexpr std::size_t lines = 64, points = 256;
  constexpr double reach = 6.0;
  const std::size_t rows = link.fields().size();
  // Lines miss the origin, where quotients are singular and do not change along them.
  std::vector<double> origin(rows), direction(rows), inputs(rows * points), value(points),
      slope(points);
  numerics::Stream stream(1, "turns of a link");
  std::size_t turns = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    stream.normal(origin);
    stream.normal(direction);
    double squared = 0.0;
    for (const double x : direction) squared += x * x;
    for (double& x : direction) x /= std::sqrt(squared);
    for (std::size_t i = 0; i < points; ++i) {
      const double t = reach * (2.0 * static_cast<double>(i) / (points - 1.0) - 1.0);
      for (std::size_t f = 0; f < rows; ++f) inputs[f * points + i] = origin[f] + t * direction[f];
    }
    link.along(0, points, inputs.data(), direction.data(), value.data(), slope.data());
    for (std::size_t i = 1; i < points; ++i) turns += slope[i] * slope[i - 1] < 0.0 ? 1 : 0;
  }
  return static_cast<double>(turns) / static_cast<double>(lines);
}

double turning_effort(const TypedLink& link) {
  // Measured: links that turn up to four times take the same time. Of two fields others take the
  // third power, since roots, folds and the panels between them are more; one field has panels
  // alone.
  constexpr double usual_turns = 4.0;
  const double power = link.fields().size() == 1 ? 1.6 : 3.0;
  return std::pow(std::max(1.0, turns_along_lines(link) / usual_turns), power);
}

double LabelRule::missed(double mass) const {
  const double rounding = 1e-14;
  const double of_rule = error.empty() ? 0.0 : error.front();
  return std::max(0.0, std::abs(mass - 1.0) - 3.0 * of_rule - rounding);
}

LabelRule label_rule(const TypedLink& link, const LabelContents& contents,
                     const std::vector<TypedLabel>& atoms, const Context& context) {
  LabelRule rule;
  const auto integrate = [&](const auto& way) { rule = halved_panels(way, way.limits(), context); };
  if (!link.is_discrete() && link.fields().size() == 1) {
    integrate(FieldPanels(link, contents, context));
  } else if (!link.is_discrete()) {
    integrate(LabelPanels(link, contents, context));
  }
  for (const TypedLabel& atom : atoms) rule.nodes.push_back({atom, 1.0});
  return rule;
}

}  // namespace onset::smi
