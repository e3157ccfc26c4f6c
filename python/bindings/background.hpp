#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <optional>

#include "onset/core/context.hpp"

/// Work that Python waits for.
namespace onset::python {

/// How to run, never what: the number of threads, a limit of time, and whom to tell how far it is.
struct How {
  std::optional<int> threads;
  std::optional<double> max_seconds;
  pybind11::object progress;  ///< None, or a function of the fraction done and what is being done

  /// Throws InvalidArgument naming the wrong one.
  void check() const;
  [[nodiscard]] int thread_count() const { return threads.value_or(available_threads()); }
};

/// Does the work in a thread of its own, so that this one sees Ctrl-C and the time limit, and tells
/// `progress`. Returns whether the time limit ended it. Throws what the work throws; Ctrl-C and
/// errors of `progress` stop it and are then raised here.
bool in_background(const How& how, const std::function<void(const Context&)>& work);

}  // namespace onset::python
