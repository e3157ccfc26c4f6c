#include "figures.hpp"

#include <pybind11/stl.h>

#include <filesystem>
#include <optional>

#include "answer.hpp"
#include "background.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/catalog.hpp"
#include "report/drawing_failed.hpp"
#include "report/figure.hpp"

namespace onset::python {
namespace {

namespace fs = std::filesystem;

/// A figure that has been computed.
class Figure {
 public:
  Figure(report::FigureSpec spec, report::FigureOptions options)
      : spec_(std::move(spec)), options_(options) {}

  void compute(const std::string& store_path, const How& how) {
    report::check_figure(spec_, catalog(), options_);
    report::prepare_figure_folder(spec_, fs::path(store_path).parent_path());
    in_background(how, [&](const Context& context) {
      study::Store store(store_path, study::Store::Mode::write, context.stop);
      data_ = report::compute_figure(spec_, catalog(), options_, store, context);
    });
  }

  [[nodiscard]] const report::FigureSpec& spec() const { return spec_; }
  [[nodiscard]] std::string status() const { return std::string(to_string(data_.status())); }
  [[nodiscard]] std::string reason() const { return data_.reason(); }
  [[nodiscard]] py::dict drawing() const {
    return to_python(report::make_drawing(spec_, data_, {}));
  }

  /// The rows of every run, by its name.
  [[nodiscard]] py::dict data() const {
    py::dict out;
    for (std::size_t i = 0; i < data_.runs.size(); ++i) {
      Answer answer;
      answer.record.command = spec_.runs[i].study.command;
      answer.record.result.table = data_.runs[i].table;
      out[py::cast(data_.runs[i].id)] = answer;
    }
    return out;
  }

  /// Writes data and pictures; returns why there are no pictures, or an empty text.
  [[nodiscard]] std::string save(const std::string& folder) const {
    const py::gil_scoped_release release;
    report::DrawOptions draw;
    draw.computed = options_;
    draw.folder = folder;
    draw.simd = numerics::simd::level();
    try {
      (void)report::write_figure(spec_, data_, draw);
    } catch (const report::DrawingFailed& error) {
      return error.what();
    }
    return {};
  }

 private:
  report::FigureSpec spec_;
  report::FigureOptions options_;
  report::FigureData data_;
};

report::FigureSpec find(const std::string& name, const std::string& folder) {
  return report::read_figure(report::find_figure(name, {fs::path(folder)}));
}

py::dict list(const std::string& folder) {
  py::dict out;
  for (const fs::path& file : report::list_figures({fs::path(folder)})) {
    const report::FigureSpec spec = report::read_figure(file);
    out[py::cast(spec.id)] = spec.title;
  }
  return out;
}

}  // namespace

void add_figures(py::module_& module) {
  module.def("figures", &list);
  py::class_<Figure>(module, "Figure")
      .def(py::init([](const std::string& name, const std::string& folder, bool quick, bool full,
                       bool as_published, std::int64_t seed) {
        report::FigureSpec spec = find(name, folder);
        if (!as_published) report::drop_published(spec);
        return Figure(std::move(spec), {quick, full, seed, false});
      }))
      .def("compute",
           [](Figure& figure, const std::string& store, std::optional<int> threads,
              std::optional<double> max_seconds, const py::object& progress) {
             figure.compute(store, {threads, max_seconds, progress});
           })
      .def_property_readonly("id", [](const Figure& figure) { return figure.spec().id; })
      .def_property_readonly("title", [](const Figure& figure) { return figure.spec().title; })
      .def_property_readonly("caption", [](const Figure& figure) { return figure.spec().caption; })
      .def_property_readonly("status", &Figure::status)
      .def_property_readonly("reason", &Figure::reason)
      .def("store_name", [](const Figure& figure) { return report::store_name(figure.spec()); })
      .def("drawing", &Figure::drawing)
      .def("data", &Figure::data)
      .def("save", &Figure::save);
}

}  // namespace onset::python
