#include "tool/submit/slurm_scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "onset/study/sweep.hpp"
#include "report/point_text.hpp"

namespace onset::tool {

using report::file_word;

namespace {

/// Estimates are good to a factor of three.
constexpr double safety = 3.0;
constexpr double shortest_hours = 0.25;
/// Part of a job's time that its sweep may use; the rest is for starting and for filing.
constexpr double sweep_part = 0.95;
constexpr double hour = 3600.0;  // seconds
constexpr double mebibyte = 1024.0 * 1024.0;
/// For the program itself, beside what its points need.
constexpr double own_mebibytes = 512.0;

/// What the job with the most work is estimated to take, as a multiple of a quarter of an hour.
double hours_needed(const study::Plan& plan, const Submission& wanted) {
  double most = 0.0;
  for (const std::vector<std::size_t>& share : study::job_shares(plan, wanted.jobs)) {
    double work = 0.0;
    for (const std::size_t i : share) work += plan.points[i].core_seconds;
    most = std::max(most, work);
  }
  const double hours = safety * most / wanted.threads / hour;
  return std::clamp(std::ceil(hours / shortest_hours) * shortest_hours, shortest_hours, most_hours);
}

double mebibytes_needed(const study::Plan& plan, int threads) {
  double most = 0.0;
  for (const study::Point& point : plan.points) most = std::max(most, point.memory_bytes);
  return std::ceil(own_mebibytes + threads * most / mebibyte);
}

/// Slurm's own notation, in whole minutes.
std::string time_limit(double hours) {
  const auto minutes = static_cast<long>(std::ceil(60.0 * hours));
  return fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

/// A name that needs no quotes where a comment line is read by another program.
std::string plain_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

/// Where a script begins: the options of the job, then the names that its commands use.
std::string head(const Submission& wanted, const std::string& options) {
  return fmt::format("#!/bin/bash\n{}\nset -eu\ncd {}\nfolder={}\n", options,
                     file_word(wanted.start.string()), file_word(wanted.folder.string()));
}

std::string names(const Submission& wanted) {
  return fmt::format("onset={}\nstudy={}\nstore={}\n", file_word(wanted.program.string()),
                     file_word(wanted.study.string()), file_word(wanted.store.string()));
}

}  // namespace

std::vector<Script> slurm_scripts(const study::Plan& plan, const Submission& wanted) {
  const double hours = wanted.hours > 0.0 ? wanted.hours : hours_needed(plan, wanted);
  const std::string name = plain_name(plan.study.name);
  const std::string array = fmt::format(
      "#SBATCH --job-name={}\n#SBATCH --array=1-{}\n#SBATCH --cpus-per-task={}\n#SBATCH "
      "--time={}\n#SBATCH --mem={:.0f}M\n",
      name, wanted.jobs, wanted.threads, time_limit(hours), mebibytes_needed(plan, wanted.threads));
  const std::string after =
      fmt::format("#SBATCH --job-name={}-merge\n#SBATCH --time=00:30:00\n", name);
  const std::string points = head(wanted, array) + names(wanted) +
                             fmt::format(R"(jobs={}

# One job of the array: its share of the points, in a store of its own. A job that ran out of time
# goes on where it stopped when it is submitted again.
"$onset" sweep "$study" --store "$folder/shard-$SLURM_ARRAY_TASK_ID.db" \
  --shard "$SLURM_ARRAY_TASK_ID/$jobs" --threads "${{SLURM_CPUS_PER_TASK:-{}}}" --max-hours {:.4g} --quiet
)",
                                         wanted.jobs, wanted.threads, sweep_part * hours);
  const std::string merge = head(wanted, after) + names(wanted) + R"(
# When all jobs have ended, however they did: one store, a page with everything, and where it stands.
"$onset" merge "$store" "$folder"/shard-*.db
"$onset" report "$store" --out "${store%.db}.html"
"$onset" sweep "$study" --store "$store" --status
)";
  const std::string submit =
      head(
          wanted,
          R"(# Submits the array, and the merge that waits for it. Run it again to go on: what is finished is not
# computed again.)") +
      R"(logs=${folder//[%]/%%}  # sbatch reads a % in the names of logs as the beginning of a pattern

job=$(sbatch --parsable --output="$logs/%A_%a.log" "$folder/points.sbatch")
sbatch --parsable --dependency="afterany:${job%%;*}" --output="$logs/merge_%j.log" "$folder/merge.sbatch"
)";
  return {{"points.sbatch", points}, {"merge.sbatch", merge}, {"submit.sh", submit}};
}

}  // namespace onset::tool
