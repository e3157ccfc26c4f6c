#include "report/result_figure.hpp"

#include "report/figure/default_drawing.hpp"
#include "report/gnuplot/gnuplot.hpp"

namespace onset::report {

std::vector<std::string> draw_result(const Verb& verb, const Table& table,
                                     const std::filesystem::path& folder,
                                     const std::stop_token& stop) {
  const auto drawing = default_drawing("figure", {&table, verb.primary, {}});
  if (!drawing) return {};
  draw_run(*drawing, folder, stop);
  return drawing->notes;
}

}  // namespace onset::report
