#include "explore/gallery.hpp"

#include <fmt/format.h>

#include "report/figure.hpp"

namespace onset::explore {
namespace {

std::string axis_text(const study::Axis& axis) {
  std::vector<std::string> values;
  for (const Value& value : axis.values) values.push_back(to_text(value));
  return fmt::format("{}", fmt::join(values, ","));
}

Json run_json(const report::FigureRun& run) {
  const study::Study& study = run.quick;
  Json given = Json::object();
  for (const auto& [name, value] : study.fixed) given[name] = to_text(value);
  Json axes = Json::object();
  for (const study::Axis& axis : study.axes) axes[axis.parameter] = axis_text(axis);
  if (!study.seeds.empty()) axes["seed"] = fmt::format("{}", fmt::join(study.seeds, ","));
  Json tied = Json::object();
  for (const study::Tie& tie : study.tied) tied[tie.parameter] = tie.expression;
  return {
      {"id", run.id}, {"command", study.command}, {"given", given}, {"axes", axes}, {"tied", tied}};
}

}  // namespace

Json gallery_json(const std::vector<std::filesystem::path>& folders) {
  Json figures = Json::array();
  for (const std::filesystem::path& file : report::list_figures(folders)) {
    report::FigureSpec spec = report::read_figure(file);
    report::drop_published(spec);
    Json runs = Json::array();
    for (const report::FigureRun& run : spec.runs) runs.push_back(run_json(run));
    figures.push_back({{"id", spec.id},
                       {"title", spec.title},
                       {"caption", spec.caption},
                       {"shell", "onset figure " + spec.id},
                       {"runs", std::move(runs)}});
  }
  return figures;
}

}  // namespace onset::explore
