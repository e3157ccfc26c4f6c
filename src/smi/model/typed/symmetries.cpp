#include "smi/model/typed/symmetries.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "smi/model/typed/link_probe.hpp"

namespace onset::smi {
namespace {

/// Directions up to which permutations are tried.
constexpr Eigen::Index max_permuted_directions = 4;

/// A map of the directions as one of the fields, where noise stays as it is; nothing where it needs
/// a field that the link does not read.
std::optional<Eigen::MatrixXd> on_fields(const TypedLink& link, const Eigen::MatrixXd& map) {
  const std::vector<TypedField>& fields = link.fields();
  const auto size = static_cast<Eigen::Index>(fields.size());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index f = 0; f < size; ++f) {
    const TypedField& to = fields[static_cast<std::size_t>(f)];
    if (!to.direction) out(f, f) = 1.0;
    for (Eigen::Index g = 0; to.direction && g < size; ++g) {
      const TypedField& from = fields[static_cast<std::size_t>(g)];
      if (!from.direction || from.token != to.token) continue;
      out(f, g) =
          map(static_cast<Eigen::Index>(*to.direction), static_cast<Eigen::Index>(*from.direction));
    }
    if (out.row(f).isZero(0.0)) return std::nullopt;
  }
  return out;
}

bool is_symmetry(const TypedLink& link, const LinkProbe& probe, const Eigen::MatrixXd& map,
                 LabelUnder under) {
  const std::optional<Eigen::MatrixXd> fields = on_fields(link, map);
  if (!fields) return false;
  const std::vector<double> after = probe.after(*fields);
  const auto is_renamed = [&](std::size_t from, std::size_t to) {
    return probe.agrees_up_to_shift(from, after, to, 1.0) ||
           probe.agrees_up_to_shift(from, after, to, -1.0);
  };
  // Outputs may trade places too: some order of them must do.
  std::vector<std::size_t> from(link.outputs());
  std::iota(from.begin(), from.end(), std::size_t{0});
  do {
    bool all = true;
    for (std::size_t k = 0; k < from.size() && all; ++k) {
      all = probe.agrees(from[k], after, k) ||
            (under == LabelUnder::renamed && is_renamed(from[k], k));
    }
    if (all) return true;
  } while (under == LabelUnder::renamed && std::next_permutation(from.begin(), from.end()));
  return false;
}

}  // namespace

std::vector<Eigen::MatrixXd> signed_symmetries(const TypedLink& link, LabelUnder under) {
  const auto size = static_cast<Eigen::Index>(link.directions());
  std::vector<Eigen::MatrixXd> out{Eigen::MatrixXd::Identity(size, size)};
  if (size > max_permuted_directions) return out;
  const LinkProbe probe(link);
  std::vector<Eigen::Index> to(static_cast<std::size_t>(size));
  std::iota(to.begin(), to.end(), 0);
  do {
    for (unsigned signs = 0; signs < 1U << static_cast<unsigned>(size); ++signs) {
      Eigen::MatrixXd map = Eigen::MatrixXd::Zero(size, size);
      for (Eigen::Index p = 0; p < size; ++p) {
        map(p, to[static_cast<std::size_t>(p)]) = (signs >> static_cast<unsigned>(p)) & 1U ? -1 : 1;
      }
      if (map.isIdentity(0.0) || !is_symmetry(link, probe, map, under)) continue;
      out.push_back(map);
    }
  } while (std::next_permutation(to.begin(), to.end()));
  return out;
}

std::vector<Eigen::MatrixXd> field_symmetries(const TypedLink& link) {
  std::vector<Eigen::MatrixXd> out;
  for (const Eigen::MatrixXd& map : signed_symmetries(link, LabelUnder::same)) {
    out.push_back(on_fields(link, map).value());
  }
  return out;
}

}  // namespace onset::smi
