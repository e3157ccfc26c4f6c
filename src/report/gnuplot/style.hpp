#pragma once

#include <array>
#include <string_view>

/// The common style of all figures.
namespace onset::report::style {

// Sizes are in pixels of the SVG. A panel is printed as wide as one column of a journal, so that
// the font of 15 pixels is 7.6 points on paper.
inline constexpr int panel_width = 480;
inline constexpr int panel_height = 380;  ///< without title and key
inline constexpr int font_size = 15;
// The sizes of tics, words at guide lines and words on contours, as parts of the font size.
inline constexpr double tic_scale = 0.9;
inline constexpr double guide_scale = 0.78;
inline constexpr double contour_scale = 0.65;
inline constexpr double column_inches = 3.4;
// Points of DejaVu for a pixel of Helvetica: 0.75 points are a pixel, and DejaVu looks larger.
inline constexpr double dejavu_points = 0.7;
inline constexpr int png_scale = 2;

// Room around each panel for tics and labels, in pixels.
inline constexpr int left_margin = 78;
inline constexpr int right_margin = 18;
inline constexpr int top_margin = 20;
inline constexpr int title_height = 32;  ///< extra room at the top for titles and guide lines
inline constexpr int bottom_margin = 74;
inline constexpr int key_row = 26;  ///< one row of a key below a panel
inline constexpr int key_gap = 4;
// The colour bar of a map lies at the right.
inline constexpr int bar_gap = 14;
inline constexpr int bar_width = 12;
inline constexpr int bar_margin = 116;

inline constexpr std::string_view axis_colour = "#8a8a8a";
inline constexpr std::string_view text_colour = "#222222";
inline constexpr std::string_view soft_text_colour = "#666666";
inline constexpr std::string_view guide_colour = "#a0a0a0";
inline constexpr std::string_view map_guide_colour = "#f2f2f2";
inline constexpr double band_opacity = 0.25;

/// The colours of Okabe and Ito, in the order of Colour.
inline constexpr std::array<std::string_view, 8> colours{
    "#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777"};

/// The colours of areas in a map of words: Paul Tol's light scheme, made for that.
inline constexpr std::array<std::string_view, 9> areas{"#77AADD", "#EE8866", "#EEDD88",
                                                       "#FFAABB", "#99DDFF", "#44BB99",
                                                       "#BBCC33", "#AAAA00", "#DDDDDD"};

/// Viridis, which grows evenly in lightness for any kind of colour vision and in print.
inline constexpr std::array<std::string_view, 9> shades{"#440154", "#472d7b", "#3b528b",
                                                        "#2c728e", "#21918c", "#28ae80",
                                                        "#5ec962", "#addc30", "#fde725"};

}  // namespace onset::report::style
