#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "onset/smi/model/sequence_model.hpp"
#include "values.hpp"

namespace onset::python {

/// A link whose functions are written in Python. They are asked for batches of samples, as arrays
/// with one row per field or number of a label, from any thread that takes Python's lock.
class OwnLink {
 public:
  smi::FieldShape shape;
  int label_size = 1;
  int noise_size = 0;
  double constraints = 0.0;
  double posterior_seconds = 0.0;
  py::function label;      ///< label(fields, noise)
  py::function posterior;  ///< posterior(label, omega, variance): log Z, means, second moments

  /// Raises in Python what one of its functions raised, if one did.
  void rethrow();

  void ask_labels(std::size_t count, std::span<const double> fields, std::span<const double> noise,
                  std::span<double> out);
  void ask_posterior(const smi::PosteriorQuery& query, smi::PosteriorMoments::Half& out);

 private:
  /// Calls with Python's lock held; what is raised is kept for rethrow(), and the run ends.
  template <class Body>
  void guarded(const Body& body);

  std::mutex mutex_;
  std::optional<py::error_already_set> error_;
};

[[nodiscard]] std::unique_ptr<smi::SequenceModel> own_link_model(std::shared_ptr<OwnLink> link);

/// Adds the class, and the check of such a link, to the module.
void add_own_link(py::module_& module);

}  // namespace onset::python
