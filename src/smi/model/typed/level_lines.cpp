#include "smi/model/typed/level_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/typed/node_positions.hpp"

namespace onset::smi {
namespace {

/// Lines of random positions per axis, from four normals on.
constexpr std::size_t random_lines = 512;

}  // namespace

LevelLines::LevelLines(const TypedLink& link, const NormalForm& form, const LineOptions& options)
    : link_(&link), output_(options.output), only_(options.only), form_(form) {
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
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t line = places[begin].line;
    std::size_t end = begin + 1;
    while (end < count && places[end].line == line) ++end;
    const FieldVector base = form_.origin + form_.matrix * lines_[line].coordinates;
    const auto axis = static_cast<Eigen::Index>(lines_[line].axis);
    for (std::size_t f = 0; f < rows; ++f) {
      const double at_middle = base(static_cast<Eigen::Index>(f));
      const double step = form_.matrix(static_cast<Eigen::Index>(f), axis);
      double* own = out.data() + f * count;
      for (std::size_t i = begin; i < end; ++i) own[i] = at_middle + places[i].t * step;
    }
    begin = end;
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
    link_->along(output_, block.size(), fields.data(), direction.data(), value.data() + begin,
                 slope.data() + begin);
    begin = end;
  }
}

FieldVector LevelLines::point(std::size_t line, double t) const {
  FieldVector at = lines_[line].coordinates;
  at(static_cast<Eigen::Index>(lines_[line].axis)) = t;
  return rotation_ * at;
}

template <class Distance>
FieldVector LevelLines::closest_point(const Distance& distance) const {
  const Cell* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Cell& cell : cells_) {
    const double own = distance(cell.f0);
    if (own < least) {
      least = own;
      best = &cell;
    }
  }
  return best ? point(best->line, best->t0)
              : FieldVector::Zero(static_cast<Eigen::Index>(form_.normals())).eval();
}

std::optional<LevelLines::Place> LevelLines::nearest_root(const TypedLabel& label) const {
  const std::vector<Place> roots = roots_of(label.value[output_]);
  if (roots.empty()) return std::nullopt;
  const std::size_t count = roots.size();
  const std::size_t switches = link_->switches();
  const std::vector<double> fields = fields_at(roots);
  std::vector<double> value(link_->outputs() * count);
  std::vector<double> sides(switches * count);
  link_->values(count, fields.data(), value.data());
  if (switches > 0) link_->switch_values(count, fields.data(), sides.data());
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const bool agrees = link_->has_atoms_of(label, value.data() + i, count);
    double side = agrees ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < switches && !agrees; ++s) {
      side = std::min(side, std::abs(sides[s * count + i]));
    }
    if (!(side < least)) continue;
    least = side;
    best = i;
  }
  return roots[best];
}

FieldVector LevelLines::nearest(const TypedLabel& label) const {
  if (link_->outputs() > 1) {
    if (const auto root = nearest_root(label)) return point(root->line, root->t);
  }
  const double value = label.value[output_];
  const auto distance = [value](double f) { return std::abs(f - value); };
  const bool is_left_out =
      nearest_left_out_ && std::all_of(cells_.begin(), cells_.end(), [&](const Cell& cell) {
        return !(distance(cell.f0) < least_left_out_);
      });
  return is_left_out ? point(nearest_left_out_->line, nearest_left_out_->t)
                     : closest_point(distance);
}

FieldVector LevelLines::lowest(double sign) const {
  return closest_point([sign](double f) { return sign * f; });
}

std::vector<TypedLabel> LevelLines::atoms() const {
  std::vector<TypedLabel> out;
  for (const Segment& segment : segments_) {
    if (!segment.flat) continue;
    if (std::none_of(out.begin(), out.end(),
                     [&](const TypedLabel& a) { return link_->same_label(a, segment.label); })) {
      out.push_back(segment.label);
    }
  }
  return out;
}

}  // namespace onset::smi
