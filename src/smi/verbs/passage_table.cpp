#include "smi/verbs/passage_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

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

Columns<PassageRow> passage_columns() {
  return Columns<PassageRow>()
      .add("layer", &PassageRow::layer, "number of the layer")
      .add("time", &PassageRow::time,
           "when it first reached the level, mean over the runs that did")
      .add("reached", &PassageRow::reached, "fraction of runs that reached it")
      .add("first", &PassageRow::first, "fraction of runs in which it was before all others");
}

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

std::vector<PassageRow> Passages::rows() const {
  std::vector<PassageRow> rows;
  const auto runs = static_cast<std::int64_t>(runs_);
  for (std::size_t l = 0; l < layers_.size() && runs > 0; ++l) {
    const auto& times = layers_[l].times;
    rows.push_back(
        {.layer = l + 1,
         .reached = numerics::binomial_fraction(static_cast<std::int64_t>(times.size()), runs),
         .first = numerics::binomial_fraction(layers_[l].first, runs)});
    if (times.empty()) continue;
    const Estimate mean = numerics::mean_over_runs(times);
    rows.back().time = {mean.value, std::hypot(mean.error, resolution_)};
  }
  return rows;
}

std::vector<std::pair<std::string, Cell>> Passages::summary() const {
  if (runs_ == 0) return {};
  std::size_t best = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (layers_[l].first > layers_[best].first) best = l;
  }
  if (layers_[best].first == 0) return {{"learned_first", Cell()}};
  return {{"learned_first", static_cast<std::int64_t>(best + 1)},
          {"first_fraction",
           numerics::binomial_fraction(layers_[best].first, static_cast<std::int64_t>(runs_))}};
}

bool Passages::differ() const {
  return std::any_of(layers_.begin(), layers_.end(), [this](const Layer& layer) {
    return !layer.times.empty() && layer.times.size() < runs_;
  });
}

std::vector<PassageRow> flow_passages(const SgdFlow& flow, std::size_t layers, double level) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<PassageRow> rows;
  std::vector<double> early, late;
  for (std::size_t l = 0; l < layers; ++l) {
    double bend = 0.0;
    early.push_back(crossing(flow, l, level, 1.0, bend));
    late.push_back(crossing(flow, l, level, -1.0, bend));
    const double time = crossing(flow, l, level, 0.0, bend);
    rows.push_back({.layer = l + 1});
    if (std::isfinite(time)) {
      const double error = std::isfinite(late[l]) ? 0.5 * (late[l] - early[l]) : time - early[l];
      rows[l].time = {time, std::hypot(error, bend)};
    }
    const bool open = std::isfinite(early[l]) && !std::isfinite(late[l]);
    rows[l].reached = {std::isfinite(time) ? 1.0 : 0.0, open ? unknown : 0.0};
  }
  for (std::size_t l = 0; l < layers; ++l) {
    bool first = rows[l].time.has_value();
    bool open = false;
    for (std::size_t k = 0; k < layers; ++k) {
      if (k == l) continue;
      const bool before = !rows[k].time || (first && rows[l].time->value < rows[k].time->value);
      first = first && before;
      open = open || (early[l] < late[k] && early[k] < late[l]);
    }
    rows[l].first = {first ? 1.0 : 0.0, open ? unknown : 0.0};
  }
  return rows;
}

}  // namespace onset::smi
