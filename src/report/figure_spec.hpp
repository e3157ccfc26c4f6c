#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/io/place.hpp"
#include "onset/study/study.hpp"

/// Figures: what to compute and how to draw it, as read from figures/ID.toml.
namespace onset::report {

using io::Place;

/// A computation: a study. The rows of all its points are put in one table, the axes first.
struct FigureRun {
  std::string id;      ///< series refer to it; also the name of its study and of its data file
  study::Study study;  ///< what is computed
  study::Study quick;  ///< the same with --quick: some values, axes or the seeds replaced
  study::Study full;   ///< likewise with --full
  bool as_published = false;  ///< a variant for comparison, computed and drawn on request only
};

/// Rows whose columns have these values; an empty filter keeps all.
using Filter = std::map<std::string, Value>;

enum class LineStyle {
  line,    ///< a solid line with an error band
  dashed,  ///< a dashed line with an error band
  points,  ///< marks with error bars
  joined,  ///< marks with error bars, joined by a thin line
};
enum class Mark { circle, square, triangle, diamond };
/// Okabe and Ito's colours, which people with any kind of colour vision tell apart.
enum class Colour { black, blue, vermillion, green, purple, orange, sky, grey };

/// How something is drawn. Labels of all kinds may use gnuplot's markup: Q_{11}, 10^{-3}.
struct Look {
  std::string label;  ///< its text in the key; empty if it is not there
  LineStyle style = LineStyle::line;
  Mark mark = Mark::circle;
  Colour colour = Colour::black;
  /// A place between 0 and 1 on a scale of shades instead of the colour, where curves are many.
  std::optional<double> shade = {};
};

/// Column y against column x of a run; errors of y are drawn without being asked for.
struct Series {
  std::string run;
  std::string x;
  std::string y;
  Filter filter;
  /// One curve for each combination of values of these columns, in colours that cycle; the label is
  /// a template then: `{skip}` stands for the value of column `skip`.
  std::vector<std::string> group;
  Look look;
  Place place;
  std::string x_over{};  ///< a column that x is divided by; may be empty
  /// Whether the curves of a group look alike, as for repeated runs; the first one's label then
  /// stands for all.
  bool alike = false;
  double x_times = 1.0;  ///< a number that x is multiplied by
  /// Columns that number repeats, such as runs: rows that differ in nothing else are averaged.
  std::vector<std::string> average{};
};

/// Column z of a run over the grid of its columns x and y: shades of a number, or one colour for
/// each word.
struct Map {
  std::string run;
  std::string x;
  std::string y;
  std::string z;
  Filter filter;
  std::string label;  ///< beside the colour bar
  std::optional<double> min;
  std::optional<double> max;
  bool log = false;
  std::vector<double> contours;    ///< levels at which lines are drawn
  int contour_count = 0;           ///< about how many at round levels, when no levels are given
  std::vector<std::string> words;  ///< their order and colours; empty means as they come
  Place place;
};

/// Thin vertical lines where column x of a run is, with a word above each.
struct Guide {
  std::string run;
  std::string x;
  Filter filter;
  std::string label;
  Place place;
};

/// A thin dotted line at a fixed number: vertical at x or horizontal at y.
struct FixedLine {
  std::optional<double> x;
  std::optional<double> y;
  std::string label;
};

/// Numbers of somebody else, drawn as hollow marks when the user has the file.
struct Overlay {
  std::string file;  ///< a CSV file in the folder given with --overlay
  std::string x;
  std::string y;
  std::string error;  ///< the column with the error of y; may be empty
  Look look;
  Place place;
  double x_times = 1.0;  ///< a number that x is multiplied by
};

struct PlotAxis {
  std::string label;
  std::optional<double> min;
  std::optional<double> max;
  bool log = false;
};

struct Panel {
  std::optional<Map> map;  ///< kind = "map"; series are drawn over it
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::string key = "below";  ///< under the panel, in a corner ("top left"), or "none"
  std::vector<Series> series;
  std::vector<Guide> guides;
  std::vector<FixedLine> lines;
  std::vector<Overlay> overlays;
};

struct FigureSpec {
  std::string id;  ///< the name of its file without .toml
  std::string title;
  std::string caption;
  std::vector<FigureRun> runs;
  std::vector<Panel> panels;
};

/// Reads a figure from TOML text; `file` names it in messages and gives the id. Throws
/// InvalidArgument with file, line and column for anything wrong, and the nearest valid word.
[[nodiscard]] FigureSpec parse_figure(std::string_view text, const std::filesystem::path& file);
/// The same from a file; throws IoError when it cannot be read.
[[nodiscard]] FigureSpec read_figure(const std::filesystem::path& file);

/// Removes the published variants from a figure, and what is drawn of them.
void drop_published(FigureSpec& spec);

}  // namespace onset::report
