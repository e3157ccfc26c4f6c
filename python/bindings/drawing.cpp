#include <pybind11/stl.h>

#include "answer.hpp"
#include "report/gnuplot/look_colour.hpp"
#include "report/gnuplot/style.hpp"

namespace onset::python {
namespace {

using namespace report;

const char* word(LineStyle style) {
  switch (style) {
    case LineStyle::line: return "line";
    case LineStyle::dashed: return "dashed";
    case LineStyle::points: return "points";
    case LineStyle::joined: return "joined";
  }
  return "line";
}

const char* word(Mark mark) {
  switch (mark) {
    case Mark::circle: return "circle";
    case Mark::square: return "square";
    case Mark::triangle: return "triangle";
    case Mark::diamond: return "diamond";
  }
  return "circle";
}

py::dict to_python(const PlotAxis& axis) {
  py::dict out;
  out["label"] = axis.label;
  out["min"] = axis.min;
  out["max"] = axis.max;
  out["log"] = axis.log;
  return out;
}

py::dict to_python(const Curve& curve) {
  std::vector<double> x, y, error;
  for (const Point& point : curve.points) {
    x.push_back(point.x);
    y.push_back(point.y);
    error.push_back(point.error);
  }
  py::dict out;
  out["x"] = x;
  out["y"] = y;
  out["error"] = error;
  out["label"] = curve.look.label;
  out["style"] = word(curve.look.style);
  out["mark"] = word(curve.look.mark);
  out["colour"] = look_colour(curve.look);
  out["hollow"] = curve.hollow;
  return out;
}

py::dict to_python(const Shades& shades) {
  py::dict out;
  out["x"] = shades.x;
  out["y"] = shades.y;
  out["z"] = shades.z;
  out["words"] = shades.words;
  out["label"] = shades.label;
  out["min"] = shades.min;
  out["max"] = shades.max;
  out["log"] = shades.log;
  out["contours"] = shades.contours;
  out["contour_count"] = shades.contour_count;
  return out;
}

py::dict to_python(const DrawnPanel& panel) {
  py::list curves;
  for (const Curve& curve : panel.curves) curves.append(to_python(curve));
  py::list guides;
  for (const GuideLine& guide : panel.guides) {
    guides.append(py::make_tuple(guide.horizontal, guide.at, guide.label));
  }
  py::dict out;
  out["title"] = panel.title;
  out["x"] = to_python(panel.x);
  out["y"] = to_python(panel.y);
  out["key"] = panel.key;
  out["curves"] = curves;
  out["guides"] = guides;
  out["shades"] = panel.shades ? py::object(to_python(*panel.shades)) : py::none();
  return out;
}

}  // namespace

py::dict to_python(const Drawing& drawing) {
  py::list panels;
  for (const DrawnPanel& panel : drawing.panels) panels.append(to_python(panel));
  py::dict out;
  out["panels"] = panels;
  out["notes"] = drawing.notes;
  out["areas"] = std::vector<std::string>(style::areas.begin(), style::areas.end());
  out["shades"] = std::vector<std::string>(style::shades.begin(), style::shades.end());
  out["guide_colour"] = std::string(style::guide_colour);
  out["axis_colour"] = std::string(style::axis_colour);
  out["text_colour"] = std::string(style::text_colour);
  out["band_opacity"] = style::band_opacity;
  return out;
}

}  // namespace onset::python
