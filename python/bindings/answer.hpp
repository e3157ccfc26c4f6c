#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "onset/io/format.hpp"
#include "report/figure/drawing.hpp"
#include "values.hpp"

namespace onset::python {

/// A table with all that belongs to it: the result of a verb, or the rows of a study.
struct Answer {
  io::RunRecord record;
  std::string primary;            ///< the column that matters most; a picture shows it first
  std::vector<std::string> axes;  ///< what varies between rows, of a study
  int threads = 1;

  /// Columns and rows, and for a run parameters, summary, status, notes and artifacts.
  [[nodiscard]] py::dict content() const;
  /// As the command prints it to a terminal of that width.
  [[nodiscard]] std::string text(std::size_t width, std::size_t max_rows) const;
  /// What `--out` would draw; nothing where there is nothing to be drawn against.
  [[nodiscard]] py::object drawing() const;
  /// Writes the files that `--out` would, without the figure.
  void save_files(const std::string& folder) const;
  /// Writes them and the figure. Returns why there is no figure, or an empty text.
  [[nodiscard]] std::string save(const std::string& folder) const;
  /// Adds to every error the difference from the same answer by a coarser rule. Where the two do
  /// not even have the same rows, the result has not converged.
  void widen(const Answer& coarse);
};

/// Curves, areas and lines as numbers, and how they look.
[[nodiscard]] py::dict to_python(const report::Drawing& drawing);

/// Adds the class to the module.
void add_answer(py::module_& module);

}  // namespace onset::python
