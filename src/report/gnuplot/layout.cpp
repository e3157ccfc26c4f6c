#include <fmt/format.h>

#include <algorithm>

#include "report/gnuplot/parts.hpp"
#include "report/gnuplot/plot_text.hpp"
#include "report/gnuplot/style.hpp"

namespace onset::report {
namespace {

constexpr int panels_side_by_side = 3;

std::vector<std::string> key_labels(const DrawnPanel& panel) {
  std::vector<std::string> out;
  if (panel.shades) out = panel.shades->words;
  for (const Curve& curve : panel.curves) {
    if (!curve.points.empty() && !curve.look.label.empty()) out.push_back(curve.look.label);
  }
  return out;
}

/// The number of columns of a key below a panel: as many as the longest label leaves room for, by
/// gnuplot's own estimate of the width of letters.
int key_columns(const std::vector<std::string>& labels) {
  constexpr int sample = 56;    // pixels of the sample and the gaps
  constexpr int character = 9;  // pixels of a letter
  constexpr int room = style::panel_width - style::left_margin + style::right_margin;
  int longest = 1;
  for (const std::string& label : labels) {
    longest = std::max(longest, static_cast<int>(seen_length(label)));
  }
  return std::clamp(room / (sample + character * longest), 1, 4);
}

/// The number of rows of the key.
int key_rows(const std::vector<std::string>& labels) {
  const int columns = key_columns(labels);
  return (static_cast<int>(labels.size()) + columns - 1) / columns;
}

int key_height(const DrawnPanel& panel) {
  const std::vector<std::string> labels = key_labels(panel);
  if (panel.key != "below" || labels.empty()) return 0;
  return key_rows(labels) * style::key_row + style::key_gap;
}

/// Whether something stands above the panel.
bool has_head(const DrawnPanel& panel) {
  return !panel.title.empty() || !panel.guides.empty();
}

bool has_colour_bar(const DrawnPanel& panel) {
  return panel.shades && panel.shades->words.empty();
}

}  // namespace

Layout::Layout(const Drawing& drawing) : drawing_(&drawing) {
  const int panels = static_cast<int>(drawing.panels.size());
  // Four panels make a square.
  columns_ = panels == 4 ? 2 : std::clamp(panels, 1, panels_side_by_side);
  rows_ = std::max(1, (panels + columns_ - 1) / columns_);
  for (const DrawnPanel& panel : drawing.panels) {
    if (has_head(panel)) title_height_ = style::title_height;
    key_height_ = std::max(key_height_, key_height(panel));
  }
}

int Layout::width() const {
  return columns_ * style::panel_width;
}

int Layout::height() const {
  return rows_ * row_height();
}

int Layout::row_height() const {
  return style::panel_height + title_height_ + key_height_;
}

Box Layout::plot_area(std::size_t panel) const {
  const int column = static_cast<int>(panel) % columns_;
  const int row = static_cast<int>(panel) / columns_;
  const int right =
      has_colour_bar(drawing_->panels[panel]) ? style::bar_margin : style::right_margin;
  const double left_edge = column * style::panel_width;
  const double top_edge = height() - row * row_height();
  const double bottom_edge = top_edge - row_height();
  return {(left_edge + style::left_margin) / width(),
          (left_edge + style::panel_width - right) / width(),
          (bottom_edge + style::bottom_margin + key_height_) / height(),
          (top_edge - style::top_margin - title_height_) / height()};
}

Box Layout::colour_bar(std::size_t panel) const {
  Box bar = plot_area(panel);
  bar.left = bar.right + static_cast<double>(style::bar_gap) / width();
  bar.right = bar.left + static_cast<double>(style::bar_width) / width();
  return bar;
}

std::string Layout::key_commands(std::size_t panel) const {
  const DrawnPanel& drawn = drawing_->panels[panel];
  const std::vector<std::string> labels = key_labels(drawn);
  if (drawn.key == "none" || labels.empty()) return "unset key\n";
  if (drawn.key != "below")
    return fmt::format("set key on inside vertical maxrows auto {}\n", drawn.key);
  const Box area = plot_area(panel);
  const double top =
      area.bottom - static_cast<double>(style::bottom_margin - style::key_gap) / height();
  return fmt::format("set key on at screen {:.5f},screen {:.5f} center top vertical maxrows {}\n",
                     0.5 * (area.left + area.right), top, key_rows(labels));
}

}  // namespace onset::report
