#include "answer.hpp"

#include <pybind11/stl.h>

#include <cmath>

#include "numerics/simd/vector_math.hpp"
#include "onset/io/run_folder.hpp"
#include "report/drawing_failed.hpp"
#include "report/figure/default_drawing.hpp"
#include "report/gnuplot/gnuplot.hpp"

namespace onset::python {
namespace {

std::optional<report::Drawing> draft(const Answer& answer) {
  return report::default_drawing("figure",
                                 {&answer.record.result.table, answer.primary, answer.axes});
}

/// Widens the error of an estimate by its distance from another one. Returns whether the two speak
/// of the same: the same word, or both a number.
bool widen_cell(const Cell& other, Cell& cell) {
  if (other.index() != cell.index()) return false;
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return *text == std::get<std::string>(other);
  }
  if (auto* estimate = std::get_if<Estimate>(&cell)) {
    const double difference = estimate->value - std::get<Estimate>(other).value;
    estimate->error = std::hypot(estimate->error, difference);
  }
  return true;
}

}  // namespace

py::dict Answer::content() const {
  const Result& result = record.result;
  py::dict out = to_python(result.table);
  py::dict summary;
  for (const auto& [name, cell] : result.summary) summary[py::cast(name)] = to_python(cell);
  py::dict artifacts;
  for (const Artifact& artifact : result.artifacts) {
    artifacts[py::cast(artifact.path)] = to_python(artifact);
  }
  out["command"] = record.command;
  out["parameters"] = to_python(record.parameters);
  out["summary"] = summary;
  out["status"] = std::string(to_string(result.status));
  out["reason"] = result.reason;
  out["notes"] = result.notes;
  out["artifacts"] = artifacts;
  out["seconds"] = record.seconds;
  return out;
}

std::string Answer::text(std::size_t width, std::size_t max_rows) const {
  io::TableLayout layout;
  layout.width = width;
  layout.max_rows = max_rows;
  layout.how_to_see_columns = "to_pandas() has all, [name] one of them";
  layout.how_to_see_rows = "to_pandas() has all";
  return io::to_table(record.result, layout);
}

py::object Answer::drawing() const {
  const auto drawing = draft(*this);
  return drawing ? py::object(to_python(*drawing)) : py::none();
}

void Answer::save_files(const std::string& folder) const {
  const py::gil_scoped_release release;
  io::write_run_folder(folder, record, {numerics::simd::level(), threads});
}

std::string Answer::save(const std::string& folder) const {
  save_files(folder);
  const py::gil_scoped_release release;
  // As with the command, half a curve is not drawn: it looks like a whole one.
  if (record.result.status == ResultStatus::interrupted) return {};
  try {
    if (const auto drawing = draft(*this)) report::draw_run(*drawing, folder, {});
  } catch (const report::DrawingFailed& error) {
    return error.what();
  }
  return {};
}

void Answer::widen(const Answer& coarse) {
  Result& result = record.result;
  const Table& other = coarse.record.result.table;
  Table wider(result.table.columns());
  bool alike = result.table.rows().size() == other.rows().size();
  for (std::size_t r = 0; alike && r < other.rows().size(); ++r) {
    std::vector<Cell> row = result.table.rows()[r];
    for (std::size_t c = 0; c < row.size(); ++c)
      alike = widen_cell(other.rows()[r][c], row[c]) && alike;
    wider.add_row(std::move(row));
  }
  if (alike) {
    result.table = std::move(wider);
  } else {
    result.unconverged(
        "twice as many `nodes` give other rows: they do not resolve the likelihood of the link");
  }
}

void add_answer(py::module_& module) {
  py::class_<Answer>(module, "Answer")
      .def("content", &Answer::content)
      .def("text", &Answer::text)
      .def("drawing", &Answer::drawing)
      .def("save_files", &Answer::save_files)
      .def("save", &Answer::save)
      .def("widen", &Answer::widen);
}

}  // namespace onset::python
