#pragma once

#include <filesystem>
#include <optional>

#include "onset/study/sweep.hpp"
#include "tool/options/arguments.hpp"
#include "tool/options/common_options.hpp"

namespace onset::tool {

/// What `onset sweep` was asked to do.
struct SweepRequest {
  std::filesystem::path study;
  std::filesystem::path store;
  study::SweepOptions sweep;
  bool dry_run = false;
  bool list = false;
  bool status = false;
  bool threads_given = false;  ///< otherwise CommonOptions::threads is what this machine offers
  std::optional<double> max_hours;
  std::optional<double> max_point_seconds;
  CommonOptions common;
};

/// Throws InvalidArgument.
[[nodiscard]] SweepRequest read_sweep_request(Arguments arguments);

}  // namespace onset::tool
