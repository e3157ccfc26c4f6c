#include "smi/verbs/passage_table.hpp"

#include <cmath>
#include <limits>

#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

/// A fraction of runs, with the standard error of (k + 1/2) / (n + 1): not 0 for k = 0.
Estimate fraction(std::int64_t k, std::size_t runs) {
  const auto n = static_cast<double>(runs);
  const double share = (static_cast<double>(k) + 0.5) / (n + 1.0);
  return {static_cast<double>(k) / n, std::sqrt(share * (1.0 - share) / n)};
}

std::vector<Column> passage_columns() {
  return {{"layer", "number of the layer", "", false},
          {"time", "when it first reached the level, mean over the runs that did", "", true},
          {"reached", "fraction of runs that reached it", "", true},
          {"first", "fraction of runs in which it was before all others", "", true}};
}

/// When a layer's cosine first reaches the level, between records; infinity when it does not.
double first_passage(const std::vector<SgdRecord>& records, std::size_t layer, double level) {
  for (std::size_t k = 0; k < records.size(); ++k) {
    const double after = records[k].cosine[layer];
    if (after < level) continue;
    if (k == 0) return records[0].time;
    const double before = records[k - 1].cosine[layer];
    const double share = (level - before) / (after - before);
    return records[k - 1].time + share * (records[k].time - records[k - 1].time);
  }
  return std::numeric_limits<double>::infinity();
}

/// When a layer's cosine, moved by `errors` standard errors, first reaches the level; infinity when
/// it does not. `bend` becomes what linear interpolation may miss.
double crossing(const SgdFlow& flow, std::size_t layer, double level, double errors, double& bend) {
  const auto& points = flow.points;
  const auto cosine = [&](std::size_t k) {
    return points[k].cosine[layer].value + errors * points[k].cosine[layer].error;
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (cosine(k) < level) continue;
    if (k == 0) return points[0].time;
    const double rise = cosine(k) - cosine(k - 1);
    const double spacing = points[k].time - points[k - 1].time;
    const std::size_t other = k + 1 < points.size() ? k + 1 : k - 1;
    bend = spacing * std::abs(cosine(other) - 2.0 * cosine(k) + cosine(k - 1)) / (8.0 * rise);
    return points[k - 1].time + spacing * (level - cosine(k - 1)) / rise;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

Passages::Passages(const std::vector<SgdRun>& runs, std::size_t layers, double level)
    : layers_(layers), runs_(runs.size()) {
  for (const SgdRun& run : runs) {
    // A passage lies anywhere between two records; cosines fluctuate around the line between them.
    if (run.records.size() > 1) {
      resolution_ = (run.records[1].time - run.records[0].time) / std::sqrt(12.0);
    }
    std::vector<double> time;
    for (std::size_t l = 0; l < layers; ++l) time.push_back(first_passage(run.records, l, level));
    for (std::size_t l = 0; l < layers; ++l) {
      if (!std::isfinite(time[l])) continue;
      layers_[l].times.push_back(time[l]);
      bool first = true;
      for (std::size_t k = 0; k < layers; ++k) first = first && (k == l || time[l] < time[k]);
      layers_[l].first += first ? 1 : 0;
    }
  }
}

Table Passages::table() const {
  Table table(passage_columns());
  for (std::size_t l = 0; l < layers_.size() && runs_ > 0; ++l) {
    const auto& times = layers_[l].times;
    Cell time;
    if (times.size() == 1) time = Estimate{times[0], std::numeric_limits<double>::quiet_NaN()};
    if (times.size() > 1) time = numerics::reduce(times, resolution_);
    table.add_row({static_cast<std::int64_t>(l + 1), time,
                   fraction(static_cast<std::int64_t>(times.size()), runs_),
                   fraction(layers_[l].first, runs_)});
  }
  return table;
}

std::vector<std::pair<std::string, Cell>> Passages::summary() const {
  if (runs_ == 0) return {};
  std::size_t best = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (layers_[l].first > layers_[best].first) best = l;
  }
  if (layers_[best].first == 0) return {{"learned_first", Cell()}};
  return {{"learned_first", static_cast<std::int64_t>(best + 1)},
          {"first_fraction", fraction(layers_[best].first, runs_)}};
}

Table flow_passages(const SgdFlow& flow, std::size_t layers, double level) {
  std::vector<double> times;
  std::vector<Cell> cells;
  for (std::size_t l = 0; l < layers; ++l) {
    double bend = 0.0;
    const double early = crossing(flow, l, level, 1.0, bend);
    const double late = crossing(flow, l, level, -1.0, bend);
    times.push_back(crossing(flow, l, level, 0.0, bend));
    const double error = std::isfinite(late) ? 0.5 * (late - early) : times[l] - early;
    cells.emplace_back();
    if (std::isfinite(times[l])) cells.back() = Estimate{times[l], std::hypot(error, bend)};
  }
  Table table(passage_columns());
  for (std::size_t l = 0; l < layers; ++l) {
    bool first = std::isfinite(times[l]);
    for (std::size_t k = 0; k < layers; ++k) first = first && (k == l || times[l] < times[k]);
    table.add_row({static_cast<std::int64_t>(l + 1), cells[l],
                   Estimate{std::isfinite(times[l]) ? 1.0 : 0.0, 0.0},
                   Estimate{first ? 1.0 : 0.0, 0.0}});
  }
  return table;
}

}  // namespace onset::smi
