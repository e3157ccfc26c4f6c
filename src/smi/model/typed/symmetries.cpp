#include "smi/model/typed/symmetries.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/random/stream.hpp"

namespace onset::smi {
namespace {

/// Points at which a symmetry is tried, and directions up to which permutations are.
constexpr std::size_t symmetry_points = 64;
constexpr Eigen::Index max_permuted_directions = 4;
/// Two values are the same up to this, relatively.
constexpr double same_value = 1e-11;

/// The values of the link at random points, output after output, before and after a map of the
/// directions.
struct MappedValues {
  std::vector<double> before, after;
  bool defined = true;  ///< false where the map needs a field that the link does not read
};

MappedValues mapped_values(const TypedLink& link, const Eigen::MatrixXd& map) {
  const auto& fields = link.fields();
  const std::size_t rows = fields.size();
  std::vector<double> at(rows * symmetry_points);
  numerics::Stream(1, "symmetries").normal(at);
  std::vector<double> mapped = at;
  MappedValues out;
  for (std::size_t f = 0; f < rows; ++f) {
    if (!fields[f].direction) continue;
    const auto row = static_cast<Eigen::Index>(*fields[f].direction);
    bool found = false;
    for (std::size_t g = 0; g < rows; ++g) {
      if (!fields[g].direction || fields[g].token != fields[f].token) continue;
      const double sign = map(row, static_cast<Eigen::Index>(*fields[g].direction));
      if (sign == 0.0) continue;
      found = true;
      for (std::size_t i = 0; i < symmetry_points; ++i) {
        mapped[f * symmetry_points + i] = sign * at[g * symmetry_points + i];
      }
    }
    out.defined = out.defined && found;
  }
  if (!out.defined) return out;
  out.before.resize(link.outputs() * symmetry_points);
  out.after.resize(link.outputs() * symmetry_points);
  link.values(symmetry_points, at.data(), out.before.data());
  link.values(symmetry_points, mapped.data(), out.after.data());
  return out;
}

/// Whether an output becomes sign * another one + constant at all points.
bool agree(const double* before, const double* after, double sign, double constant) {
  for (std::size_t i = 0; i < symmetry_points; ++i) {
    const double wanted = sign * before[i] + constant;
    const double scale = std::max({1.0, std::abs(before[i]), std::abs(constant)});
    if (!(std::abs(wanted - after[i]) <= same_value * scale)) return false;
  }
  return true;
}

/// Whether one output becomes another one under another name.
bool is_renamed(const double* before, const double* after) {
  return agree(before, after, 1.0, after[0] - before[0]) ||
         agree(before, after, -1.0, after[0] + before[0]);
}

bool is_symmetry(const TypedLink& link, const Eigen::MatrixXd& map, LabelUnder under) {
  const MappedValues values = mapped_values(link, map);
  if (!values.defined) return false;
  const auto before = [&](std::size_t k) { return values.before.data() + k * symmetry_points; };
  const auto after = [&](std::size_t k) { return values.after.data() + k * symmetry_points; };
  // Outputs may trade places too: some order of them must do.
  std::vector<std::size_t> to(link.outputs());
  std::iota(to.begin(), to.end(), std::size_t{0});
  do {
    bool all = true;
    for (std::size_t k = 0; k < to.size() && all; ++k) {
      all = agree(before(to[k]), after(k), 1.0, 0.0) ||
            (under == LabelUnder::renamed && is_renamed(before(to[k]), after(k)));
    }
    if (all) return true;
  } while (under == LabelUnder::renamed && std::next_permutation(to.begin(), to.end()));
  return false;
}

}  // namespace

std::vector<Eigen::MatrixXd> signed_symmetries(const TypedLink& link, LabelUnder under) {
  const auto size = static_cast<Eigen::Index>(link.directions());
  std::vector<Eigen::MatrixXd> out{Eigen::MatrixXd::Identity(size, size)};
  if (size > max_permuted_directions) return out;
  std::vector<Eigen::Index> to(static_cast<std::size_t>(size));
  std::iota(to.begin(), to.end(), 0);
  do {
    for (unsigned signs = 0; signs < 1U << static_cast<unsigned>(size); ++signs) {
      Eigen::MatrixXd map = Eigen::MatrixXd::Zero(size, size);
      for (Eigen::Index p = 0; p < size; ++p) {
        map(p, to[static_cast<std::size_t>(p)]) = (signs >> static_cast<unsigned>(p)) & 1U ? -1 : 1;
      }
      if (map.isIdentity(0.0) || !is_symmetry(link, map, under)) continue;
      out.push_back(map);
    }
  } while (std::next_permutation(to.begin(), to.end()));
  return out;
}

std::vector<Eigen::MatrixXd> field_symmetries(const TypedLink& link) {
  const auto& fields = link.fields();
  const auto size = static_cast<Eigen::Index>(fields.size());
  std::vector<Eigen::MatrixXd> out;
  for (const Eigen::MatrixXd& map : signed_symmetries(link, LabelUnder::same)) {
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(size, size);
    for (Eigen::Index f = 0; f < size; ++f) {
      const TypedField& from = fields[static_cast<std::size_t>(f)];
      if (!from.direction) all(f, f) = 1.0;
      for (Eigen::Index g = 0; from.direction && g < size; ++g) {
        const TypedField& to = fields[static_cast<std::size_t>(g)];
        if (!to.direction || to.token != from.token) continue;
        all(f, g) = map(static_cast<Eigen::Index>(*from.direction),
                        static_cast<Eigen::Index>(*to.direction));
      }
    }
    out.push_back(std::move(all));
  }
  return out;
}

}  // namespace onset::smi
