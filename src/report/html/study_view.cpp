#include "report/html/study_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"
#include "report/html/check_stop.hpp"

namespace onset::report::html {

std::optional<study::Study> read_definition(const std::string& source, const std::string& name) {
  try {
    return study::parse_study(source, name + ".toml");
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

void Circumstances::see(const study::PointRecord& record) {
  versions.insert(record.version);
  simd.insert(record.simd);
  hosts.insert(record.host);
  methods.insert(fmt::format("{}", record.method));
  threads.insert(record.threads);
  if (record.parameters.has("seed")) seeds.insert(record.parameters.integer("seed"));
  if (first_finished.empty() || record.finished < first_finished) first_finished = record.finished;
  last_finished = std::max(last_finished, record.finished);
  seconds += record.seconds;
}

namespace {

/// Which points of a grid are drawn: where they are too many, those of every few values of an axis,
/// so that what is left is a grid again.
class Thinning {
 public:
  Thinning(const study::StudyRecord& study, std::size_t most_points, const std::stop_token& stop)
      : axes_(study.axes.size()), places_(study.axes.size()) {
    for (const auto& point : study.points) {
      check_stop(stop);
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const std::string value = to_text(point.axis_values[a]);
        places_[a].push_back(static_cast<std::uint32_t>(
            axes_[a].values.emplace(value, axes_[a].values.size()).first->second));
      }
    }
    double left = static_cast<double>(study.points.size());
    while (left > static_cast<double>(most_points)) {
      Axis* longest = nullptr;
      for (Axis& axis : axes_) {
        if (longest == nullptr || axis.kept() > longest->kept()) longest = &axis;
      }
      if (longest == nullptr || longest->kept() < 4) return;
      const auto before = static_cast<double>(longest->kept());
      longest->stride *= 2;
      left *= static_cast<double>(longest->kept()) / before;
    }
  }

  [[nodiscard]] bool keeps(std::size_t place) const {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (places_[a][place] % axes_[a].stride != 0) return false;
    }
    return true;
  }

  /// What is drawn, in words; empty if all is.
  [[nodiscard]] std::string text(const std::vector<std::string>& names) const {
    std::vector<std::string> parts;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (axes_[a].stride == 1) continue;
      parts.push_back(
          fmt::format("{} of {} values of {}", axes_[a].kept(), axes_[a].values.size(), names[a]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  struct Axis {
    std::map<std::string, std::size_t> values;
    std::size_t stride = 1;
    [[nodiscard]] std::size_t kept() const { return (values.size() + stride - 1) / stride; }
  };
  std::vector<Axis> axes_;
  std::vector<std::vector<std::uint32_t>> places_;  ///< of a point's value on every axis
};

/// The most rows that a figure is drawn from; more are no more to be seen.
constexpr std::size_t max_drawn_rows = 20'000;

/// The most points that have about this many rows, if all have as many as their mean.
std::size_t points_of_rows(const study::StudyRows& rows, std::size_t points) {
  if (rows.count() <= max_drawn_rows) return points;
  return std::max<std::size_t>(1, points * max_drawn_rows / rows.count());
}

void add_summary_names(const study::PointRecord& record, std::vector<std::string>& names) {
  for (const auto& [name, cell] : record.summary) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

}  // namespace

StudyView view_of(const study::StudyRecord& study, const study::Store& store,
                  std::span<const Verb> verbs, std::size_t most, const std::stop_token& stop) {
  StudyView view;
  view.study = study;
  for (const Verb& verb : verbs) {
    if (verb.full_name() == study.command) view.verb = &verb;
  }
  view.definition = read_definition(study.source, study.name);
  const study::StudyRows rows(study, store, false, stop);
  view.table = Table(rows.columns());
  view.drawn = Table(rows.columns());
  view.all_rows = rows.count();
  const Thinning thinning(study, points_of_rows(rows, study.points.size()), stop);
  view.thinned = thinning.text(study.axes);
  std::map<std::string_view, std::size_t> by_word;
  rows.each_point([&](std::size_t place, const study::PointRecord* record, auto& cells) {
    check_stop(stop);
    ++by_word[record ? to_string(record->status) : std::string_view("missing")];
    if (view.points.size() < most) {
      view.points.push_back({place, record ? std::optional(*record) : std::nullopt});
    }
    if (!record) return;
    view.circumstances.see(*record);
    add_summary_names(*record, view.summary_names);
    if (record->status != study::PointStatus::ok) {
      ++view.all_problems;
      if (view.problems.size() < most) view.problems.push_back({place, *record});
    }
    for (auto& row : cells) {
      if (view.table.rows().size() < most) view.table.add_row(row);
      if (thinning.keeps(place)) view.drawn.add_row(std::move(row));
    }
  });
  check_stop(stop);
  for (const std::string_view word : {"ok", "unconverged", "refused", "failed", "missing"}) {
    if (by_word.contains(word)) view.counts.push_back({std::string(word), by_word[word]});
  }
  return view;
}

}  // namespace onset::report::html
