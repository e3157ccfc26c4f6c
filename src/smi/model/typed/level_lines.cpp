#include "smi/model/typed/level_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// One-sided values at a switch are taken this far from it.
constexpr double one_sided = 1e-9;
/// Lines of random positions per axis, from four normals on.
constexpr std::size_t random_lines = 512;
/// A value that grows by this towards a change of sign is that of a pole.
constexpr double pole_growth = 1e3;
/// The points of a line lie off its middle by this part of their distance: a pole at 0 is met by
/// none.
constexpr double off_middle = 0.0123;

/// Near a centre, points lie this much closer than elsewhere, down to this distance of it.
constexpr double closest = 1.0 / 512.0;
constexpr double steps_per_fold = 2.0;  ///< points per factor e of the distance

/// Rows of fields that are known exactly are zero up to this.
constexpr double rounding_of_rows = 1e-12;

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

}  // namespace

bool NormalForm::is_flat(const double* gradient) const {
  double largest = 0.0;
  for (Eigen::Index f = 0; f < matrix.rows(); ++f) {
    largest = std::max(largest, std::abs(gradient[f]));
  }
  for (Eigen::Index k = 0; k < matrix.cols(); ++k) {
    double along = 0.0;
    for (Eigen::Index f = 0; f < matrix.rows(); ++f) along += matrix(f, k) * gradient[f];
    if (!(std::abs(along) <= rounding_of_rows * largest)) return false;
  }
  return true;
}

bool NormalForm::may_be_flat(const TypedLink& link) const {
  if (link.has_atoms()) return true;
  for (Eigen::Index f = 0; f < matrix.rows(); ++f) {
    if (matrix.row(f).norm() <= rounding_of_rows) return true;
  }
  return false;
}

double normal_density(double squared_norm, std::size_t dimensions) {
  return std::exp(-0.5 * squared_norm) *
         std::pow(2.0 * std::numbers::pi, -0.5 * static_cast<double>(dimensions));
}

LevelLines::LevelLines(const TypedLink& link, const NormalForm& form, const LineOptions& options)
    : link_(&link), form_(form) {
  lines_.swap(spare().lines);
  cells_.swap(spare().cells);
  segments_.swap(spare().segments);
  const std::size_t n = form.normals();
  numerics::Stream stream(options.seed, "level lines", (options.replicate << 32U) + options.sample);
  rotation_ = n > 1 ? random_rotation(n, stream) : FieldMatrix::Identity(1, 1).eval();
  form_.matrix = form.matrix * rotation_;
  if (options.centre) centre_ = rotation_.transpose() * *options.centre;
  lay_lines(options);
  scan(options);
}

LevelLines::~LevelLines() {
  const auto keep = [](auto& own, auto& spared) {
    if (own.capacity() <= spared.capacity()) return;
    own.clear();
    spared.swap(own);
  };
  keep(lines_, spare().lines);
  keep(cells_, spare().cells);
  keep(segments_, spare().segments);
}

LevelLines::Storage& LevelLines::spare() {
  thread_local Storage storage;
  return storage;
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
  const std::vector<HiddenPair> hidden = hidden_pairs(places, sides);
  std::size_t next_hidden = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (places[i].line != places[i + 1].line) continue;
    bool whole = true;
    for (; next_hidden < hidden.size() && hidden[next_hidden].interval == i; ++next_hidden) {
      const auto& [interval, s, t, value_between] = hidden[next_hidden];
      whole = false;
      const double begin = places[i].t;
      const double end = places[i + 1].t;
      cuts.push_back(
          {places[i].line, begin, end, s, begin, t, sides[s * count + i], value_between});
      cuts.push_back(
          {places[i].line, begin, end, s, t, end, value_between, sides[s * count + i + 1]});
    }
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
  if (form_.may_be_flat(*link_)) find_segments(first, last, cuts);
  // Roots are polished line by line; the cells at cuts came last.
  if (cuts.empty()) return;
  std::stable_sort(cells_.begin() + static_cast<std::ptrdiff_t>(first_cell), cells_.end(),
                   [](const Cell& a, const Cell& b) { return a.line < b.line; });
}

std::vector<LevelLines::HiddenPair> LevelLines::hidden_pairs(
    const std::vector<Place>& places, const std::vector<double>& sides) const {
  const std::size_t count = places.size();
  const std::size_t switches = link_->switches();
  std::vector<HiddenPair> candidates;
  for (std::size_t i = 1; i + 1 < count; ++i) {
    if (places[i - 1].line != places[i + 1].line) continue;
    for (std::size_t s = 0; s < switches; ++s) {
      const double* side = sides.data() + s * count + i;
      const bool positive = side[0] > 0.0;
      if ((side[-1] > 0.0) != positive || (side[1] > 0.0) != positive) continue;
      if (std::abs(side[0]) > std::min(std::abs(side[-1]), std::abs(side[1]))) continue;
      // The extremum of the parabola through the three points.
      const double left = places[i].t - places[i - 1].t;
      const double right = places[i + 1].t - places[i].t;
      const double down = (side[0] - side[-1]) / left;
      const double up = (side[1] - side[0]) / right;
      const double bend = (up - down) / (left + right);
      if (bend == 0.0) continue;
      const double t = places[i].t - 0.5 * (down + bend * left) / bend;
      if (!(t > places[i - 1].t && t < places[i + 1].t) || t == places[i].t) continue;
      candidates.push_back({t < places[i].t ? i - 1 : i, s, t, 0.0});
    }
  }
  std::vector<Place> extrema;
  for (const HiddenPair& pair : candidates) {
    extrema.push_back({places[pair.interval].line, pair.t});
  }
  const std::vector<double> fields = fields_at(extrema);
  std::vector<double> values(switches * extrema.size());
  if (!extrema.empty()) link_->switch_values(extrema.size(), fields.data(), values.data());
  std::vector<HiddenPair> found;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    HiddenPair pair = candidates[k];
    pair.value = values[pair.switch_index * extrema.size() + k];
    const double at_scan = sides[pair.switch_index * count + pair.interval];
    if ((pair.value > 0.0) != (at_scan > 0.0)) found.push_back(pair);
  }
  std::stable_sort(found.begin(), found.end(), [](const HiddenPair& a, const HiddenPair& b) {
    return a.interval < b.interval;
  });
  return found;
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
    segments_[begin_of_block + i].flat = form_.is_flat(one.data());
  }
}

}  // namespace onset::smi
