#include "own_link.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "background.hpp"
#include "onset/core/error.hpp"
#include "onset/testing/check_model.hpp"

namespace onset::python {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// A copy of rows that run over samples fastest. Python may keep it.
Array rows_of(std::span<const double> values, std::size_t count) {
  return Array({values.size() / count, count}, values.data());
}

void copy_rows(const py::handle& from, const char* what, std::size_t count, std::span<double> to) {
  const Array array = Array::ensure(from);
  if (!array) {
    PyErr_Clear();
    throw InvalidArgument("link", std::string(what) + " is not an array of numbers");
  }
  if (static_cast<std::size_t>(array.size()) != to.size()) {
    throw InvalidArgument("link", fmt::format("{} has {} numbers; allowed: {} rows of {} samples",
                                              what, array.size(), to.size() / count, count));
  }
  std::copy_n(array.data(), to.size(), to.begin());
}

class OwnPosterior final : public smi::Posterior {
 public:
  explicit OwnPosterior(std::shared_ptr<OwnLink> link) : link_(std::move(link)) {}
  void moments(const smi::PosteriorQuery& query, smi::PosteriorMoments& out) const override {
    link_->ask_posterior(query, out.half[0]);
    out.half[1] = out.half[0];
  }
  [[nodiscard]] bool exact() const override { return true; }

 private:
  std::shared_ptr<OwnLink> link_;
};

class OwnLinkModel final : public smi::SequenceModel {
 public:
  explicit OwnLinkModel(std::shared_ptr<OwnLink> link) : link_(std::move(link)) {}

  [[nodiscard]] const smi::FieldShape& shape() const override { return link_->shape; }
  [[nodiscard]] int label_size() const override { return link_->label_size; }
  [[nodiscard]] int noise_size() const override { return link_->noise_size; }
  [[nodiscard]] double constraints() const override { return link_->constraints; }
  void label(std::span<const double> fields, std::span<const double> noise,
             std::span<double> label) const override {
    link_->ask_labels(1, fields, noise, label);
  }
  void labels(std::size_t count, std::span<const double> fields, std::span<const double> noise,
              std::span<double> labels) const override {
    link_->ask_labels(count, fields, noise, labels);
  }
  [[nodiscard]] int prediction_size() const override { return link_->label_size; }
  void prediction(std::span<const double> fields, std::span<double> out) const override {
    predictions(1, fields, out);
  }
  void predictions(std::size_t count, std::span<const double> fields,
                   std::span<double> out) const override {
    const std::vector<double> silent(static_cast<std::size_t>(link_->noise_size) * count, 0.0);
    link_->ask_labels(count, fields, silent, out);
  }
  [[nodiscard]] std::unique_ptr<smi::Posterior> posterior(
      const smi::PosteriorOptions& /*options*/) const override {
    return std::make_unique<OwnPosterior>(link_);
  }
  [[nodiscard]] double posterior_seconds(double /*nodes*/) const override {
    return link_->posterior_seconds;
  }

 private:
  std::shared_ptr<OwnLink> link_;
};

py::dict check(const std::shared_ptr<OwnLink>& link, std::size_t points) {
  testing::ModelReport report;
  testing::ModelCheckOptions options;
  options.points = points;
  try {
    in_background({1, std::nullopt, py::none()}, [&](const Context& context) {
      report = testing::check_model(*own_link_model(link), options, context);
    });
  } catch (...) {
    link->rethrow();
    throw;
  }
  py::list blocks;
  for (const testing::BlockReport& block : report.blocks) {
    blocks.append(py::make_tuple(py::make_tuple(block.gain.value, block.gain.error),
                                 py::make_tuple(block.growth.value, block.growth.error)));
  }
  py::dict out;
  out["findings"] = report.findings;
  out["blocks"] = blocks;
  return out;
}

}  // namespace

template <class Body>
void OwnLink::guarded(const Body& body) {
  const py::gil_scoped_acquire lock;
  try {
    body();
  } catch (py::error_already_set& error) {
    const std::lock_guard guard(mutex_);
    if (!error_) error_.emplace(error);
    throw std::runtime_error("a function of the link failed");
  }
}

void OwnLink::rethrow() {
  if (!error_) return;
  py::error_already_set error = std::move(*error_);
  error_.reset();
  error.restore();
  throw py::error_already_set();
}

void OwnLink::ask_labels(std::size_t count, std::span<const double> fields,
                         std::span<const double> noise, std::span<double> out) {
  guarded([&] {
    copy_rows(label(rows_of(fields, count), rows_of(noise, count)), "the label", count, out);
  });
}

void OwnLink::ask_posterior(const smi::PosteriorQuery& query, smi::PosteriorMoments::Half& out) {
  guarded([&] {
    const py::object answer =
        posterior(rows_of(query.label, query.count), rows_of(query.omega, query.count),
                  Array(query.variance.size(), query.variance.data()));
    if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 3) {
      throw InvalidArgument("link",
                            "the posterior must return three arrays: log Z, the means and the "
                            "second moments of zeta = (z - omega)/sqrt(V)");
    }
    const auto parts = answer.cast<py::tuple>();
    copy_rows(parts[0], "log Z", query.count, out.log_z);
    copy_rows(parts[1], "the array of means", query.count, out.mean);
    copy_rows(parts[2], "the array of second moments", query.count, out.second);
  });
}

std::unique_ptr<smi::SequenceModel> own_link_model(std::shared_ptr<OwnLink> link) {
  return std::make_unique<OwnLinkModel>(std::move(link));
}

void add_own_link(py::module_& module) {
  py::class_<OwnLink, std::shared_ptr<OwnLink>>(module, "OwnLink")
      .def(py::init([](int tokens, std::vector<int> ranks, int label_size, int noise_size,
                       double constraints, double seconds,
                       std::pair<py::function, py::function> functions) {
        auto link = std::make_shared<OwnLink>();
        link->shape = {tokens, std::move(ranks)};
        link->label_size = label_size;
        link->noise_size = noise_size;
        link->constraints = constraints;
        link->posterior_seconds = seconds;
        link->label = std::move(functions.first);
        link->posterior = std::move(functions.second);
        return link;
      }))
      .def("check", &check);
}

}  // namespace onset::python
