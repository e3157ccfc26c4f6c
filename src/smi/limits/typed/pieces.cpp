#include "smi/limits/typed/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/piece_masses.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/model/typed/link_probe.hpp"
#include "smi/model/typed/symmetries.hpp"

namespace onset::smi {
namespace {

constexpr std::size_t random_points = std::size_t{1} << 16U;
/// Lines on which jumps are looked for, besides those along every field.
constexpr std::size_t random_lines = 64;
/// Eigenvalues of a sum of squared gradients, relative to the largest, below which a direction does
/// not matter.
constexpr double no_slope = 1e-12;
/// Points at which gradients on the pieces are looked at.
constexpr std::size_t piece_points = std::size_t{1} << 16U;
/// Sample ratios that differ by fewer standard errors are the same.
constexpr double equal_errors = 6.0;

/// The sum over tokens of gradients of one output times themselves, over the directions.
void add_square(const TypedLink& link, const std::vector<double>& gradient, Eigen::MatrixXd& to) {
  const auto& fields = link.fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t g = 0; g < fields.size(); ++g) {
      if (!fields[f].direction || !fields[g].direction || fields[f].token != fields[g].token) {
        continue;
      }
      to(static_cast<Eigen::Index>(*fields[f].direction),
         static_cast<Eigen::Index>(*fields[g].direction)) += gradient[f] * gradient[g];
    }
  }
}

double unit_scale(const std::vector<double>& gradient) {
  double sum = 0.0;
  for (const double g : gradient) sum += g * g;
  return sum > 0.0 && std::isfinite(sum) ? 1.0 / std::sqrt(sum) : 0.0;
}

/// The gradient of output k at point i of `count`, made a unit vector; 0 where it is none.
std::vector<double> unit_gradient(const std::vector<double>& slopes, std::size_t rows,
                                  std::size_t k, std::size_t count, std::size_t i) {
  std::vector<double> one(rows);
  for (std::size_t f = 0; f < rows; ++f) one[f] = slopes[(k * rows + f) * count + i];
  const double scale = unit_scale(one);
  for (double& g : one) g *= scale;
  return one;
}

/// Unit gradients at random points.
Eigen::MatrixXd squared_slopes(const TypedLink& link) {
  const std::size_t rows = link.fields().size();
  const std::vector<double> inputs = probe_fields(rows, random_points, "relevant directions");
  const std::size_t outputs = link.outputs();
  std::vector<double> value(outputs * random_points);
  std::vector<double> slopes(outputs * rows * random_points);
  link.gradient(random_points, inputs.data(), value.data(), slopes.data());
  const auto directions = static_cast<Eigen::Index>(link.directions());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(directions, directions);
  for (std::size_t k = 0; k < outputs; ++k) {
    for (std::size_t i = 0; i < random_points; ++i) {
      add_square(link, unit_gradient(slopes, rows, k, random_points, i), sum);
    }
  }
  return sum;
}

/// One value of one switch.
double switch_at(const TypedLink& link, std::size_t index, const std::vector<double>& at) {
  std::vector<double> all(link.switches());
  link.switch_values(1, at.data(), all.data());
  return all[index];
}

/// The unit normals of the switches that change sign at a place of a line, if the link's value
/// jumps there.
void add_jump(const TypedLink& link, const FieldLine& line, double place, Eigen::MatrixXd& to) {
  constexpr double side = 1e-7;
  const std::vector<double> below = line.fields({place - side});
  const std::vector<double> above = line.fields({place + side});
  std::vector<double> low(link.outputs()), high(link.outputs());
  link.values(1, below.data(), low.data());
  link.values(1, above.data(), high.data());
  bool jumps = false;
  for (std::size_t k = 0; k < low.size(); ++k) {
    // A continuous link changes by about `side` times its slope.
    jumps = jumps || std::abs(high[k] - low[k]) > 1e-4 * std::max(1.0, std::abs(low[k]));
  }
  if (!jumps) return;
  for (std::size_t s = 0; s < link.switches(); ++s) {
    if ((switch_at(link, s, below) > 0.0) == (switch_at(link, s, above) > 0.0)) continue;
    std::vector<double> normal(below.size());
    constexpr double h = 1e-5;
    for (std::size_t f = 0; f < normal.size(); ++f) {
      std::vector<double> at = line.fields({place});
      at[f] += h;
      const double up = switch_at(link, s, at);
      at[f] -= 2.0 * h;
      normal[f] = (up - switch_at(link, s, at)) / (2.0 * h);
    }
    const double scale = unit_scale(normal);
    // Differences have errors of about h^2, which must not pass for a slope.
    for (double& g : normal) g = std::abs(g * scale) < 1e-6 ? 0.0 : g * scale;
    add_square(link, normal, to);
  }
}

Eigen::MatrixXd squared_jumps(const TypedLink& link) {
  const auto directions = static_cast<Eigen::Index>(link.directions());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(directions, directions);
  for (const FieldLine& line : probe_lines(link.fields().size(), random_lines, "jumps")) {
    const std::vector<double> ends = line_cuts(link, line, probe_reach, 1.0);
    for (std::size_t k = 1; k + 1 < ends.size(); ++k) add_jump(link, line, ends[k], sum);
  }
  return sum;
}

/// Points of a piece whose gradients are kept: the rank of the Jacobian is the largest there.
constexpr std::size_t kept_gradients = 16;
/// A gradient that leaves less than this part of itself along a subspace, or beside others, has
/// none there.
constexpr double no_part = 1e-7;

/// A piece of the link: a pattern of signs of its switches.
struct Piece {
  std::vector<Eigen::MatrixXd> square;                      ///< of gradients, output by output
  std::size_t points = 0;                                   ///< that have met it
  numerics::Replicates mass;                                ///< of the piece
  std::vector<std::vector<std::vector<double>>> gradients;  ///< gradients[point][output][field]
};

/// Takes the gradients at some points into the pieces that these lie on.
void look_at(const TypedLink& link, const std::vector<double>& inputs,
             std::map<PieceKey, Piece>& pieces) {
  const std::size_t rows = link.fields().size();
  const std::size_t outputs = link.outputs();
  const std::size_t count = inputs.size() / rows;
  const auto directions = static_cast<Eigen::Index>(link.directions());
  std::vector<double> value(outputs * count);
  std::vector<double> slopes(outputs * rows * count);
  std::vector<double> sides(link.switches() * count);
  link.gradient(count, inputs.data(), value.data(), slopes.data());
  if (link.switches() > 0) link.switch_values(count, inputs.data(), sides.data());
  for (std::size_t i = 0; i < count; ++i) {
    Piece& piece = pieces[piece_key(sides.data() + i, link.switches(), count)];
    ++piece.points;
    if (piece.square.empty())
      piece.square.assign(outputs, Eigen::MatrixXd::Zero(directions, directions));
    std::vector<std::vector<double>> own;
    for (std::size_t k = 0; k < outputs; ++k) {
      own.push_back(unit_gradient(slopes, rows, k, count, i));
      add_square(link, own.back(), piece.square[k]);
    }
    if (piece.gradients.size() < kept_gradients) piece.gradients.push_back(std::move(own));
  }
}

/// The mass of a piece that some of many random points have met and no line has: its error is as
/// large.
numerics::Replicates mass_of_points(std::size_t points) {
  numerics::Replicates out(piece_replicates, 0.0);
  out.front() = static_cast<double>(piece_replicates * points) / static_cast<double>(piece_points);
  return out;
}

std::vector<Piece> pieces_of(const TypedLink& link, std::uint64_t seed, const Context& context) {
  const std::size_t rows = link.fields().size();
  std::vector<double> inputs(rows * piece_points);
  numerics::scrambled_sobol(static_cast<int>(rows), seed, 0)->points(0, piece_points, inputs);
  numerics::simd::normal_quantile(inputs, inputs);
  std::map<PieceKey, Piece> pieces;
  look_at(link, inputs, pieces);
  const std::map<PieceKey, PieceMass> masses = piece_masses(link, seed, context);
  // A small piece that no point has met.
  for (const auto& [key, found] : masses) {
    if (!pieces.contains(key)) look_at(link, found.point, pieces);
  }
  std::vector<Piece> out;
  for (auto& [key, piece] : pieces) {
    const auto found = masses.find(key);
    piece.mass = found != masses.end() ? found->second.mass : mass_of_points(piece.points);
    out.push_back(std::move(piece));
  }
  return out;
}

/// The relevant directions on which an output does not depend on a piece, for all of both.
std::vector<Eigen::MatrixXd> null_spaces(const std::vector<Piece>& pieces,
                                         const Eigen::MatrixXd& relevant) {
  std::vector<Eigen::MatrixXd> out;
  for (const Piece& piece : pieces) {
    for (const Eigen::MatrixXd& square : piece.square) {
      const Eigen::MatrixXd span = range_above(square, no_slope * square.trace());
      out.push_back(without(relevant, intersection(relevant, span)));
    }
  }
  return out;
}

/// The whole space, null spaces, and all intersections and sums of them [links 6]. Sums are those
/// that several outputs on one piece may need.
std::vector<Eigen::MatrixXd> candidates(const std::vector<Eigen::MatrixXd>& nulls,
                                        const Eigen::MatrixXd& relevant, bool with_sums) {
  constexpr std::size_t most = 200;
  std::vector<Eigen::MatrixXd> out{relevant};
  const auto add = [&out](const Eigen::MatrixXd& basis) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Eigen::MatrixXd& other) {
      return other.cols() == basis.cols() &&
             (other * other.transpose() - basis * basis.transpose()).norm() < 1e-6;
    });
    if (!known && basis.cols() > 0 && out.size() < most) out.push_back(basis);
  };
  for (const Eigen::MatrixXd& null : nulls) {
    const std::size_t before = out.size();
    for (std::size_t k = 0; k < before; ++k) add(intersection(out[k], null));
  }
  for (std::size_t a = 1; with_sums && a < out.size(); ++a) {
    for (std::size_t b = 1; b < a; ++b) {
      add(sum_of(out[a], out[b]));
      add(intersection(out[a], out[b]));
    }
  }
  return out;
}

/// The rank of the gradients of all outputs along some directions, at every token, and along noise.
int rank_along(const TypedLink& link, const std::vector<std::vector<double>>& gradients,
               const Eigen::MatrixXd& basis) {
  const auto& fields = link.fields();
  const Eigen::Index size = basis.cols();
  const auto tokens = static_cast<Eigen::Index>(link.tokens());
  const auto all = static_cast<Eigen::Index>(fields.size());
  std::vector<Eigen::VectorXd> found;
  for (const std::vector<double>& gradient : gradients) {
    Eigen::VectorXd row = Eigen::VectorXd::Zero(tokens * size + all);
    for (Eigen::Index f = 0; f < all; ++f) {
      const auto at = static_cast<std::size_t>(f);
      if (!fields[at].direction) {
        row(tokens * size + f) = gradient[at];
        continue;
      }
      row.segment(static_cast<Eigen::Index>(fields[at].token) * size, size) +=
          gradient[at] * basis.row(static_cast<Eigen::Index>(*fields[at].direction)).transpose();
    }
    for (const Eigen::VectorXd& other : found) row -= other * other.dot(row);
    if (row.norm() > no_part) found.push_back(row.normalized());
  }
  return static_cast<int>(found.size());
}

/// Equations per sample on the directions of a candidate, in every replicate: kappa_N of [links 6].
numerics::Replicates equations(const TypedLink& link, const std::vector<Piece>& pieces,
                               const Eigen::MatrixXd& candidate) {
  const Eigen::MatrixXd nothing(candidate.rows(), 0);
  numerics::Replicates sum(piece_replicates, 0.0);
  for (const Piece& piece : pieces) {
    int fixed = 0;
    for (const auto& gradients : piece.gradients) {
      fixed = std::max(
          fixed, rank_along(link, gradients, candidate) - rank_along(link, gradients, nothing));
    }
    for (std::size_t r = 0; r < piece_replicates; ++r) sum[r] += fixed * piece.mass[r];
  }
  return sum;
}

}  // namespace

Eigen::MatrixXd relevant_directions(const TypedLink& link) {
  const Eigen::MatrixXd square = squared_slopes(link) + squared_jumps(link);
  if (!(square.trace() > 0.0)) {
    throw Refused(fmt::format(
        "the link was seen to change with no field within {} standard deviations", probe_reach));
  }
  return range_above(square, no_slope * square.trace());
}

Eigen::MatrixXd symmetric_directions(const TypedLink& link, const Eigen::MatrixXd& known) {
  const auto size = static_cast<Eigen::Index>(link.directions());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  double count = 0.0;
  for (const Eigen::MatrixXd& map : signed_symmetries(link, LabelUnder::same)) {
    if ((map * known - known).norm() > 1e-9) continue;
    sum += map;
    count += 1.0;
  }
  // The average over a group of rotations is the projector on what it leaves alone.
  const Eigen::MatrixXd average = sum / count;
  return range_above(0.5 * (average + average.transpose()), 0.5);
}

std::vector<ExactRecovery> exact_recovery(const TypedLink& link, const Eigen::MatrixXd& relevant,
                                          std::uint64_t seed, const Context& context) {
  const std::vector<Piece> pieces = pieces_of(link, seed, context);
  const std::vector<Eigen::MatrixXd> all =
      candidates(null_spaces(pieces, relevant), relevant, link.outputs() > 1);
  // What is not recovered minimises alpha kappa_N - |N|: at 0 everything, and less as alpha grows.
  Eigen::MatrixXd open = relevant;
  std::vector<ExactRecovery> out;
  while (open.cols() > 0) {
    const numerics::Replicates kappa = equations(link, pieces, open);
    const auto size = static_cast<double>(open.cols());
    // The first alpha at which a smaller candidate, or none, does better.
    Estimate first{std::numeric_limits<double>::infinity(), 0.0};
    Eigen::MatrixXd next = open;
    struct Offer {
      Eigen::MatrixXd smaller;
      double alpha, apart;
    };
    std::vector<Offer> offers;
    const auto offer = [&](const Eigen::MatrixXd& smaller, const numerics::Replicates& other) {
      const double less = size - static_cast<double>(smaller.cols());
      numerics::Replicates differences;
      for (std::size_t r = 0; r < kappa.size(); ++r) differences.push_back(kappa[r] - other[r]);
      const Estimate gained = numerics::reduce(differences);
      if (!(gained.value > 1e-9)) return;
      // A replicate may miss the one small piece that tells, so that only their mean has an
      // inverse.
      const double alpha = less / gained.value;
      const double error = alpha * gained.error / gained.value;
      // At an alpha that errors do not tell apart the smallest one: exact recovery then holds right
      // above it.
      const double apart = equal_errors * error + 1e-12;
      offers.push_back({smaller, alpha, apart});
      if (alpha > first.value + apart ||
          (alpha > first.value - apart && smaller.cols() >= next.cols())) {
        return;
      }
      first = {alpha, error};
      next = smaller;
    };
    offer(Eigen::MatrixXd(open.rows(), 0), numerics::Replicates(piece_replicates, 0.0));
    for (const Eigen::MatrixXd& candidate : all) {
      if (candidate.cols() < open.cols() &&
          intersection(candidate, open).cols() == candidate.cols()) {
        offer(candidate, equations(link, pieces, candidate));
      }
    }
    if (!std::isfinite(first.value)) break;
    out.push_back({without(open, next), first, {}});
    for (const Offer& one : offers) {
      const bool is_equal = std::abs(one.alpha - first.value) <= one.apart;
      const bool is_part =
          one.smaller.cols() > next.cols() && intersection(one.smaller, next).cols() == next.cols();
      if (is_equal && is_part) out.back().parts.push_back(without(open, one.smaller));
    }
    open = next;
  }
  return out;
}

Eigen::MatrixXd exact_part(const std::vector<ExactRecovery>& steps,
                           const Eigen::MatrixXd& directions,
                           const std::function<bool(const Eigen::MatrixXd&)>& is_exact) {
  if (is_exact(directions)) return directions;
  Eigen::MatrixXd out(directions.rows(), 0);
  const auto offer = [&](const Eigen::MatrixXd& some) {
    const Eigen::MatrixXd own = intersection(some, directions);
    if (own.cols() > 0 && is_exact(own)) out = sum_of(out, own);
  };
  for (const ExactRecovery& step : steps) {
    offer(step.directions);
    for (const Eigen::MatrixXd& part : step.parts) offer(part);
  }
  return out.cols() > 0 ? out : directions;
}

}  // namespace onset::smi
