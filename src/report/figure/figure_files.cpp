#include <fmt/format.h>

#include "io/json_record.hpp"
#include "onset/io/format.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/version.hpp"
#include "report/figure.hpp"
#include "report/gnuplot/gnuplot.hpp"

namespace onset::report {
namespace {

using io::Json;

/// The version of the contract of a figure's manifest; it is raised when readers would have to
/// change.
constexpr int schema = 1;

Json call_json(const Parameters& call) {
  Json out = Json::object();
  for (const auto& [name, value] : call.values()) out[name] = io::detail::value_json(value);
  return out;
}

Json run_json(const FigureRun& spec, const RunData& data) {
  Json out = Json::object();
  out["id"] = data.id;
  out["command"] = spec.study.command;
  out["file"] = data.id + ".csv";
  out["point_count"] = data.calls.size();
  out["row_count"] = data.table.rows().size();
  out["calls"] = Json::array();
  for (const Parameters& call : data.calls) out["calls"].push_back(call_json(call));
  out["status"] = std::string(to_string(data.status));
  if (!data.reason.empty()) out["reason"] = data.reason;
  out["seconds"] = data.seconds;
  return out;
}

std::string manifest(const FigureSpec& spec, const FigureData& data, const DrawOptions& options,
                     const FigureFiles& files) {
  Json out = Json::object();
  out["schema"] = schema;
  out["onset"] = std::string(version());
  out["command"] = "figure " + spec.id;
  out["title"] = spec.title;
  out["caption"] = spec.caption;
  out["store"] = store_name(spec);
  out["quick"] = options.computed.quick;
  out["full"] = options.computed.full;
  out["seed"] = options.computed.seed;
  out["simd"] = options.simd;
  out["status"] = std::string(to_string(data.status()));
  if (!data.reason().empty()) out["reason"] = data.reason();
  out["runs"] = Json::array();
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    out["runs"].push_back(run_json(spec.runs[i], data.runs[i]));
  }
  out["pictures"] = Json::array();
  for (const auto& picture : files.pictures) {
    out["pictures"].push_back(picture.filename().string());
  }
  if (!files.notes.empty()) out["notes"] = files.notes;
  return io::detail::dump(out);
}

void write_data(const FigureData& data, const std::filesystem::path& folder, FigureFiles& files) {
  for (const RunData& run : data.runs) {
    files.data.push_back(folder / (run.id + ".csv"));
    io::write_file_atomically(files.data.back(), io::to_csv(run.table));
  }
}

}  // namespace

std::string store_name(const FigureSpec& spec) {
  return spec.id + ".db";
}

void prepare_figure_folder(const FigureSpec& spec, const std::filesystem::path& folder) {
  // The store is written in its place, so that a link would lead the points into another one.
  std::vector<std::string> files{store_name(spec)};
  for (const FigureRun& run : spec.runs) files.push_back(run.id + ".csv");
  for (const char* drawn : {"gp", "svg", "pdf", "png"}) {
    files.push_back(fmt::format("{}.{}", spec.id, drawn));
  }
  io::prepare_folder(folder, files);
}

FigureFiles write_figure(const FigureSpec& spec, const FigureData& data,
                         const DrawOptions& options) {
  prepare_figure_folder(spec, options.folder);
  io::withdraw_manifest(options.folder);
  FigureFiles files;
  write_data(data, options.folder, files);
  // An interrupted figure is not drawn, since half a figure looks like a whole one.
  if (data.status() != ResultStatus::interrupted) {
    const Drawing drawing = make_drawing(spec, data, options.overlay);
    files.notes = drawing.notes;
    files.pictures = draw_pictures(drawing, options.folder, options.stop);
  }
  // The manifest is written last, so that a folder which has one is complete.
  io::write_file_atomically(options.folder / "manifest.json", manifest(spec, data, options, files));
  return files;
}

}  // namespace onset::report
