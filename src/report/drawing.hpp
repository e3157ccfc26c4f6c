#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "onset/report/figure_data.hpp"
#include "onset/report/figure_spec.hpp"

namespace onset::report {

struct Point {
  double x = 0.0;
  double y = 0.0;
  double error = 0.0;
};

/// Points ready to be drawn.
struct Curve {
  std::vector<Point> points;
  Look look;
  bool hollow = false;  ///< somebody else's numbers
};

struct GuideLine {
  double x = 0.0;
  std::string label;
};

struct DrawnPanel {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::string key;
  std::vector<Curve> curves;
  std::vector<GuideLine> guides;
};

/// A figure with nothing left to look up: only numbers and looks.
struct Drawing {
  std::string id;
  std::vector<DrawnPanel> panels;
  std::vector<std::string> notes;  ///< overlay files that are not there
};

/// Picks the numbers of every series, guide and overlay. `overlay_folder` may be empty: no
/// overlays.
[[nodiscard]] Drawing make_drawing(const FigureSpec& spec, const FigureData& data,
                                   const std::filesystem::path& overlay_folder);

}  // namespace onset::report
