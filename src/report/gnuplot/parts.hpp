#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/figure/drawing.hpp"

/// The parts of a gnuplot script.
namespace onset::report {

/// The data of a curve as a named block, and what `plot` draws of it: nothing where no point has a
/// place in the panel. Lines are broken at points without one, such as 0 on a logarithmic axis.
[[nodiscard]] std::string curve_data(const std::string& name, const Curve& curve,
                                     const DrawnPanel& panel);
void add_curve(std::vector<std::string>& parts, const std::string& name, const Curve& curve,
               const DrawnPanel& panel);

/// The same for a map. Its contour lines are computed along with the data.
[[nodiscard]] std::string map_data(const std::string& name, const DrawnPanel& panel);
void add_map(std::vector<std::string>& parts, const std::string& name, const Shades& shades);
/// The palette and the colour bar, or neither. The bar lies from `left` to `right`, `bottom` to
/// `top`, fractions of the picture.
struct Box {
  double left = 0.0;
  double right = 1.0;
  double bottom = 0.0;
  double top = 1.0;
};
[[nodiscard]] std::string map_commands(const Shades& shades, const Box& bar);

/// Range, label and tics of one axis, named 'x' or 'y'. A map fills its panel.
[[nodiscard]] std::string axis_commands(char name, const DrawnPanel& panel);

/// Tics of an axis or a colour bar ("x", "y", "cb"). Logarithmic ones are powers of ten and, where
/// there are too few of those between the ends, twice and five times them as well.
[[nodiscard]] std::string linear_tics(std::string_view name);
[[nodiscard]] std::string log_tics(std::string_view name, double low, double high);

/// Where the areas around ascending values begin and end: halfway to their neighbours, on a
/// logarithmic axis in the logarithm.
[[nodiscard]] std::vector<double> cell_edges(const std::vector<double>& values, bool log);

/// Where the panels of a drawing lie.
class Layout {
 public:
  explicit Layout(const Drawing& drawing);

  [[nodiscard]] int width() const;   ///< pixels
  [[nodiscard]] int height() const;  ///< pixels
  [[nodiscard]] Box plot_area(std::size_t panel) const;
  [[nodiscard]] Box colour_bar(std::size_t panel) const;
  [[nodiscard]] std::string key_commands(std::size_t panel) const;

 private:
  [[nodiscard]] int row_height() const;

  const Drawing* drawing_;
  int columns_ = 1;
  int rows_ = 1;
  // These are the same for all panels, so that their axes align.
  int title_height_ = 0;
  int key_height_ = 0;
};

}  // namespace onset::report
