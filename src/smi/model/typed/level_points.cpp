#include "smi/model/typed/level_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/random/stream.hpp"
#include "smi/model/typed/node_positions.hpp"

namespace onset::smi {
namespace {

/// The weight of a root falls like this power of its determinant towards a fold, as on lines.
constexpr int determinant_power = 6;
/// Newton's method: its longest step, how far it may go from its start and how often it tries.
constexpr double longest_step = 0.5;
constexpr double farthest = 2.0;
constexpr int max_steps = 40;
/// A step below this has come to rest. Next to folds, where it shrinks by halves, roots have half
/// the digits.
constexpr double at_rest = 1e-12;
/// Roots closer than this are one.
constexpr double same_root = 1e-7;
/// Between the corners of a cell an output strays from what they say by at most this part of its
/// second differences there; a parabola by an eighth along each axis.
constexpr double stray = 0.4;

/// Determinant of the columns `chosen`.
double minor_of(const FieldMatrix& slopes, const std::vector<Eigen::Index>& chosen) {
  const auto& s = slopes;
  if (chosen.size() == 2) {
    return s(0, chosen[0]) * s(1, chosen[1]) - s(0, chosen[1]) * s(1, chosen[0]);
  }
  const Eigen::Index a = chosen[0], b = chosen[1], c = chosen[2];
  return s(0, a) * (s(1, b) * s(2, c) - s(1, c) * s(2, b)) -
         s(0, b) * (s(1, a) * s(2, c) - s(1, c) * s(2, a)) +
         s(0, c) * (s(1, a) * s(2, b) - s(1, b) * s(2, a));
}

/// All sets of `size` out of n coordinates.
std::vector<std::vector<Eigen::Index>> subsets(Eigen::Index n, std::size_t size) {
  std::vector<std::vector<Eigen::Index>> out;
  for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(n); ++bits) {
    std::vector<Eigen::Index> one;
    for (Eigen::Index k = 0; k < n; ++k) {
      if ((bits >> static_cast<unsigned>(k)) & 1U) one.push_back(k);
    }
    if (one.size() == size) out.push_back(std::move(one));
  }
  return out;
}

/// The step of Newton's method in the solved coordinates, by Cramer's rule; nothing where the
/// determinant vanishes.
std::optional<FieldVector> newton_step(const FieldVector& value, const FieldMatrix& slopes,
                                       const std::vector<Eigen::Index>& solved) {
  const double whole = minor_of(slopes, solved);
  if (whole == 0.0 || !std::isfinite(whole)) return std::nullopt;
  FieldVector step = FieldVector::Zero(slopes.cols());
  for (const Eigen::Index column : solved) {
    FieldMatrix replaced = slopes;
    replaced.col(column) = -value;
    step(column) = minor_of(replaced, solved) / whole;
  }
  if (!step.allFinite()) return std::nullopt;
  return step;
}

/// Leaves one of every group of copies.
std::vector<FieldVector> without_copies(std::vector<FieldVector> roots) {
  std::sort(roots.begin(), roots.end(), [](const FieldVector& a, const FieldVector& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  std::vector<FieldVector> out;
  for (const FieldVector& root : roots) {
    const bool known = std::any_of(out.rbegin(), out.rend(), [&](const FieldVector& other) {
      return (root - other).norm() < same_root;
    });
    if (!known) out.push_back(root);
  }
  return out;
}

}  // namespace

LevelPoints::LevelPoints(const TypedLink& link, const NormalForm& form, const TypedLabel& label,
                         const LineOptions& options)
    : link_(&link),
      form_(form),
      label_(label),
      radius_(options.radius),
      least_(std::numeric_limits<double>::infinity()),
      nearest_(FieldVector::Zero(static_cast<Eigen::Index>(form.normals()))) {
  numerics::Stream stream(options.seed, "level points",
                          (options.replicate << 32U) + options.sample);
  rotation_ = random_rotation(form.normals(), stream);
  form_.matrix = form.matrix * rotation_;
  if (options.centre) centre_ = rotation_.transpose() * *options.centre;
  for (std::size_t k = 0; k < link.outputs(); ++k) {
    if ((label.density >> k) & 1U) outputs_.push_back(k);
  }
  for (const auto& solved : subsets(form_.matrix.cols(), outputs_.size())) solve(solved, options);
}

std::size_t LevelPoints::Slices::points() const {
  std::size_t count = 1;
  for (const std::vector<double>& one : grid) count *= one.size();
  return count;
}

FieldVector LevelPoints::Slices::at(const FieldVector& base, std::size_t number) const {
  FieldVector out = base;
  for (std::size_t d = 0; d < solved.size(); ++d) {
    out(solved[d]) = grid[d][number % grid[d].size()];
    number /= grid[d].size();
  }
  return out;
}

void LevelPoints::solve(const std::vector<Eigen::Index>& solved, const LineOptions& options) {
  const Eigen::Index n = form_.matrix.cols();
  std::uint64_t bits = 0;
  for (const Eigen::Index k : solved) bits |= std::uint64_t{1} << static_cast<unsigned>(k);
  numerics::Stream stream(options.seed, "level point shifts",
                          (options.replicate << 32U) + options.sample);
  stream.seek(4 * bits);
  const auto along = [&](Eigen::Index k, double spacing) {
    return positions(options.radius, spacing, stream.uniform(),
                     centre_.size() > 0 ? std::optional(centre_(k)) : std::nullopt);
  };
  Slices slices{solved, {}};
  for (const Eigen::Index k : solved) {
    slices.grid.emplace_back();
    for (const Position& p : along(k, options.scan_spacing)) slices.grid.back().push_back(p.x);
  }
  const FieldVector zero = FieldVector::Zero(n);
  if (static_cast<std::size_t>(n) == solved.size()) {
    solve_slice(slices, zero, 1.0);
    return;
  }
  // Three normals and two equations: one coordinate is left.
  Eigen::Index left = 0;
  while (std::find(solved.begin(), solved.end(), left) != solved.end()) ++left;
  for (const Position& p : along(left, options.spacing)) {
    FieldVector base = zero;
    base(left) = p.x;
    solve_slice(slices, base, p.weight);
  }
}

void LevelPoints::solve_slice(const Slices& slices, const FieldVector& base, double weight) {
  const Values values = grid_values(slices, base);
  note_nearest(slices, base, values);
  const std::vector<FieldVector> roots = polished(slices, starts(slices, base, values));
  const std::vector<Equations> all = equations_at(roots);
  const auto sets = subsets(form_.matrix.cols(), outputs_.size());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!all[i].others_agree) continue;
    double largest = 0.0;
    for (const auto& set : sets) {
      largest = std::max(largest, std::abs(minor_of(all[i].slopes, set)));
    }
    const double own = std::abs(minor_of(all[i].slopes, slices.solved));
    if (!(own > 0.0) || !std::isfinite(largest)) continue;
    double sum = 0.0;
    for (const auto& set : sets) {
      sum += std::pow(std::abs(minor_of(all[i].slopes, set)) / largest, determinant_power);
    }
    const double part = std::pow(own / largest, determinant_power) / sum;
    points_.push_back(
        {weight * normal_density(roots[i].squaredNorm(), form_.normals()) * part / own,
         rotation_ * roots[i]});
  }
}

LevelPoints::Values LevelPoints::grid_values(const Slices& slices, const FieldVector& base) const {
  constexpr std::size_t block = 512;
  const std::size_t count = slices.points();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  Values out(outputs_.size() * count);
  std::vector<double> fields(rows * block);
  std::vector<double> values(link_->outputs() * block);
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t size = std::min(block, count - first);
    for (std::size_t i = 0; i < size; ++i) {
      const FieldVector own = form_.origin + form_.matrix * slices.at(base, first + i);
      for (std::size_t f = 0; f < rows; ++f) {
        fields[f * size + i] = own(static_cast<Eigen::Index>(f));
      }
    }
    link_->values(size, fields.data(), values.data());
    for (std::size_t e = 0; e < outputs_.size(); ++e) {
      const std::size_t k = outputs_[e];
      for (std::size_t i = 0; i < size; ++i) {
        out[e * count + first + i] = values[k * size + i] - label_.value[k];
      }
    }
  }
  return out;
}

void LevelPoints::note_nearest(const Slices& slices, const FieldVector& base,
                               const Values& values) {
  const std::size_t count = slices.points();
  if (units_.empty()) {
    for (std::size_t e = 0; e < outputs_.size(); ++e) {
      double sum = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        const double v = std::abs(values[e * count + i]);
        if (std::isfinite(v)) sum += v;
      }
      units_.push_back(sum > 0.0 ? sum / static_cast<double>(count) : 1.0);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    double far = 0.0;
    for (std::size_t e = 0; e < outputs_.size(); ++e) {
      far = std::max(far, std::abs(values[e * count + i]) / units_[e]);
    }
    if (!(far < least_)) continue;
    least_ = far;
    nearest_ = slices.at(base, i);
  }
}

std::vector<FieldVector> LevelPoints::starts(const Slices& slices, const FieldVector& base,
                                             const Values& values) const {
  const std::size_t axes = slices.solved.size();
  const std::size_t count = slices.points();
  std::vector<std::size_t> stride(axes, 1);
  for (std::size_t d = 1; d < axes; ++d) stride[d] = stride[d - 1] * slices.grid[d - 1].size();
  const auto place = [&](std::size_t number, std::size_t d) {
    return number / stride[d] % slices.grid[d].size();
  };
  // How far an output may stray next to a point of the grid.
  Values bend(values.size(), 0.0);
  for (std::size_t e = 0; e < outputs_.size(); ++e) {
    const double* v = values.data() + e * count;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t d = 0; d < axes; ++d) {
        const std::size_t at = place(i, d);
        if (at == 0 || at + 1 == slices.grid[d].size()) continue;
        const double second = std::abs(v[i + stride[d]] - 2.0 * v[i] + v[i - stride[d]]);
        bend[e * count + i] = std::max(bend[e * count + i], stray * second);
      }
    }
  }
  std::vector<FieldVector> out;
  for (std::size_t i = 0; i < count; ++i) {
    bool may_vanish = true;
    for (std::size_t d = 0; d < axes; ++d) {
      may_vanish = may_vanish && place(i, d) + 1 < slices.grid[d].size();
    }
    for (std::size_t e = 0; e < outputs_.size() && may_vanish; ++e) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      double margin = 0.0;
      for (unsigned corner = 0; corner < 1U << axes; ++corner) {
        std::size_t at = e * count + i;
        for (std::size_t d = 0; d < axes; ++d) at += (corner >> d) & 1U ? stride[d] : 0;
        low = std::min(low, values[at]);
        high = std::max(high, values[at]);
        margin = std::max(margin, bend[at]);
      }
      may_vanish = low - margin <= 0.0 && high + margin >= 0.0;
    }
    if (!may_vanish) continue;
    // The middle, and points halfway to the corners: two roots of one cell are told apart.
    for (unsigned corner = 0; corner <= 1U << axes; ++corner) {
      FieldVector start = base;
      for (std::size_t d = 0; d < axes; ++d) {
        const double* x = slices.grid[d].data() + place(i, d);
        const double part = corner == 1U << axes ? 0.5 : ((corner >> d) & 1U ? 0.75 : 0.25);
        start(slices.solved[d]) = (1.0 - part) * x[0] + part * x[1];
      }
      out.push_back(start);
    }
  }
  return out;
}

std::vector<FieldVector> LevelPoints::polished(const Slices& slices,
                                               std::vector<FieldVector> at) const {
  std::vector<FieldVector> from = at;
  std::vector<FieldVector> found;
  for (int step = 0; step < max_steps && !at.empty(); ++step) {
    const std::vector<Equations> all = equations_at(at);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (!all[i].value.allFinite()) continue;
      const auto move = newton_step(all[i].value, all[i].slopes, slices.solved);
      if (!move) continue;
      const double length = move->norm();
      const FieldVector next = at[i] + *move * std::min(1.0, longest_step / length);
      if (length < at_rest * (1.0 + at[i].norm())) {
        if (next.norm() < radius_) found.push_back(next);
        continue;
      }
      if ((next - from[i]).norm() > farthest) continue;
      at[kept] = next;
      from[kept++] = from[i];
    }
    at.resize(kept);
    from.resize(kept);
  }
  return without_copies(std::move(found));
}

std::vector<LevelPoints::Equations> LevelPoints::equations_at(
    const std::vector<FieldVector>& at) const {
  const std::size_t count = at.size();
  const auto rows = static_cast<std::size_t>(form_.origin.size());
  const std::size_t outputs = link_->outputs();
  std::vector<double> fields(rows * count);
  for (std::size_t i = 0; i < count; ++i) {
    const FieldVector own = form_.origin + form_.matrix * at[i];
    for (std::size_t f = 0; f < rows; ++f) {
      fields[f * count + i] = own(static_cast<Eigen::Index>(f));
    }
  }
  std::vector<double> value(outputs * count);
  std::vector<double> slopes(outputs * rows * count);
  if (count > 0) link_->gradient(count, fields.data(), value.data(), slopes.data());
  std::vector<Equations> out(count);
  const auto size = static_cast<Eigen::Index>(outputs_.size());
  FieldVector gradient(static_cast<Eigen::Index>(rows));
  for (std::size_t i = 0; i < count; ++i) {
    Equations& own = out[i];
    own.value.resize(size);
    own.slopes.resize(size, form_.matrix.cols());
    own.others_agree = link_->has_atoms_of(label_, value.data() + i, count);
    Eigen::Index next = 0;
    for (std::size_t k = 0; k < outputs; ++k) {
      if (!((label_.density >> k) & 1U)) continue;
      for (std::size_t f = 0; f < rows; ++f) {
        gradient(static_cast<Eigen::Index>(f)) = slopes[(k * rows + f) * count + i];
      }
      own.value(next) = value[k * count + i] - label_.value[k];
      own.slopes.row(next++) = (form_.matrix.transpose() * gradient).transpose();
    }
  }
  return out;
}

LevelMoments LevelPoints::moments() const {
  LevelMoments sums(form_.normals());
  for (const Point& point : points_) sums.add(point.weight, point.xi);
  return sums;
}

LevelHermite LevelPoints::hermite(const HermiteIndices& indices) const {
  LevelHermite sums{std::vector<double>(indices.size(), 0.0)};
  std::vector<double> values(indices.size());
  for (const Point& point : points_) {
    add_point(indices, point.weight, point.xi.data(), values, sums);
  }
  return sums;
}

}  // namespace onset::smi
