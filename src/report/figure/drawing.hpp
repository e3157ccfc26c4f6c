#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/figure_data.hpp"
#include "report/figure_spec.hpp"

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

/// A thin dotted line across the panel with a word at its end.
struct GuideLine {
  bool horizontal = false;
  double at = 0.0;
  std::string label;
};

/// A value for every pair of the coordinates, which need not be evenly spaced.
struct Shades {
  std::vector<double> x;  ///< ascending
  std::vector<double> y;  ///< ascending
  /// z(x[i], y[j]) at i * y.size() + j, NaN where there is none; with words, the index of the word.
  std::vector<double> z;
  std::vector<std::string> words;  ///< empty if z is a number
  std::string label;
  std::optional<double> min;
  std::optional<double> max;
  bool log = false;
  std::vector<double> contours;
  int contour_count = 0;
};

struct DrawnPanel {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::string key = "below";
  std::optional<Shades> shades;
  std::vector<Curve> curves;
  std::vector<GuideLine> guides;
};

/// A figure with nothing left to look up: only numbers and looks.
struct Drawing {
  std::string id;
  std::vector<DrawnPanel> panels;
  std::vector<std::string> notes;  ///< what is not drawn, and why
};

/// Picks the numbers of every series, map, guide and overlay. `overlay_folder` may be empty, which
/// means no overlays. Throws InvalidArgument with the place in the figure file, and IoError.
[[nodiscard]] Drawing make_drawing(const FigureSpec& spec, const FigureData& data,
                                   const std::filesystem::path& overlay_folder);

}  // namespace onset::report
