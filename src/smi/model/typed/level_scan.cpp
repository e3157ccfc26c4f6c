#include <algorithm>
#include <cmath>
#include <limits>

#include "smi/model/typed/level_lines.hpp"
#include "smi/model/typed/node_positions.hpp"

namespace onset::smi {
namespace {

/// One-sided values at a switch are taken this far from it.
constexpr double one_sided = 1e-9;
/// A value that grows by this towards a change of sign is that of a pole.
constexpr double pole_growth = 1e3;
/// The points of a line lie off its middle by this part of their distance: a pole at 0 is met by
/// none.
constexpr double off_middle = 0.0123;
/// The rise between two points and that of their slopes may differ by this part of both; further
/// points lie between them otherwise, down to this many halvings.
constexpr double most_misfit = 0.1;
constexpr int max_halvings = 10;
/// The ends of the first and the last part of a line.
constexpr double no_end = std::numeric_limits<double>::infinity();

/// Through a pole of odd order the value changes sign against both slopes.
bool may_have_pole(double f0, double d0, double f1, double d1) {
  return d0 * d1 > 0.0 && d0 * (f1 - f0) < 0.0 && !(f0 * f1 > 0.0);
}

/// Whether a cell may have a root of the label, or a pole.
bool may_have(double label, double f0, double d0, double f1, double d1) {
  const double a = f0 - label;
  const double b = f1 - label;
  const bool rises_to_it = a < 0.0 && !(d0 <= 0.0) && !(d1 >= 0.0);
  const bool falls_to_it = a > 0.0 && !(d0 >= 0.0) && !(d1 <= 0.0);
  return !(a * b > 0.0) || rises_to_it || falls_to_it || may_have_pole(f0, d0, f1, d1);
}

}  // namespace

void LevelLines::scan(const LineOptions& options) {
  if (centre_.size() > 0) {
    for (const double centre : centre_) {
      graded_.push_back(positions(options.radius, options.scan_spacing, 0.5, centre));
    }
  }
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
      for (const Position& p : graded_[lines_[k].axis]) {
        if (std::abs(p.x) < reach) places.push_back({k, p.x});
      }
      continue;
    }
    const auto steps = static_cast<int>(std::ceil(2.0 * reach / options.scan_spacing));
    for (int j = 0; j <= steps; ++j) {
      const bool is_end = j == 0 || j == steps;
      places.push_back({k, reach * (2.0 * (j + (is_end ? 0.0 : off_middle)) / steps - 1.0)});
    }
  }
  std::vector<double> value;
  std::vector<double> slope;
  const bool has_values = !options.only_regions || link_->may_be_singular();
  if (has_values) values_along(places, value, slope);
  std::vector<double> sides = switch_sides(places);
  if (has_values && add_points(places, value, slope, sides)) sides = switch_sides(places);
  const std::size_t count = places.size();
  const std::size_t switches = link_->switches();
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
    if (!whole || options.only_regions) continue;
    if (only_ && !may_have(*only_, value[i], slope[i], value[i + 1], slope[i + 1])) {
      const double distance = std::abs(value[i] - *only_);
      if (!nearest_left_out_ || distance < least_left_out_) {
        nearest_left_out_ = places[i];
        least_left_out_ = distance;
      }
      continue;
    }
    add_cell({places[i].line, places[i].t, places[i + 1].t, value[i], slope[i], value[i + 1],
              slope[i + 1]});
  }
  find_cuts(cuts);
  if (switches > 1) add_corners(cuts);
  if (!options.only_regions) split_cells(cuts);
  if (form_.may_be_flat(*link_)) find_segments(first, last, cuts);
  // Roots are polished line by line; the cells at cuts came last.
  if (cuts.empty() || options.only_regions) return;
  std::stable_sort(cells_.begin() + static_cast<std::ptrdiff_t>(first_cell), cells_.end(),
                   [](const Cell& a, const Cell& b) { return a.line < b.line; });
}

/// A link may turn between two points of a line, because it oscillates or since the line passes a
/// singular point closely, and leave no trace but in their slopes: points are added halfway until
/// the slopes explain the rise. Where a switch changes sign lines are cut anyway. Returns whether
/// any were added.
bool LevelLines::add_points(std::vector<Place>& places, std::vector<double>& value,
                            std::vector<double>& slope, const std::vector<double>& sides) const {
  const auto fits = [&](std::size_t i) {
    const double half = 0.5 * (places[i + 1].t - places[i].t);
    const double rise = value[i + 1] - value[i];
    const double misfit = std::abs(rise - half * (slope[i] + slope[i + 1]));
    const double scale = std::abs(rise) + half * (std::abs(slope[i]) + std::abs(slope[i + 1]));
    return !(misfit > most_misfit * scale);
  };
  // The points behind which another may be needed.
  std::vector<std::size_t> open;
  const std::size_t count = places.size();
  for (std::size_t i = 0; i + 1 < count; ++i) {
    bool is_cut = false;
    for (std::size_t at = i; at < sides.size(); at += count) {
      is_cut = is_cut || (sides[at] > 0.0) != (sides[at + 1] > 0.0);
    }
    if (!is_cut) open.push_back(i);
  }
  for (int round = 0; round < max_halvings; ++round) {
    std::vector<Place> halves;
    std::vector<std::size_t> before;
    for (const std::size_t i : open) {
      if (i + 1 >= places.size() || places[i].line != places[i + 1].line || fits(i)) continue;
      before.push_back(i);
      halves.push_back({places[i].line, 0.5 * (places[i].t + places[i + 1].t)});
    }
    if (halves.empty()) break;
    std::vector<double> own_value;
    std::vector<double> own_slope;
    values_along(halves, own_value, own_slope);
    open.clear();
    std::vector<Place> all;
    std::vector<double> all_values;
    std::vector<double> all_slopes;
    std::size_t next = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      all.push_back(places[i]);
      all_values.push_back(value[i]);
      all_slopes.push_back(slope[i]);
      if (next == before.size() || before[next] != i) continue;
      open.push_back(all.size() - 1);
      open.push_back(all.size());
      all.push_back(halves[next]);
      all_values.push_back(own_value[next]);
      all_slopes.push_back(own_slope[next++]);
    }
    places = std::move(all);
    value = std::move(all_values);
    slope = std::move(all_slopes);
  }
  return places.size() > count;
}

std::vector<double> LevelLines::switch_sides(const std::vector<Place>& places) const {
  const std::size_t switches = link_->switches();
  std::vector<double> sides(switches * places.size());
  if (switches > 0) link_->switch_values(places.size(), fields_at(places).data(), sides.data());
  return sides;
}

std::vector<LevelLines::HiddenPair> LevelLines::hidden_pairs(
    const std::vector<Place>& places, const std::vector<double>& sides) const {
  const std::size_t count = places.size();
  const std::size_t switches = link_->switches();
  if (switches == 0) return {};
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

/// A switch may have a kink where another one vanishes, as that of abs(z1) - 1/2 + e1 where z1
/// does, and change sign twice around it.
void LevelLines::add_corners(std::vector<Cut>& cuts) const {
  const std::size_t switches = link_->switches();
  std::vector<Place> places;
  for (const Cut& cut : cuts) {
    for (const double t : {cut.begin, 0.5 * (cut.lo + cut.hi), cut.end}) {
      places.push_back({cut.line, t});
    }
  }
  const std::size_t count = places.size();
  const std::vector<double> fields = fields_at(places);
  std::vector<double> sides(switches * count);
  link_->switch_values(count, fields.data(), sides.data());
  std::vector<Cut> found;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    for (std::size_t s = 0; s < switches; ++s) {
      const double* side = sides.data() + s * count + 3 * k;
      const bool turns = (side[0] > 0.0) == (side[2] > 0.0) && (side[1] > 0.0) != (side[0] > 0.0);
      const auto is_same = [&](const Cut& other) {
        return other.line == cuts[k].line && other.begin == cuts[k].begin &&
               other.switch_index == s;
      };
      if (!turns || std::any_of(cuts.begin(), cuts.end(), is_same)) continue;
      const double t = places[3 * k + 1].t;
      found.push_back(
          {cuts[k].line, cuts[k].begin, cuts[k].end, s, cuts[k].begin, t, side[0], side[1]});
      found.push_back(
          {cuts[k].line, cuts[k].begin, cuts[k].end, s, t, cuts[k].end, side[1], side[2]});
    }
  }
  if (found.empty()) return;
  find_cuts(found);
  cuts.insert(cuts.end(), found.begin(), found.end());
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return a.line != b.line ? a.line < b.line : a.begin < b.begin;
  });
}

void LevelLines::add_cell(const Cell& cell) {
  if (!may_have_pole(cell.f0, cell.d0, cell.f1, cell.d1)) {
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
    std::vector<double> at{-no_end};
    for (; next < cuts.size() && cuts[next].line == line; ++next) {
      at.push_back(0.5 * (cuts[next].lo + cuts[next].hi));
    }
    std::sort(at.begin(), at.end());
    at.push_back(no_end);
    for (std::size_t k = 0; k + 1 < at.size(); ++k) {
      if (at[k + 1] - at[k] > 4.0 * one_sided) {
        segments_.push_back({line, at[k], at[k + 1], {}, true});
      }
    }
  }
  // Two points of each, at no place of symmetry: a link may have no slope at one point of a piece
  // that is not flat.
  constexpr double places_of_flatness[] = {0.3819, 0.7123};
  std::vector<Place> inside;
  for (std::size_t k = begin_of_block; k < segments_.size(); ++k) {
    const double reach = lines_[segments_[k].line].reach;
    const double begin = std::max(segments_[k].begin, -reach);
    const double end = std::min(segments_[k].end, reach);
    for (const double part : places_of_flatness) {
      inside.push_back({segments_[k].line, begin + part * (end - begin)});
    }
  }
  const std::size_t count = inside.size();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  const std::size_t outputs = link_->outputs();
  const std::vector<double> fields = fields_at(inside);
  std::vector<double> value(outputs * count);
  std::vector<double> slopes(outputs * rows * count);
  link_->gradient(count, fields.data(), value.data(), slopes.data());
  std::vector<double> one(outputs * rows);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < one.size(); ++f) one[f] = slopes[f * count + i];
    Segment& segment = segments_[begin_of_block + i / std::size(places_of_flatness)];
    segment.label.density = 0;
    for (std::size_t k = 0; k < outputs; ++k) {
      segment.label.value[k] = value[k * count + i];
      segment.flat = segment.flat && form_.is_flat(one.data() + k * rows);
    }
  }
}

}  // namespace onset::smi
