#include "smi/limits/typed/piece_masses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/typed/line_cuts.hpp"
#include "smi/model/typed/node_positions.hpp"

namespace onset::smi {
namespace {

/// Beyond this many standard deviations there is less mass than rounding shows.
constexpr double mass_reach = 8.5;
/// How much finer than usual switches are looked for along a line; a single line can be scanned
/// more closely than hundreds.
constexpr double fineness_alone = 64.0;
constexpr double fineness = 2.0;
/// Lines per replicate where they are Sobol points. Of two fields that is so where the parts of all
/// lines of the adaptive rule would be more than most_parts: links that oscillate have hundreds on
/// every line, and a few lines are accurate enough then.
constexpr std::size_t sobol_lines[] = {0, std::size_t{1} << 8U, std::size_t{1} << 11U,
                                       std::size_t{1} << 11U};
constexpr std::size_t most_parts = std::size_t{1} << 15U;
/// Panels are halved until that changes no mass by more than this.
constexpr double halving_tolerance = 1e-11;
constexpr int first_panels = 16;
constexpr int most_halvings = 40;

/// Lobatto's rule of seven points, exact up to degree 11. It has the ends of a panel, next to which
/// a rule of inner points would not see a corner.
struct PanelPoint {
  double x, weight;
};
constexpr PanelPoint panel_rule[] = {
    {-1.0, 1.0 / 21.0},
    {-0.8302238962785669, 0.2768260473615659},
    {-0.4688487934707142, 0.4317453812098626},
    {0.0, 256.0 / 525.0},
    {0.4688487934707142, 0.4317453812098626},
    {0.8302238962785669, 0.2768260473615659},
    {1.0, 1.0 / 21.0},
};

using Masses = std::map<PieceKey, double>;
/// The fields of a point of every piece that was met.
using PiecePoints = std::map<PieceKey, std::vector<double>>;

/// The mass of standard normals between two places, without cancellation in the upper tail.
double mass_between(double low, double high) {
  const double sign = low + high > 0.0 ? 1.0 : -1.0;
  const double near = sign > 0.0 ? low : -high;
  const double far = sign > 0.0 ? high : -low;
  return 0.5 * (std::erfc(near / std::numbers::sqrt2) - std::erfc(far / std::numbers::sqrt2));
}

/// The lines of one replicate, all parallel.
class Lines {
 public:
  Lines(const TypedLink& link, std::uint64_t seed, std::uint64_t replicate, const Context& context,
        PiecePoints& points)
      : link_(link), context_(context), points_(points), size_(link.fields().size()) {
    numerics::Stream stream(seed, "masses of pieces", replicate);
    rotation_ = size_ > 1 ? random_rotation(size_, stream) : FieldMatrix::Identity(1, 1).eval();
    // Points of the scan lie elsewhere in every replicate.
    fineness_ = (size_ > 1 ? fineness : fineness_alone) * (1.0 + stream.uniform());
  }

  /// The masses along the line with these coordinates across it.
  [[nodiscard]] Masses along(const std::vector<double>& across) {
    context_.check();
    FieldLine line;
    for (std::size_t f = 0; f < size_; ++f) {
      const auto row = rotation_.row(static_cast<Eigen::Index>(f));
      double origin = 0.0;
      for (std::size_t k = 1; k < size_; ++k)
        origin += row(static_cast<Eigen::Index>(k)) * across[k - 1];
      line.origin.push_back(origin);
      line.direction.push_back(row(0));
    }
    const std::vector<double> ends = line_cuts(link_, line, mass_reach, fineness_);
    const std::vector<double> fields = line.fields(middles(ends));
    const std::size_t count = ends.size() - 1;
    parts_ += count;
    std::vector<double> sides(link_.switches() * count);
    if (!sides.empty()) link_.switch_values(count, fields.data(), sides.data());
    Masses out;
    for (std::size_t k = 0; k < count; ++k) {
      const PieceKey key = piece_key(sides.data() + k, link_.switches(), count);
      out[key] += mass_between(ends[k], ends[k + 1]);
      std::vector<double>& point = points_[key];
      if (!point.empty()) continue;
      for (std::size_t f = 0; f < size_; ++f) point.push_back(fields[f * count + k]);
    }
    return out;
  }

  /// The integral over all lines.
  [[nodiscard]] Masses all(std::uint64_t seed, std::uint64_t replicate) {
    if (size_ == 1 || link_.switches() == 0) return along(std::vector<double>(size_ - 1, 0.0));
    Masses sum;
    if (size_ == 2) {
      const double width = 2.0 * mass_reach / first_panels;
      for (int k = 0; k < first_panels && parts_ < most_parts; ++k) {
        const double low = -mass_reach + width * k;
        add_panel(low, low + width, panel(low, low + width), most_halvings, sum);
      }
      if (parts_ < most_parts) return sum;
      sum.clear();
    }
    const std::size_t across = size_ - 1;
    const std::size_t count = sobol_lines[across];
    std::vector<double> points(across * count);
    numerics::scrambled_sobol(static_cast<int>(across), seed, replicate)->points(0, count, points);
    numerics::simd::normal_quantile(points, points);
    std::vector<double> one(across);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < across; ++k) one[k] = points[k * count + i];
      for (const auto& [key, mass] : along(one)) sum[key] += mass / static_cast<double>(count);
    }
    return sum;
  }

 private:
  [[nodiscard]] Masses panel(double low, double high) {
    Masses out;
    for (const auto& [x, weight] : panel_rule) {
      const double s = 0.5 * (low + high) + 0.5 * (high - low) * x;
      const double density = std::exp(-0.5 * s * s) / std::sqrt(2.0 * std::numbers::pi);
      for (const auto& [key, mass] : along({s}))
        out[key] += 0.5 * (high - low) * weight * density * mass;
    }
    return out;
  }

  /// Adds a panel, in halves where these have other masses: next to corners of pieces, and where an
  /// edge is nearly parallel to the lines.
  void add_panel(double low, double high, const Masses& whole, int halvings, Masses& sum) {
    const double middle = 0.5 * (low + high);
    const Masses left = panel(low, middle);
    const Masses right = panel(middle, high);
    Masses change = whole;
    for (const Masses* half : {&left, &right}) {
      for (const auto& [key, mass] : *half) change[key] -= mass;
    }
    const bool changes = std::any_of(change.begin(), change.end(), [](const auto& one) {
      return std::abs(one.second) > halving_tolerance;
    });
    if (changes && halvings > 0 && parts_ < most_parts) {
      add_panel(low, middle, left, halvings - 1, sum);
      add_panel(middle, high, right, halvings - 1, sum);
      return;
    }
    for (const Masses* half : {&left, &right}) {
      for (const auto& [key, mass] : *half) sum[key] += mass;
    }
  }

  const TypedLink& link_;
  const Context& context_;
  PiecePoints& points_;
  std::size_t size_;
  FieldMatrix rotation_;
  double fineness_ = 1.0;
  std::size_t parts_ = 0;  ///< of all lines so far
};

}  // namespace

PieceKey piece_key(const double* sides, std::size_t switches, std::size_t stride) {
  PieceKey key = 0;
  for (std::size_t s = 0; s < switches; ++s) key = 2 * key + (sides[s * stride] > 0.0 ? 1 : 0);
  return key;
}

std::map<PieceKey, PieceMass> piece_masses(const TypedLink& link, std::uint64_t seed,
                                           const Context& context) {
  std::vector<Masses> masses(piece_replicates);
  std::vector<PiecePoints> points(piece_replicates);
  numerics::parallel_for(context, piece_replicates, [&](std::size_t r) {
    masses[r] = Lines(link, seed, r, context, points[r]).all(seed, r);
  });
  context.check();
  std::map<PieceKey, PieceMass> out;
  for (std::size_t r = 0; r < piece_replicates; ++r) {
    for (const auto& [key, mass] : masses[r]) out[key].mass[r] = mass;
    for (const auto& [key, point] : points[r]) {
      if (out[key].point.empty()) out[key].point = point;
    }
  }
  return out;
}

}  // namespace onset::smi
