#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "smi/model/typed/level_lines.hpp"

namespace onset::smi {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
/// What a last Newton step is said to leave is taken so many times: the curvature is that of a
/// secant, and next to a fold a root needs all of its digits.
constexpr double cautious = 1e3;
/// Shelves on which cells are filed by their values: a label then looks at a percent of them more
/// than it has roots in.
constexpr std::size_t shelves = 128;

/// |slope|^(2 q) with q = 3, of which the partition of unity is made: the weight of a root falls
/// like distance^(2 q) towards a fold, where 1/|slope| grows like 1/distance [links 2].
double sixth_power(double slope) {
  const double cube = slope * slope * slope;
  return cube * cube;
}
/// A dip is looked into when its parabola falls below this part of its ends.
constexpr double dip_depth = 0.5;

double density_of_normal(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// The mass of a standard normal between two points, without cancellation in the tails.
double normal_mass(double begin, double end) {
  if (begin > 0.0) return normal_mass(-end, -begin);
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  if (end > 0.0) return 1.0 - below(begin) - below(-end);
  return below(end) - below(begin);
}

/// The least value of the cubic with these ends, where it dips between them; times its sign.
double dip_bottom(double f0, double d0, double f1, double d1, double width) {
  const double sign = f0 > 0.0 ? 1.0 : -1.0;
  // The two tangents meet below every curve that is convex (times the sign).
  const double s0 = sign * d0;
  const double s1 = sign * d1;
  const double meeting = (sign * (f1 - f0) - s1 * width) / (s0 - s1);
  return sign * f0 + s0 * std::clamp(meeting, 0.0, width);
}

/// The labels of which a cell may have roots: those between its ends and, where both ends lead down
/// (or up) to an extremum, those for which a dip is looked into.
std::pair<double, double> labels_of(double f0, double d0, double f1, double d1, double width) {
  double low = std::min(f0, f1);
  double high = std::max(f0, f1);
  // The tangents at both ends meet at the lowest or the highest value that a dip may have.
  const double meeting = d0 == d1 ? 0.0 : (f1 - f0 - d1 * width) / (d0 - d1);
  const double turn = f0 + d0 * std::clamp(meeting, 0.0, width);
  if (d0 < 0.0 && d1 > 0.0) low = std::min(low, low + (turn - low) / (1.0 - dip_depth));
  if (d0 > 0.0 && d1 < 0.0) high = std::max(high, high + (turn - high) / (1.0 - dip_depth));
  return {low, high};
}

/// Where the cubic of the inverse function through both ends, with their slopes, meets 0; by the
/// secant where the function has no inverse there.
double first_guess(double t0, double t1, double f0, double f1, double d0, double d1) {
  const double rise = f1 - f0;
  const double u = -f0 / rise;
  const double secant = t0 + u * (t1 - t0);
  if (!(d0 * rise > 0.0 && d1 * rise > 0.0)) return secant;
  const double v = 1.0 - u;
  const double t = v * v * ((1.0 + 2.0 * u) * t0 + u * rise / d0) +
                   u * u * ((1.0 + 2.0 * v) * t1 - v * rise / d1);
  return t > t0 && t < t1 ? t : secant;
}

}  // namespace

void LevelLines::look_into(const Cell& cell, double label, std::vector<Bracket>& brackets,
                           std::vector<Bracket>& dips) {
  const double a = cell.f0 - label;
  const double b = cell.f1 - label;
  if (!std::isfinite(a) || !std::isfinite(b)) return;
  const double width = cell.t1 - cell.t0;
  if ((a > 0.0) != (b > 0.0)) {
    brackets.push_back({cell.line, cell.t0, cell.t1, a, b,
                        first_guess(cell.t0, cell.t1, a, b, cell.d0, cell.d1), cell.t0, cell.d0});
    return;
  }
  // No change of sign, but a way down from both ends: two roots may hide between them.
  const double sign = a > 0.0 ? 1.0 : -1.0;
  if (!(sign * cell.d0 < 0.0 && sign * cell.d1 > 0.0)) return;
  const double bottom = dip_bottom(a, cell.d0, b, cell.d1, width);
  if (bottom > dip_depth * std::min(std::abs(a), std::abs(b))) return;
  dips.push_back({cell.line, cell.t0, cell.t1, a, b,
                  cell.t0 - cell.d0 * width / (cell.d1 - cell.d0), cell.t0, cell.d0});
}

void LevelLines::file_cells() {
  std::vector<double> middles;
  for (const Cell& cell : cells_) {
    const double middle = 0.5 * (cell.f0 + cell.f1);
    if (std::isfinite(middle)) middles.push_back(middle);
  }
  std::sort(middles.begin(), middles.end());
  shelf_.clear();
  for (std::size_t k = 1; k < shelves && !middles.empty(); ++k) {
    shelf_.push_back(middles[k * middles.size() / shelves]);
  }
  filed_.assign(shelf_.size() + 1, {});
  const auto place = [this](double label) {
    return static_cast<std::size_t>(std::lower_bound(shelf_.begin(), shelf_.end(), label) -
                                    shelf_.begin());
  };
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const Cell& cell = cells_[k];
    if (!std::isfinite(cell.f0) || !std::isfinite(cell.f1)) continue;
    const auto [low, high] = labels_of(cell.f0, cell.d0, cell.f1, cell.d1, cell.t1 - cell.t0);
    for (std::size_t j = place(low); j <= place(high); ++j) {
      filed_[j].push_back(static_cast<std::uint32_t>(k));
    }
  }
}

std::vector<LevelLines::Place> LevelLines::roots_of(double label) const {
  std::vector<Bracket> brackets;
  std::vector<Bracket> dips;
  if (filed_.empty()) {
    for (const Cell& cell : cells_) look_into(cell, label, brackets, dips);
  } else {
    const auto shelf = std::lower_bound(shelf_.begin(), shelf_.end(), label) - shelf_.begin();
    for (const std::uint32_t k : filed_[static_cast<std::size_t>(shelf)]) {
      look_into(cells_[k], label, brackets, dips);
    }
  }
  search_dips(label, dips, brackets);
  std::vector<Place> roots;
  polish(label, brackets, roots);
  return roots;
}

/// Looks for the extremum of every dip by bisection and secants of the slope, until a value on the
/// other side of the label is met or the extremum is known to stay on this one.
void LevelLines::search_dips(double label, std::vector<Bracket>& dips,
                             std::vector<Bracket>& brackets) const {
  std::vector<double> value;
  std::vector<double> slope;
  std::vector<Bracket> found;
  struct Ends {
    double lo, hi;
  };
  std::vector<Ends> ends;
  for (const Bracket& dip : dips) ends.push_back({dip.lo, dip.hi});
  constexpr int max_dip_steps = 40;
  for (int step = 0; step < max_dip_steps && !dips.empty(); ++step) {
    std::vector<Place> places;
    for (const Bracket& dip : dips) places.push_back({dip.line, dip.guess});
    values_along(places, value, slope);
    std::vector<Bracket> left;
    std::vector<Ends> left_ends;
    for (std::size_t i = 0; i < dips.size(); ++i) {
      Bracket dip = dips[i];
      const double f = value[i] - label;
      const double t = dip.guess;
      if (!std::isfinite(f)) continue;
      if ((f > 0.0) != (dip.f_lo > 0.0)) {
        found.push_back(
            {dip.line, ends[i].lo, t, dip.f_lo, f, 0.5 * (ends[i].lo + t), t, slope[i]});
        found.push_back(
            {dip.line, t, ends[i].hi, f, dip.f_hi, 0.5 * (t + ends[i].hi), t, slope[i]});
        continue;
      }
      const double sign = dip.f_lo > 0.0 ? 1.0 : -1.0;
      if (sign * slope[i] < 0.0) {
        dip.lo = t;
      } else {
        dip.hi = t;
      }
      // The function cannot fall below this on what is left, if it is convex there.
      const double width = dip.hi - dip.lo;
      if (sign * f - std::abs(slope[i]) * width > 0.0) continue;
      dip.guess = 0.5 * (dip.lo + dip.hi);
      left.push_back(dip);
      left_ends.push_back(ends[i]);
    }
    dips = std::move(left);
    ends = std::move(left_ends);
  }
  brackets.insert(brackets.end(), found.begin(), found.end());
  std::stable_sort(brackets.begin(), brackets.end(),
                   [](const Bracket& a, const Bracket& b) { return a.line < b.line; });
}

/// Newton's method, kept inside the bracket by bisection. A pole, where the function grows instead
/// of vanishing, is no root.
void LevelLines::polish(double label, std::vector<Bracket>& brackets,
                        std::vector<Place>& roots) const {
  std::vector<double> value;
  std::vector<double> slope;
  struct Found {
    std::size_t order;
    Place place;
  };
  std::vector<Found> found;
  std::vector<std::size_t> order(brackets.size());
  std::vector<double> size(brackets.size());
  for (std::size_t k = 0; k < brackets.size(); ++k) {
    order[k] = k;
    size[k] = std::abs(brackets[k].f_lo) + std::abs(brackets[k].f_hi);
  }
  for (int step = 0; step < max_root_steps && !brackets.empty(); ++step) {
    std::vector<Place> places;
    for (const Bracket& b : brackets) places.push_back({b.line, b.guess});
    values_along(places, value, slope);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < brackets.size(); ++i) {
      Bracket b = brackets[i];
      const double f = value[i] - label;
      const double t = b.guess;
      if (!std::isfinite(f)) continue;
      if ((f > 0.0) == (b.f_lo > 0.0)) {
        b.lo = t;
      } else {
        b.hi = t;
      }
      double next = f == 0.0 ? t : t - f / slope[i];
      const bool is_newton = next >= b.lo && next <= b.hi;
      if (!is_newton) next = 0.5 * (b.lo + b.hi);
      const double tolerance = 1e-13 * (1.0 + std::abs(t));
      const bool is_small = std::abs(f) <= 1e-6 * size[i];
      // A Newton step leaves half the curvature over the slope times its square.
      const double curvature = (slope[i] - b.known_slope) / (t - b.known);
      const double left = std::abs(curvature / slope[i]) * (next - t) * (next - t);
      const bool is_last = is_newton && is_small && cautious * left < tolerance;
      // Next to a fold the value stops changing before the place does.
      const bool is_zero = std::abs(f) <= 2.0 * rounding * std::abs(label);
      if (is_zero || is_last || std::abs(next - t) < tolerance || b.hi - b.lo < tolerance) {
        if (is_small) found.push_back({order[i], {b.line, is_zero ? t : next}});
        continue;
      }
      b.guess = next;
      b.known = t;
      b.known_slope = slope[i];
      brackets[kept] = b;
      order[kept] = order[i];
      size[kept++] = size[i];
    }
    brackets.resize(kept);
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.order < b.order; });
  for (const Found& one : found) roots.push_back(one.place);
}

template <class Visit>
void LevelLines::collect(const TypedLabel& label, const Visit& visit) const {
  const std::vector<Place> roots = roots_of(label.value[output_]);
  const std::size_t n = form_.normals();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  const std::size_t outputs = link_->outputs();
  std::vector<Place> block;
  std::vector<double> value(outputs * block_points);
  std::vector<double> slopes(outputs * rows * block_points);
  FieldVector gradient(static_cast<Eigen::Index>(rows));
  for (std::size_t begin = 0; begin < roots.size(); begin += block_points) {
    const std::size_t end = std::min(roots.size(), begin + block_points);
    block.assign(roots.begin() + static_cast<std::ptrdiff_t>(begin),
                 roots.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<double> fields = fields_at(block);
    link_->gradient(block.size(), fields.data(), value.data(), slopes.data());
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!link_->has_atoms_of(label, value.data() + i, block.size())) continue;
      for (std::size_t f = 0; f < rows; ++f) {
        gradient(static_cast<Eigen::Index>(f)) = slopes[(output_ * rows + f) * block.size() + i];
      }
      const Line& line = lines_[block[i].line];
      const FieldVector slope = (form_.matrix.transpose() * gradient).cwiseAbs();
      const double largest = slope.maxCoeff();
      const double own = slope(static_cast<Eigen::Index>(line.axis));
      if (!(own > 0.0) || !std::isfinite(largest)) continue;
      double sum = 0.0;
      for (const double s : slope) sum += sixth_power(s / largest);
      FieldVector xi = line.coordinates;
      xi(static_cast<Eigen::Index>(line.axis)) = block[i].t;
      const double part = sixth_power(own / largest) / sum;
      visit(line.weight * normal_density(xi.squaredNorm(), n) * part / own,
            FieldVector(rotation_ * xi));
    }
  }
}

LevelMoments LevelLines::moments(const TypedLabel& label) const {
  if (label.is_atom()) return atom(label);
  LevelMoments sums(form_.normals());
  collect(label, [&](double weight, const FieldVector& xi) { sums.add(weight, xi); });
  return sums;
}

LevelHermite LevelLines::hermite(const TypedLabel& label, const HermiteIndices& indices) const {
  if (label.is_atom()) return atom_hermite(label, indices);
  LevelHermite sums{std::vector<double>(indices.size(), 0.0)};
  std::vector<double> values(indices.size());
  collect(label, [&](double weight, const FieldVector& xi) {
    add_point(indices, weight, xi.data(), values, sums);
  });
  return sums;
}

LevelMoments LevelLines::atom(const TypedLabel& label) const {
  const std::size_t n = form_.normals();
  LevelMoments sums(n);
  for (const Segment& segment : segments_) {
    if (!segment.flat || !link_->same_label(segment.label, label)) continue;
    const Line& line = lines_[segment.line];
    // Moments of a standard normal between the ends.
    const double low = density_of_normal(segment.begin);
    const double high = density_of_normal(segment.end);
    const double mass = normal_mass(segment.begin, segment.end);
    const auto times = [](double x, double p) { return p > 0.0 ? x * p : 0.0; };
    const double first = low - high;
    const double second = mass + times(segment.begin, low) - times(segment.end, high);
    const auto axis = static_cast<Eigen::Index>(line.axis);
    // Every axis covers the whole region by itself.
    const double weight = line.weight * normal_density(line.coordinates.squaredNorm(), n - 1) /
                          static_cast<double>(n);
    const FieldVector across = rotation_ * line.coordinates;
    const FieldVector along = rotation_.col(axis);
    sums.z += weight * mass;
    sums.mean += weight * (mass * across + first * along);
    sums.second += weight * (mass * across * across.transpose() +
                             first * (across * along.transpose() + along * across.transpose()) +
                             second * along * along.transpose());
    ++sums.roots;
  }
  return sums;
}

LevelHermite LevelLines::atom_hermite(const TypedLabel& label,
                                      const HermiteIndices& indices) const {
  const std::size_t n = form_.normals();
  const int degree = indices.max_degree();
  LevelHermite sums{std::vector<double>(indices.size(), 0.0)};
  std::vector<double> values(indices.size());
  std::vector<double> along(static_cast<std::size_t>(degree) + 1);
  for (const Segment& segment : segments_) {
    if (!segment.flat || !link_->same_label(segment.label, label)) continue;
    const Line& line = lines_[segment.line];
    // The integral of h_k times the normal density is -h_{k-1} times it over sqrt(k).
    std::vector<double> low(along.size()), high(along.size());
    const auto ends = [degree](double x, std::vector<double>& out) {
      if (!std::isfinite(x)) return;
      normalised_hermite(x, degree, out.data());
      for (double& h : out) h *= density_of_normal(x);
    };
    ends(segment.begin, low);
    ends(segment.end, high);
    along[0] = normal_mass(segment.begin, segment.end);
    for (std::size_t k = 1; k < along.size(); ++k) {
      along[k] = (low[k - 1] - high[k - 1]) / std::sqrt(static_cast<double>(k));
    }
    const double weight = line.weight * normal_density(line.coordinates.squaredNorm(), n - 1) /
                          static_cast<double>(n);
    indices.values_with(line.coordinates.data(), line.axis, along, values);
    for (std::size_t i = 0; i < values.size(); ++i) sums.moments[i] += weight * values[i];
    ++sums.roots;
  }
  // The sums are over rotated coordinates.
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rotation = rotation_;
  indices.rotate({rotation.data(), n * n}, sums.moments);
  return sums;
}

}  // namespace onset::smi
