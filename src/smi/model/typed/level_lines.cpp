#include "smi/model/typed/level_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "numerics/quasi_monte_carlo.hpp"
#include "numerics/random.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = std::numeric_limits<double>::epsilon();
/// Exponent of the partition of unity: the weight of a root falls like distance^(2 q) towards a
/// fold, where 1/|slope| grows like 1/distance [links 2].
constexpr int unity_power = 3;
/// Points that are evaluated at once: their workspace stays in the cache.
constexpr std::size_t block_points = 512;
/// One-sided values at a switch are taken this far from it.
constexpr double one_sided = 1e-9;
/// Lines of random positions per axis, from four normals on.
constexpr std::size_t random_lines = 512;
constexpr int max_root_steps = 80;
/// A value that grows by this towards a change of sign is that of a pole.
constexpr double pole_growth = 1e3;
/// The points of a line lie off its middle by this part of their distance: a pole at 0 is met by
/// none.
constexpr double off_middle = 0.0123;
/// A dip is looked into when its parabola falls below this part of its ends.
constexpr double dip_depth = 0.5;

/// Near a centre, points lie this much closer than elsewhere, down to this distance of it.
constexpr double closest = 1.0 / 512.0;
constexpr double steps_per_fold = 2.0;  ///< points per factor e of the distance

/// A point of a one-dimensional rule.
struct Position {
  double x;
  double weight;
};

/// Positions of a trapezoid rule on [-radius, radius]: evenly spaced, or ever closer to a centre.
std::vector<Position> positions(double radius, double spacing, double shift,
                                std::optional<double> centre) {
  std::vector<Position> out;
  if (!centre) {
    const auto steps = static_cast<int>(std::ceil(radius / spacing)) + 1;
    for (int k = -steps; k < steps; ++k) {
      const double x = spacing * (k + shift);
      if (std::abs(x) < radius) out.push_back({x, spacing});
    }
    return out;
  }
  // The rule is even in s, an analytic and increasing function of the distance from the centre.
  const auto s_of = [&](double x) {
    return x / spacing + steps_per_fold * std::asinh(x / closest);
  };
  const auto rate = [&](double x) {
    return 1.0 / spacing + steps_per_fold / std::sqrt(x * x + closest * closest);
  };
  const auto first = static_cast<int>(std::floor(s_of(-radius - *centre)));
  const auto last = static_cast<int>(std::ceil(s_of(radius - *centre)));
  for (int k = first; k <= last; ++k) {
    const double s = k + shift;
    double x =
        std::copysign(std::min(std::abs(s) * spacing,
                               closest * std::sinh(std::min(30.0, std::abs(s) / steps_per_fold))),
                      s);
    for (int step = 0; step < 50; ++step) {
      const double change = (s_of(x) - s) / rate(x);
      x -= change;
      if (std::abs(change) < 1e-12 * (closest + std::abs(x))) break;
    }
    if (std::abs(*centre + x) < radius) out.push_back({*centre + x, 1.0 / rate(x)});
  }
  return out;
}

double normal_density(double squared_norm, std::size_t dimensions) {
  return std::exp(-0.5 * squared_norm) *
         std::pow(2.0 * std::numbers::pi, -0.5 * static_cast<double>(dimensions));
}

/// A rotation from the Haar measure: the columns of a normal matrix made orthonormal.
FieldMatrix random_rotation(std::size_t size, numerics::Stream& stream) {
  const auto n = static_cast<Eigen::Index>(size);
  FieldMatrix out(n, n);
  for (Eigen::Index c = 0; c < n; ++c) {
    do {
      for (Eigen::Index r = 0; r < n; ++r) out(r, c) = stream.normal();
      for (Eigen::Index k = 0; k < c; ++k) {
        out.col(c) -= out.col(k) * out.col(k).dot(out.col(c));
      }
    } while (out.col(c).norm() < 1e-8);
    out.col(c).normalize();
  }
  return out;
}

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

}  // namespace

LevelMoments::LevelMoments(std::size_t normals)
    : mean(FieldVector::Zero(static_cast<Eigen::Index>(normals))),
      second(FieldMatrix::Zero(static_cast<Eigen::Index>(normals),
                               static_cast<Eigen::Index>(normals))) {}

void LevelMoments::add(double weight, const FieldVector& xi) {
  z += weight;
  mean += weight * xi;
  second += weight * xi * xi.transpose();
  ++roots;
}

LevelMoments& LevelMoments::operator+=(const LevelMoments& other) {
  z += other.z;
  mean += other.mean;
  second += other.second;
  roots += other.roots;
  return *this;
}

LevelLines::LevelLines(const TypedLink& link, const NormalForm& form, const LineOptions& options)
    : link_(&link), form_(form) {
  const std::size_t n = form.normals();
  numerics::Stream stream(options.seed, "level lines", (options.replicate << 32U) + options.sample);
  rotation_ = n > 1 ? random_rotation(n, stream) : FieldMatrix::Identity(1, 1).eval();
  form_.matrix = form.matrix * rotation_;
  if (options.centre) centre_ = rotation_.transpose() * *options.centre;
  lay_lines(options);
  scan(options);
}

void LevelLines::lay_lines(const LineOptions& options) {
  const std::size_t n = form_.normals();
  if (n == 1) {
    lines_.push_back({0, FieldVector::Zero(1), 1.0, options.radius});
    return;
  }
  for (std::size_t axis = 0; axis < n; ++axis) {
    if (n <= 3) {
      lay_grid(options, axis);
    } else {
      lay_random(options, axis);
    }
  }
}

void LevelLines::lay_grid(const LineOptions& options, std::size_t axis) {
  const std::size_t n = form_.normals();
  numerics::Stream stream(options.seed, "level line shifts",
                          (options.replicate << 32U) + options.sample);
  stream.seek(2 * axis);
  const auto along = [&](std::size_t dimension) {
    const auto d = static_cast<Eigen::Index>(dimension);
    return positions(options.radius, options.spacing, stream.uniform(),
                     centre_.size() > 0 ? std::optional(centre_(d)) : std::nullopt);
  };
  const auto add = [&](const FieldVector& at, double weight) {
    const double left = options.radius * options.radius - at.squaredNorm();
    if (left > 0.0) lines_.push_back({axis, at, weight, std::sqrt(left)});
  };
  FieldVector at = FieldVector::Zero(static_cast<Eigen::Index>(n));
  const std::size_t first = (axis + 1) % n;
  const std::size_t second = (axis + 2) % n;
  const std::vector<Position> rows = along(first);
  const std::vector<Position> columns = n > 2 ? along(second) : std::vector<Position>{{0.0, 1.0}};
  for (const Position& a : rows) {
    at(static_cast<Eigen::Index>(first)) = a.x;
    for (const Position& b : columns) {
      if (n > 2) at(static_cast<Eigen::Index>(second)) = b.x;
      add(at, a.weight * b.weight);
    }
  }
}

void LevelLines::lay_random(const LineOptions& options, std::size_t axis) {
  const std::size_t n = form_.normals();
  const auto points = numerics::scrambled_sobol(static_cast<int>(n - 1), options.seed ^ (axis + 1),
                                                (options.replicate << 32U) + options.sample);
  std::vector<double> normals((n - 1) * random_lines);
  points->points(0, random_lines, normals);
  numerics::simd::normal_quantile(normals, normals);
  FieldVector at = FieldVector::Zero(static_cast<Eigen::Index>(n));
  for (std::size_t i = 0; i < random_lines; ++i) {
    double norm = 0.0;
    for (std::size_t k = 0; k + 1 < n; ++k) {
      const double x = normals[k * random_lines + i];
      at(static_cast<Eigen::Index>((axis + 1 + k) % n)) = x;
      norm += x * x;
    }
    const double left = options.radius * options.radius - norm;
    if (left <= 0.0) continue;
    const double weight = 1.0 / (random_lines * normal_density(norm, n - 1));
    lines_.push_back({axis, at, weight, std::sqrt(left)});
  }
}

std::vector<double> LevelLines::fields_at(const std::vector<Place>& places) const {
  const std::size_t count = places.size();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  std::vector<double> out(rows * count);
  std::size_t line = lines_.size();
  FieldVector base;
  FieldVector step;
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i].line != line) {
      line = places[i].line;
      base = form_.origin + form_.matrix * lines_[line].coordinates;
      step = form_.matrix.col(static_cast<Eigen::Index>(lines_[line].axis));
    }
    for (std::size_t f = 0; f < rows; ++f) {
      const auto row = static_cast<Eigen::Index>(f);
      out[f * count + i] = base(row) + places[i].t * step(row);
    }
  }
  return out;
}

void LevelLines::values_along(const std::vector<Place>& places, std::vector<double>& value,
                              std::vector<double>& slope) const {
  value.resize(places.size());
  slope.resize(places.size());
  std::vector<Place> block;
  std::size_t begin = 0;
  while (begin < places.size()) {
    const std::size_t axis = lines_[places[begin].line].axis;
    block.clear();
    std::size_t end = begin;
    while (end < places.size() && end - begin < block_points &&
           lines_[places[end].line].axis == axis) {
      block.push_back(places[end++]);
    }
    const std::vector<double> fields = fields_at(block);
    const FieldVector direction = form_.matrix.col(static_cast<Eigen::Index>(axis));
    link_->along(block.size(), fields.data(), direction.data(), value.data() + begin,
                 slope.data() + begin);
    begin = end;
  }
}

FieldVector LevelLines::point(std::size_t line, double t) const {
  FieldVector at = lines_[line].coordinates;
  at(static_cast<Eigen::Index>(lines_[line].axis)) = t;
  return rotation_ * at;
}

FieldVector LevelLines::nearest(double label) const {
  const Cell* best = nullptr;
  double distance = infinity;
  for (const Cell& cell : cells_) {
    if (std::abs(cell.f0 - label) < distance) {
      distance = std::abs(cell.f0 - label);
      best = &cell;
    }
  }
  return best ? point(best->line, best->t0)
              : FieldVector::Zero(static_cast<Eigen::Index>(form_.normals())).eval();
}

std::vector<double> LevelLines::atoms() const {
  std::vector<double> out;
  for (const Segment& segment : segments_) {
    if (!segment.flat) continue;
    if (std::none_of(out.begin(), out.end(),
                     [&](double a) { return TypedLink::same_atom(a, segment.value); })) {
      out.push_back(segment.value);
    }
  }
  return out;
}

void LevelLines::scan(const LineOptions& options) {
  std::size_t first = 0;
  while (first < lines_.size()) {
    std::size_t last = first;
    double points = 0.0;
    while (last < lines_.size() && lines_[last].axis == lines_[first].axis &&
           (last == first || points < block_points)) {
      points += 2.0 * lines_[last].reach / options.scan_spacing + 2.0;
      ++last;
    }
    scan_block(first, last, options);
    first = last;
  }
}

void LevelLines::scan_block(std::size_t first, std::size_t last, const LineOptions& options) {
  std::vector<Place> places;
  for (std::size_t k = first; k < last; ++k) {
    const double reach = lines_[k].reach;
    if (centre_.size() > 0) {
      const double centre = centre_(static_cast<Eigen::Index>(lines_[k].axis));
      for (const Position& p : positions(reach, options.scan_spacing, 0.5, centre)) {
        places.push_back({k, p.x});
      }
      continue;
    }
    const auto steps = static_cast<int>(std::ceil(2.0 * reach / options.scan_spacing));
    for (int j = 0; j <= steps; ++j) {
      const bool is_end = j == 0 || j == steps;
      places.push_back({k, reach * (2.0 * (j + (is_end ? 0.0 : off_middle)) / steps - 1.0)});
    }
  }
  const std::size_t count = places.size();
  const std::vector<double> fields = fields_at(places);
  std::vector<double> value(count);
  std::vector<double> slope(count);
  const FieldVector direction = form_.matrix.col(static_cast<Eigen::Index>(lines_[first].axis));
  link_->along(count, fields.data(), direction.data(), value.data(), slope.data());
  const std::size_t switches = link_->switches();
  std::vector<double> sides(switches * count);
  if (switches > 0) link_->switch_values(count, fields.data(), sides.data());
  std::vector<Cut> cuts;
  const std::size_t first_cell = cells_.size();
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (places[i].line != places[i + 1].line) continue;
    bool whole = true;
    for (std::size_t s = 0; s < switches; ++s) {
      const double a = sides[s * count + i];
      const double b = sides[s * count + i + 1];
      if ((a > 0.0) == (b > 0.0)) continue;
      whole = false;
      const double begin = places[i].t;
      const double end = places[i + 1].t;
      cuts.push_back({places[i].line, begin, end, s, begin, end, a, b});
    }
    if (!whole) continue;
    add_cell({places[i].line, places[i].t, places[i + 1].t, value[i], slope[i], value[i + 1],
              slope[i + 1]});
  }
  find_cuts(cuts);
  split_cells(cuts);
  if (link_->has_atoms()) find_segments(first, last, cuts);
  // Roots are polished line by line; the cells at cuts came last.
  std::stable_sort(cells_.begin() + static_cast<std::ptrdiff_t>(first_cell), cells_.end(),
                   [](const Cell& a, const Cell& b) { return a.line < b.line; });
}

void LevelLines::add_cell(const Cell& cell) {
  // Through a pole of odd order the value changes sign against both slopes.
  const bool against = cell.d0 * cell.d1 > 0.0 && cell.d0 * (cell.f1 - cell.f0) < 0.0;
  if (!against || cell.f0 * cell.f1 > 0.0) {
    cells_.push_back(cell);
    return;
  }
  double lo = cell.t0;
  double hi = cell.t1;
  double largest = 0.0;
  std::vector<double> value;
  std::vector<double> slope;
  for (int step = 0; step < max_root_steps && hi - lo > one_sided; ++step) {
    const double middle = 0.5 * (lo + hi);
    values_along({{cell.line, middle}}, value, slope);
    largest = std::max(largest, std::abs(value[0]));
    ((value[0] > 0.0) == (cell.f0 > 0.0) ? lo : hi) = middle;
  }
  if (!(largest > pole_growth * (std::abs(cell.f0) + std::abs(cell.f1)))) {
    cells_.push_back(cell);
    return;
  }
  values_along({{cell.line, lo - one_sided}, {cell.line, hi + one_sided}}, value, slope);
  cells_.push_back({cell.line, cell.t0, lo - one_sided, cell.f0, cell.d0, value[0], slope[0]});
  cells_.push_back({cell.line, hi + one_sided, cell.t1, value[1], slope[1], cell.f1, cell.d1});
}

/// Narrows [lo, hi] of every cut to rounding: regula falsi in its Illinois form.
void LevelLines::find_cuts(std::vector<Cut>& cuts) const {
  std::vector<std::size_t> open(cuts.size());
  for (std::size_t k = 0; k < cuts.size(); ++k) open[k] = k;
  const std::size_t switches = link_->switches();
  for (int step = 0; step < max_root_steps && !open.empty(); ++step) {
    std::vector<Place> places;
    for (const std::size_t k : open) {
      const Cut& cut = cuts[k];
      double t = cut.lo - cut.s_lo * (cut.hi - cut.lo) / (cut.s_hi - cut.s_lo);
      if (step % 4 == 3 || !(t > cut.lo && t < cut.hi)) t = 0.5 * (cut.lo + cut.hi);
      places.push_back({cut.line, t});
    }
    const std::vector<double> fields = fields_at(places);
    std::vector<double> sides(switches * places.size());
    link_->switch_values(places.size(), fields.data(), sides.data());
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Cut& cut = cuts[open[i]];
      const double s = sides[cut.switch_index * places.size() + i];
      const double t = places[i].t;
      const double scale = std::max(std::abs(cut.s_lo), std::abs(cut.s_hi));
      if (std::abs(s) <= 1e-15 * scale) {
        cut.lo = cut.hi = t;
        continue;
      }
      if ((s > 0.0) == (cut.s_lo > 0.0)) {
        cut.lo = t;
        cut.s_lo = s;
      } else {
        cut.hi = t;
        cut.s_hi = s;
      }
      if (cut.hi - cut.lo > 1e-13 * (1.0 + std::abs(cut.lo))) left.push_back(open[i]);
    }
    open = std::move(left);
  }
}

/// Cells between the ends of a scanned interval and the cuts inside it, with one-sided values.
void LevelLines::split_cells(const std::vector<Cut>& cuts) {
  std::vector<Place> places;
  std::size_t first = 0;
  while (first < cuts.size()) {
    const Cut& interval = cuts[first];
    std::vector<double> at;
    for (; first < cuts.size() && cuts[first].line == interval.line &&
           cuts[first].begin == interval.begin;
         ++first) {
      at.push_back(0.5 * (cuts[first].lo + cuts[first].hi));
    }
    std::sort(at.begin(), at.end());
    double begin = interval.begin;
    const auto close = [&](double end) {
      if (end - begin < 4.0 * one_sided) return;
      places.push_back({interval.line, begin});
      places.push_back({interval.line, end});
    };
    for (const double t : at) {
      close(t - one_sided);
      begin = t + one_sided;
    }
    close(interval.end);
  }
  std::vector<double> value;
  std::vector<double> slope;
  values_along(places, value, slope);
  for (std::size_t i = 0; i + 1 < places.size(); i += 2) {
    add_cell({places[i].line, places[i].t, places[i + 1].t, value[i], slope[i], value[i + 1],
              slope[i + 1]});
  }
}

void LevelLines::find_segments(std::size_t first, std::size_t last, const std::vector<Cut>& cuts) {
  const std::size_t begin_of_block = segments_.size();
  std::size_t next = 0;
  for (std::size_t line = first; line < last; ++line) {
    std::vector<double> at{-infinity};
    for (; next < cuts.size() && cuts[next].line == line; ++next) {
      at.push_back(0.5 * (cuts[next].lo + cuts[next].hi));
    }
    std::sort(at.begin(), at.end());
    at.push_back(infinity);
    for (std::size_t k = 0; k + 1 < at.size(); ++k) {
      if (at[k + 1] - at[k] > 4.0 * one_sided) {
        segments_.push_back({line, at[k], at[k + 1], 0.0, false});
      }
    }
  }
  std::vector<Place> middles;
  for (std::size_t k = begin_of_block; k < segments_.size(); ++k) {
    const double reach = lines_[segments_[k].line].reach;
    middles.push_back({segments_[k].line, 0.5 * (std::max(segments_[k].begin, -reach) +
                                                 std::min(segments_[k].end, reach))});
  }
  const std::size_t count = middles.size();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  const std::vector<double> fields = fields_at(middles);
  std::vector<double> value(count);
  std::vector<double> slopes(rows * count);
  link_->gradient(count, fields.data(), value.data(), slopes.data());
  std::vector<double> one(rows);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < rows; ++f) one[f] = slopes[f * count + i];
    segments_[begin_of_block + i].value = value[i];
    segments_[begin_of_block + i].flat = TypedLink::is_flat(one.data(), rows);
  }
}

LevelMoments LevelLines::density(double label) const {
  std::vector<Bracket> brackets;
  std::vector<Bracket> dips;
  for (const Cell& cell : cells_) {
    const double a = cell.f0 - label;
    const double b = cell.f1 - label;
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double width = cell.t1 - cell.t0;
    if ((a > 0.0) != (b > 0.0)) {
      brackets.push_back({cell.line, cell.t0, cell.t1, a, b, cell.t0 - a * width / (b - a)});
      continue;
    }
    // No change of sign, but a way down from both ends: two roots may hide between them.
    const double sign = a > 0.0 ? 1.0 : -1.0;
    if (!(sign * cell.d0 < 0.0 && sign * cell.d1 > 0.0)) continue;
    const double bottom = dip_bottom(a, cell.d0, b, cell.d1, width);
    if (bottom > dip_depth * std::min(std::abs(a), std::abs(b))) continue;
    dips.push_back(
        {cell.line, cell.t0, cell.t1, a, b, cell.t0 - cell.d0 * width / (cell.d1 - cell.d0)});
  }
  search_dips(label, dips, brackets);
  std::vector<Place> roots;
  polish(label, brackets, roots);
  return collect(roots);
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
        found.push_back({dip.line, ends[i].lo, t, dip.f_lo, f, 0.5 * (ends[i].lo + t)});
        found.push_back({dip.line, t, ends[i].hi, f, dip.f_hi, 0.5 * (t + ends[i].hi)});
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
      if (!(next >= b.lo && next <= b.hi)) next = 0.5 * (b.lo + b.hi);
      const double tolerance = 1e-13 * (1.0 + std::abs(t));
      // Next to a fold the value stops changing before the place does.
      const bool is_zero = std::abs(f) <= 2.0 * rounding * std::abs(label);
      if (is_zero || std::abs(next - t) < tolerance || b.hi - b.lo < tolerance) {
        if (std::abs(f) <= 1e-6 * size[i])
          found.push_back({order[i], {b.line, is_zero ? t : next}});
        continue;
      }
      b.guess = next;
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

LevelMoments LevelLines::collect(const std::vector<Place>& roots) const {
  const std::size_t n = form_.normals();
  LevelMoments moments(n);
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  std::vector<Place> block;
  std::vector<double> value(block_points);
  std::vector<double> slopes(rows * block_points);
  FieldVector gradient(static_cast<Eigen::Index>(rows));
  for (std::size_t begin = 0; begin < roots.size(); begin += block_points) {
    const std::size_t end = std::min(roots.size(), begin + block_points);
    block.assign(roots.begin() + static_cast<std::ptrdiff_t>(begin),
                 roots.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<double> fields = fields_at(block);
    link_->gradient(block.size(), fields.data(), value.data(), slopes.data());
    for (std::size_t i = 0; i < block.size(); ++i) {
      for (std::size_t f = 0; f < rows; ++f) {
        gradient(static_cast<Eigen::Index>(f)) = slopes[f * block.size() + i];
      }
      const Line& line = lines_[block[i].line];
      const FieldVector slope = (form_.matrix.transpose() * gradient).cwiseAbs();
      const double largest = slope.maxCoeff();
      const double own = slope(static_cast<Eigen::Index>(line.axis));
      if (!(own > 0.0) || !std::isfinite(largest)) continue;
      double sum = 0.0;
      for (const double s : slope) sum += std::pow(s / largest, 2 * unity_power);
      FieldVector xi = line.coordinates;
      xi(static_cast<Eigen::Index>(line.axis)) = block[i].t;
      const double part = std::pow(own / largest, 2 * unity_power) / sum;
      moments.add(line.weight * normal_density(xi.squaredNorm(), n) * part / own, rotation_ * xi);
    }
  }
  return moments;
}

LevelMoments LevelLines::atom(double label) const {
  const std::size_t n = form_.normals();
  LevelMoments moments(n);
  for (const Segment& segment : segments_) {
    if (!segment.flat || !TypedLink::same_atom(segment.value, label)) continue;
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
    moments.z += weight * mass;
    moments.mean += weight * (mass * across + first * along);
    moments.second += weight * (mass * across * across.transpose() +
                                first * (across * along.transpose() + along * across.transpose()) +
                                second * along * along.transpose());
    ++moments.roots;
  }
  return moments;
}

}  // namespace onset::smi
