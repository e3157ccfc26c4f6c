#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "onset/study/study.hpp"

namespace onset::tool {

/// The longest time limit of a job, a year: more than schedulers grant.
inline constexpr double most_hours = 24.0 * 365.0;

/// What `onset submit slurm` was asked for.
struct Submission {
  std::filesystem::path program;  ///< this one
  std::filesystem::path start;    ///< the folder that jobs start in: the present one
  std::filesystem::path study;
  std::filesystem::path store;
  std::filesystem::path folder;  ///< for scripts, shards and logs
  std::size_t jobs = 1;
  int threads = 1;     ///< of every job
  double hours = 0.0;  ///< for every job; 0 means three times what the plan estimates
};

struct Script {
  std::string name;
  std::string text;
};

/// The array job, the merge that follows it, and the script that submits both: plain text, to be
/// read and changed.
[[nodiscard]] std::vector<Script> slurm_scripts(const study::Plan& plan, const Submission& wanted);

}  // namespace onset::tool
