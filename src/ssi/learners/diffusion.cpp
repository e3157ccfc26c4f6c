#include "ssi/learners/diffusion.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"
#include "ssi/learners/chain/chain.hpp"

namespace onset::ssi {
namespace {

/// The number of cells per unit of an overlap in the table of the field; the error of bilinear
/// interpolation is then 1e-5.
constexpr std::size_t half_cells = 96;
constexpr std::size_t side = 2 * half_cells + 1;

/// Drift and the Cholesky factor of Sigma on a square grid; outside the disk they continue
/// radially.
class FieldTable {
 public:
  FieldTable(const FlowField& field, const Context& context)
      : positional_(field.positional()), cells_(positional_ ? side * side : side) {
    numerics::parallel_for(context, positional_ ? side : 1, [&](std::size_t i) {
      for (std::size_t j = 0; j < side; ++j) {
        double e = positional_ ? coordinate(i) : 0.0;
        double m = coordinate(j);
        const double radius = std::hypot(e, m);
        if (radius > 1.0) {
          e /= radius;
          m /= radius;
        }
        cells_[i * side + j] = factor(field.at(e, m));
      }
    });
  }

  /// drift_m, drift_e, and the factor: noise in m is l_mm x, in e l_em x + l_ee y.
  struct Cell {
    double drift_m, drift_e, l_mm, l_em, l_ee;
  };

  [[nodiscard]] Cell at(double e, double m) const {
    const auto [j, v] = locate(m);
    if (!positional_) return blend(cells_[j], cells_[j + 1], v);
    const auto [i, u] = locate(e);
    const Cell low = blend(cells_[i * side + j], cells_[i * side + j + 1], v);
    const Cell high = blend(cells_[(i + 1) * side + j], cells_[(i + 1) * side + j + 1], v);
    return blend(low, high, u);
  }

 private:
  static double coordinate(std::size_t i) {
    return (static_cast<double>(i) - static_cast<double>(half_cells)) /
           static_cast<double>(half_cells);
  }

  static std::pair<std::size_t, double> locate(double x) {
    const double place = std::clamp((x + 1.0) * static_cast<double>(half_cells), 0.0,
                                    static_cast<double>(side - 1) - 1e-9);
    const auto cell = static_cast<std::size_t>(place);
    return {cell, place - static_cast<double>(cell)};
  }

  static Cell factor(const Motion& x) {
    const double l_mm = std::sqrt(x.noise_mm);
    const double l_em = l_mm > 0.0 ? x.noise_em / l_mm : 0.0;
    return {x.drift_m, x.drift_e, l_mm, l_em, std::sqrt(std::max(0.0, x.noise_ee - l_em * l_em))};
  }

  static Cell blend(const Cell& a, const Cell& b, double t) {
    return {a.drift_m + t * (b.drift_m - a.drift_m), a.drift_e + t * (b.drift_e - a.drift_e),
            a.l_mm + t * (b.l_mm - a.l_mm), a.l_em + t * (b.l_em - a.l_em),
            a.l_ee + t * (b.l_ee - a.l_ee)};
  }

  bool positional_;
  std::vector<Cell> cells_;
};

class Runner {
 public:
  Runner(const FieldTable& table, const SgdOptions& options, const DiffusionOptions& diffusion,
         bool positional)
      : table_(table), options_(options), diffusion_(diffusion), positional_(positional) {}

  /// Runs one block and records states[t * lanes + p] at the given times.
  void run(std::size_t block, std::span<SgdRun> runs, std::vector<double>& e_at,
           std::vector<double>& m_at, const Context& context) const {
    std::vector<double> e(lanes, 0.0);
    std::vector<double> m(
        lanes, options_.start == Start::overlapped ? 1.0 / std::sqrt(options_.dim) : 0.0);
    if (options_.start == Start::random) {
      std::vector<double> c;
      sphere_coordinates(options_.dim, positional_ ? 2 : 1, options_.seed, block, c);
      std::copy_n(c.begin(), lanes, m.begin());
      if (positional_) std::copy_n(c.begin() + lanes, lanes, e.begin());
    }
    const double total = static_cast<double>(options_.steps) * options_.rate / options_.dim;
    const auto steps = static_cast<std::uint64_t>(std::max(1.0, std::ceil(total / diffusion_.dt)));
    const double dt = total / static_cast<double>(steps);
    const double noise = std::sqrt(options_.rate / options_.dim * dt);
    numerics::Stream stream(options_.seed, "ssi diffusion", block);
    std::vector<double> draws(2 * lanes);
    std::size_t asked = 0;
    const auto record = [&](double time) {
      while (asked < diffusion_.times.size() && diffusion_.times[asked] <= time + 1e-9 * total) {
        e_at.insert(e_at.end(), e.begin(), e.end());
        m_at.insert(m_at.end(), m.begin(), m.end());
        ++asked;
      }
    };
    record(0.0);
    for (std::uint64_t step = 1; step <= steps; ++step) {
      if (step % 64 == 0) context.check();
      stream.normal(std::span<double>(draws));
      for (std::size_t p = 0; p < runs.size(); ++p) {
        move(dt, noise, draws[p], draws[lanes + p], e[p], m[p]);
        if (runs[p].first_passage == 0 &&
            std::max(std::abs(e[p]), std::abs(m[p])) >= options_.level) {
          const double time = static_cast<double>(step) * dt;
          runs[p].first_passage =
              static_cast<std::uint64_t>(std::llround(time * options_.dim / options_.rate));
        }
      }
      record(static_cast<double>(step) * dt);
    }
    record(2.0 * total);
    for (std::size_t p = 0; p < runs.size(); ++p) {
      runs[p].e = e[p];
      runs[p].m = m[p];
    }
  }

 private:
  /// Heun's method in the drift with the noise of the left end: the correction of a noise that
  /// varies is of the order of eta/d.
  void move(double dt, double noise, double x, double y, double& e, double& m) const {
    const FieldTable::Cell here = table_.at(e, m);
    const double dm = noise * here.l_mm * x;
    const double de = positional_ ? noise * (here.l_em * x + here.l_ee * y) : 0.0;
    const FieldTable::Cell there =
        table_.at(e + dt * here.drift_e + de, m + dt * here.drift_m + dm);
    e += 0.5 * dt * (here.drift_e + there.drift_e) + de;
    m += 0.5 * dt * (here.drift_m + there.drift_m) + dm;
    const double radius = std::hypot(e, m);
    if (radius > 1.0) {
      e /= radius;
      m /= radius;
    }
  }

  const FieldTable& table_;
  const SgdOptions& options_;
  const DiffusionOptions& diffusion_;
  bool positional_;
};

}  // namespace

DiffusionResult run_diffusion(const FlowField& field, const SgdOptions& options,
                              const DiffusionOptions& diffusion, const Context& context) {
  const FieldTable table(field, context);
  const Runner runner(table, options, diffusion, field.positional());
  DiffusionResult result;
  result.runs.resize(options.runs);
  const std::size_t blocks = (options.runs + lanes - 1) / lanes;
  std::vector<std::vector<double>> e(blocks);
  std::vector<std::vector<double>> m(blocks);
  numerics::parallel_for(context, blocks, [&](std::size_t b) {
    const std::size_t count = std::min(lanes, options.runs - b * lanes);
    runner.run(b, std::span(result.runs).subspan(b * lanes, count), e[b], m[b], context);
  });
  for (std::size_t t = 0; t < diffusion.times.size(); ++t) {
    std::vector<double> sizes_e;
    std::vector<double> sizes_m;
    for (std::size_t r = 0; r < options.runs; ++r) {
      const std::size_t at = t * lanes + r % lanes;
      sizes_e.push_back(std::abs(e[r / lanes][at]));
      sizes_m.push_back(std::abs(m[r / lanes][at]));
    }
    result.rows.push_back(
        {diffusion.times[t], numerics::mean_over_runs(sizes_e), numerics::mean_over_runs(sizes_m)});
  }
  return result;
}

double diffusion_seconds(const SequenceModel& model, const SgdOptions& options) {
  // These are the measured seconds of a cell of the table, and of a step of one run.
  constexpr double cell = 4e-6;
  constexpr double step = 6e-8;
  const double time = static_cast<double>(options.steps) * options.rate / options.dim;
  const auto cells = static_cast<double>(model.positional ? side * side : side);
  return cell * cells + step * static_cast<double>(options.runs) * time / DiffusionOptions{}.dt;
}

}  // namespace onset::ssi
